// `weir test --unit`
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "ops/workspace.h"

namespace weir::cli {

/// Runs and shows the unit tests of the selected models. Exit::Failed unless all of them pass.
Exit run_unit_tests(ops::Workspace& workspace, const std::vector<std::string>& select, const Args& args,
                    Streams& streams);

}  // namespace weir::cli
