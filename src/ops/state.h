// `weir state rebuild`
#pragma once

#include <atomic>

#include "ops/workspace.h"
#include "run/recovery.h"

namespace weir::ops {

/// Makes the ledger anew from the lakes' commit records, and says what only the state knew.
Result<run::Rebuilt> rebuild_state(Workspace& workspace, run::Listener& listener, const std::atomic<bool>& stop);

}  // namespace weir::ops
