#include "ops/environment_diff.h"

#include "ops/environments.h"
#include "ops/promotion.h"

namespace weir::ops {
namespace {

/// Model -> where an environment reads its rows. Each environment has views of its own, which show the same if they
/// are of one definition and read the same rows: then their names differ by the environment alone.
Result<std::map<std::string, std::string>> rows_in(Workspace& workspace) {
  WEIR_TRY(const Graph* graph, workspace.graph());
  WEIR_TRY(const EnvironmentView view, environment(workspace));
  const std::string suffix = "__" + workspace.environment();
  std::map<std::string, std::string> rows;
  for (const EnvironmentAsset& one : view.assets) {
    if (one.state == "missing") continue;
    std::string& place = rows[one.model] = one.rows;
    const bool is_view = graph->models()[graph->index_of(one.model)].plane == Plane::View;
    if (is_view && place.ends_with(suffix)) place.resize(place.size() - suffix.size());
  }
  return rows;
}

EnvironmentDiff::Side side_of(const std::string& environment, const Definitions& definitions, const std::string& path,
                              const std::map<std::string, std::string>& rows) {
  EnvironmentDiff::Side side;
  for (const state::DeployedModel& record : definitions.records) {
    if (record.model != path) continue;
    const auto deferred = definitions.deferred.find(path);
    side.environment = deferred == definitions.deferred.end() ? environment : deferred->second;
    side.fingerprint = record.fingerprint;
  }
  if (const auto found = rows.find(path); found != rows.end()) side.rows = found->second;
  return side;
}

}  // namespace

Result<EnvironmentDiff> diff_environments(const std::string& folder, const std::string& before,
                                          const std::string& after) {
  WEIR_TRY(Workspace left, Workspace::open(folder, before));
  WEIR_CHECK(take_definitions(left, before));
  WEIR_TRY(Workspace right, Workspace::open(left.root(), after));
  WEIR_CHECK(take_definitions(right, after));
  WEIR_TRY(const Definitions definitions, definitions_in(right, after));
  WEIR_TRY(const Definitions earlier, definitions_in(left, before));
  WEIR_TRY(EnvironmentChanges changes, changes_between(right, earlier, before));
  WEIR_TRY(const auto left_rows, rows_in(left));
  WEIR_TRY(const auto right_rows, rows_in(right));
  EnvironmentDiff diff{.warnings = std::move(changes.warnings)};
  for (const plan::ModelChange& change : changes.changes) {
    EnvironmentDiff::Model one{
        .path = change.path, .kind = change.kind, .category = change.category, .reason = change.reason};
    const std::string& path_before = change.deployed == nullptr ? change.path : change.deployed->model;
    one.before = side_of(before, earlier, path_before, left_rows);
    one.after = side_of(after, definitions, change.path, right_rows);
    if (one.has_other_definition() || one.has_other_rows())
      diff.models.push_back(std::move(one));
    else
      ++diff.same;
  }
  return diff;
}

}  // namespace weir::ops
