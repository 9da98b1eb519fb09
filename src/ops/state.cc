#include "ops/state.h"

namespace weir::ops {

Result<run::Rebuilt> rebuild_state(Workspace& workspace, run::Listener& listener, const std::atomic<bool>& stop) {
  WEIR_TRY(const Project* project, workspace.project());
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(true));
  WEIR_TRY(state::Store * store, workspace.store());
  return run::rebuild(*project, *lakes, *store, listener, stop);
}

}  // namespace weir::ops
