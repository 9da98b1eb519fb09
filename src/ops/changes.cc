#include "ops/changes.h"

#include "parse/functions.h"
#include "plan/fingerprint.h"
#include "project/cache.h"

namespace weir::ops {

Result<EnvironmentChanges> changes_in(Workspace& workspace, const std::string& environment, bool forward_only) {
  EnvironmentChanges found;
  WEIR_TRY(const Graph* graph, workspace.graph());
  WEIR_TRY(state::Store * store, workspace.store());
  WEIR_TRY(found.deployed, store->deployed(environment));
  const plan::DeployedProject deployed{.records = &found.deployed};
  const plan::CurrentProject current{.graph = graph};
  found.changes = plan::classify(deployed, current, {}, {.forward_only = forward_only});
  return found;
}

}  // namespace weir::ops
