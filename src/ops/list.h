// What the project holds.
#pragma once

#include <string>
#include <vector>

#include "ops/workspace.h"

namespace weir::ops {

/// weir's own version, for example "0.1.0".
std::string version();

/// The selected models in the graph's order, the broken ones too. Errors: an unknown selector.
Result<std::vector<const Model*>> list(Workspace& workspace, const std::vector<std::string>& select,
                                       const std::vector<std::string>& exclude);

}  // namespace weir::ops
