#include "ops/placed.h"

#include "plan/fingerprint.h"

namespace weir::ops {

Result<env::Placed> placed_in(Workspace& workspace, const std::string& environment) {
  WEIR_TRY(const Graph* graph, workspace.graph());
  WEIR_TRY(state::Store * store, workspace.store());
  WEIR_TRY(const env::Environment shown, env::look(*store, environment));
  const auto fingerprints = plan::fingerprints(*graph);
  const std::set<std::string> nothing;
  return env::place(*graph, {.fingerprints = fingerprints, .environment = shown, .selected = nothing});
}

Result<Asset> rows_of(Workspace& workspace, const Asset& asset, const std::string& environment) {
  WEIR_TRY(state::Store * store, workspace.store());
  WEIR_TRY(const env::Environment shown, env::look(*store, environment));
  if (!shown.shown) return asset;
  const std::string view = env::view_of(asset, environment).key();
  for (const state::ShownModel& one : shown.shown->models) {
    const auto of = parse_asset(one.view);
    if (of && of->key() == view && !one.data.empty()) return *parse_asset(one.data);
  }
  return asset;
}

}  // namespace weir::ops
