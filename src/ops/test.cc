#include "ops/test.h"

#include "ops/selection.h"

namespace weir::ops {

Result<std::vector<run::TestedTable>> test(Workspace& workspace, const std::vector<std::string>& selectors,
                                           const std::vector<std::string>& exclude,
                                           const std::optional<std::string>& partition) {
  WEIR_TRY(const Graph* graph, workspace.graph());
  WEIR_TRY(const Project* project, workspace.project());
  Diagnostics warnings;
  WEIR_TRY(const std::set<std::string> selected, select(*graph, selection_of(workspace, selectors, exclude), warnings));
  WEIR_TRY(const env::Placed* placed, workspace.placed());
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(false));
  WEIR_TRY(state::Store * store, workspace.store());
  return run::test_tables(*project, *placed, selected, *lakes, *store, partition);
}

}  // namespace weir::ops
