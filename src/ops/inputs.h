// `weir inputs`: what the steps of a run read.
#pragma once

#include "ops/workspace.h"
#include "run/read_versions.h"

namespace weir::ops {

/// In the order in which the steps began. Errors: W7007 no such run.
Result<std::vector<run::RecordedInputs>> inputs(Workspace& workspace, const std::string& run);

}  // namespace weir::ops
