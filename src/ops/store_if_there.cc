#include "ops/store_if_there.h"

#include "io/files.h"

namespace weir::ops {

Result<state::Store*> store_if_there(Workspace& workspace) {
  WEIR_TRY(const Config* config, workspace.config());
  if (config->state.kind != DatabaseLocation::Kind::Postgres && !io::exists(config->state.target)) return nullptr;
  return workspace.store();
}

}  // namespace weir::ops
