// `weir test`
#pragma once

#include "ops/workspace.h"
#include "run/test_tables.h"

namespace weir::ops {

/// Runs the data tests of the selected models' published tables. Errors: an invalid project, an unknown selector.
Result<std::vector<run::TestedTable>> test(Workspace& workspace, const std::vector<std::string>& select,
                                           const std::vector<std::string>& exclude,
                                           const std::optional<std::string>& partition);

}  // namespace weir::ops
