// Selectors as every command takes them.
#pragma once

#include <string>
#include <vector>

#include "graph/select.h"
#include "ops/workspace.h"

namespace weir::ops {

/// A selection whose `state:` parts ask the state store: `modified` models have another definition than the one that is
/// deployed, or none is; `failed` ones have a slice whose last write failed. Requires: the workspace outlives it.
Selection selection_of(Workspace& workspace, std::vector<std::string> select, std::vector<std::string> exclude);

}  // namespace weir::ops
