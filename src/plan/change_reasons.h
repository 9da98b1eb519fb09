// Why a model changed, in words.
#pragma once

#include <string>
#include <vector>

#include "plan/changes.h"
#include "plan/definition_diff.h"
#include "plan/effect.h"

namespace weir::plan {

/// Requires: `change` knows its kind and whether it is reused.
std::string reason_of(const ModelChange& change, const DefinitionDiff& definition, const Spread& reached);

/// "; `daily_revenue` reads it", empty without readers.
std::string readers_in_words(const std::vector<std::string>& readers, const Effect& effect);

}  // namespace weir::plan
