// `weir env promote`: the definitions that one environment has are applied to another one.
#pragma once

#include <string>

#include "ops/apply.h"

namespace weir::ops {

/// Lets the definitions of environment `from` stand for the project's files, so that planning and applying work with
/// them; data tests are those of the files. Requires: the workspace was opened for another environment, and the project
/// was not asked for yet. Errors: W5401 no such environment, W2230 it has none, W5507 the text of what it shows is not
/// known, and those of a project whose texts do not load under today's weir.yaml.
Result<void> take_definitions(Workspace& workspace, const std::string& from);

}  // namespace weir::ops
