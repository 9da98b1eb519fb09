#include "ops/selection.h"

#include <map>

#include "ops/definitions.h"
#include "plan/fingerprint.h"

namespace weir::ops {
namespace {

Result<std::set<std::string>> modified(Workspace& workspace) {
  WEIR_TRY(const Graph* graph, workspace.graph());
  WEIR_TRY(const Definitions definitions, definitions_in(workspace, workspace.environment()));
  std::map<std::string, std::string> deployed;
  for (const state::DeployedModel& model : definitions.records) deployed[model.model] = model.fingerprint;
  std::set<std::string> paths;
  for (const auto& [path, fingerprint] : plan::fingerprints(*graph))
    if (const auto known = deployed.find(path); known == deployed.end() || known->second != fingerprint)
      paths.insert(path);
  return paths;
}

Result<std::set<std::string>> failed(Workspace& workspace) {
  WEIR_TRY(state::Store * store, workspace.store_if_there());
  std::set<std::string> paths;
  if (store == nullptr) return paths;
  WEIR_TRY(const auto slices, store->slices(workspace.environment(), std::nullopt));
  for (const state::SliceRecord& slice : slices)
    if (slice.status == "failed") paths.insert(slice.model);
  return paths;
}

}  // namespace

Selection selection_of(Workspace& workspace, std::vector<std::string> select, std::vector<std::string> exclude) {
  Selection selection{.select = std::move(select), .exclude = std::move(exclude)};
  selection.in_state = [&workspace](const std::string& state) {
    return state == "modified" ? modified(workspace) : failed(workspace);
  };
  return selection;
}

}  // namespace weir::ops
