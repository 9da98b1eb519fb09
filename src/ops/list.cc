#include "ops/list.h"

#include "ops/selection.h"

namespace weir::ops {

std::string version() { return WEIR_VERSION; }

Result<std::vector<const Model*>> list(Workspace& workspace, const std::vector<std::string>& selectors,
                                       const std::vector<std::string>& exclude) {
  WEIR_TRY(const Graph* graph, workspace.whole_graph());
  Diagnostics warnings;
  WEIR_TRY(const std::set<std::string> selected, select(*graph, selection_of(workspace, selectors, exclude), warnings));
  std::vector<const Model*> listed;
  for (const Model& model : graph->models())
    if (selected.contains(model.path)) listed.push_back(&model);
  return listed;
}

}  // namespace weir::ops
