// Why a query does not bind: which of its names are wrong, all of them where possible, and whose fault each is.
#pragma once

#include "bind/known_assets.h"
#include "bind/model_binding.h"

namespace weir::bind {

/// Explains `binding.refusal` and adds what it finds to `binding.found`: contract warnings for columns that an asset
/// lacks, errors for what is wrong in the query itself. `connection` has run the setup before the refused statement.
/// Errors: the connection failed as a whole.
duck::Outcome<void> diagnose(duck::Connection& connection, ModelBinding& binding, KnownAssets& known);

/// What a column that `asset` lacks is said of: its version or where its columns are known from, and their names.
std::string columns_as_known(KnownAssets& known, const Asset& asset, const Columns& columns);

/// Reports a breach of an asset's contract, unless its producer mutes them: then once a file and asset that it did.
void report_breach(ModelBinding& binding, KnownAssets& known, const Asset& asset, Diagnostic breach);

/// Hints at the nearest of the names that are there, with the edit that puts it at `span`; or lists the first of them.
void suggest(Diagnostic& diagnostic, std::string_view name, const std::vector<std::string>& known, Span span);

std::vector<std::string> names_of(const Columns& columns);

}  // namespace weir::bind
