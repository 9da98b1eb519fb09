#include "ops/inputs.h"

namespace weir::ops {

Result<std::vector<run::RecordedInputs>> inputs(Workspace& workspace, const std::string& run) {
  WEIR_TRY(state::Store * store, workspace.store());
  return run::inputs_of_run(*store, run);
}

}  // namespace weir::ops
