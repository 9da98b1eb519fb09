// What is said of a column that an asset lacks, and the names that were probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bind/known_assets.h"
#include "bind/model_binding.h"

namespace weir::bind {

/// What a column that `asset` lacks is said of: its version or where its columns are known from, and their names.
std::string columns_as_known(KnownAssets& known, const Asset& asset, const Columns& columns);

/// Reports a breach of an asset's contract, unless its producer mutes them: then once a file and asset that it did.
void report_breach(ModelBinding& binding, KnownAssets& known, const Asset& asset, Diagnostic breach);

/// Hints at the nearest of the names that are there, with the edit that puts it at `span`; or lists the first of them.
void suggest(Diagnostic& diagnostic, std::string_view name, const std::vector<std::string>& known, Span span);

std::vector<std::string> names_of(const Columns& columns);

}  // namespace weir::bind
