// What only shows when declarations are bound to the columns of their tables: part of `weir check` and `weir deploy`.
#pragma once

#include "bind/bound.h"
#include "ops/workspace.h"

namespace weir::ops {

/// Warnings of all measures and dimensions over the columns that their models' queries give, or that were captured last
/// where these are not known. Errors: W4001 the engine cannot be started, W70xx.
Result<Diagnostics> metric_warnings(Workspace& workspace, const Project& project, const bind::Bound& bound);

}  // namespace weir::ops
