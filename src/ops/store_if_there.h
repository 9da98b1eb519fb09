// The state store for commands that must not make one.
#pragma once

#include "ops/workspace.h"

namespace weir::ops {

/// Null where there is no state yet: nothing was deployed, nothing failed. Errors: W70xx.
Result<state::Store*> store_if_there(Workspace& workspace);

}  // namespace weir::ops
