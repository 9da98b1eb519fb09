#include "ops/apply.h"

#include <algorithm>

#include "env/placement.h"
#include "ops/changes.h"
#include "ops/saved_plan.h"
#include "ops/selection.h"
#include "plan/fingerprint.h"

namespace weir::ops {
namespace {

bool builds_whole(const Model& model) {
  return model.plane != Plane::Manual && model.plane != Plane::Ephemeral && !model.partitioning;
}

struct Work {
  std::set<std::string> models;
  std::set<std::string> reused;
};

/// What the environment lacks: changed models, and owned ones that it does not show by their definition, whatever a run
/// that failed has recorded.
Result<Work> work_of(Workspace& workspace, const std::string& environment, const std::set<std::string>& selected) {
  Work work;
  WEIR_TRY(state::Store * store, workspace.store());
  WEIR_TRY(const env::Environment shown, env::look(*store, environment));
  WEIR_TRY(const EnvironmentChanges changes, changes_in(workspace, environment));
  for (const plan::ModelChange& change : changes.changes) {
    if (change.model == nullptr || change.kind == plan::ChangeKind::Unchanged) continue;
    if (!selected.contains(change.path) || !builds_whole(*change.model)) continue;
    work.models.insert(change.path);
    if (change.reuse && change.model->plane == Plane::Virtual) work.reused.insert(change.path);
  }
  WEIR_TRY(const Graph* graph, workspace.graph());
  const auto fingerprints = plan::fingerprints(*graph);
  for (const Model& model : graph->models()) {
    if (!env::is_owned(model) || !selected.contains(model.path)) continue;
    const state::ShownModel* one = shown.shown_model(model.path);
    if (one == nullptr || one->fingerprint != fingerprints.at(model.path)) work.models.insert(model.path);
  }
  return work;
}

Result<bool> has_removed(Workspace& workspace, const std::string& environment) {
  WEIR_TRY(const Graph* graph, workspace.graph());
  WEIR_TRY(state::Store * store, workspace.store());
  WEIR_TRY(const env::Environment shown, env::look(*store, environment));
  if (!shown.shown) return false;
  return std::any_of(shown.shown->models.begin(), shown.shown->models.end(), [&](const state::ShownModel& one) {
    return std::none_of(graph->models().begin(), graph->models().end(), [&](const Model& model) {
      return model.path == one.model && (env::is_owned(model) || model.plane == Plane::Ephemeral);
    });
  });
}

Result<void> take_saved(Workspace& workspace, ApplyRequest& request) {
  WEIR_TRY(const SavedPlan saved, read_plan(*request.plan_file));
  WEIR_CHECK(expect_unmoved(workspace, saved));
  request.options.environment = saved.request.environment;
  request.options.forward_only = saved.request.forward_only;
  request.select = saved.request.select;
  request.exclude = saved.request.exclude;
  return {};
}

}  // namespace

Result<ApplyOutcome> apply(Workspace& workspace, const ApplyRequest& given, run::Listener& listener,
                           std::atomic<bool>& stop) {
  ApplyRequest request = given;
  if (request.plan_file) WEIR_CHECK(take_saved(workspace, request));
  ApplyOutcome outcome;
  WEIR_TRY(const Graph* graph, workspace.graph());
  WEIR_TRY(const std::set<std::string> selected,
           select(*graph, selection_of(workspace, request.select, request.exclude), outcome.run.warnings));
  WEIR_TRY(Work work, work_of(workspace, request.options.environment, selected));
  const bool is_whole = request.select.empty() && request.exclude.empty();
  WEIR_TRY(const bool removed, has_removed(workspace, request.options.environment));
  outcome.has_changes = !work.models.empty() || (is_whole && removed);
  if (!outcome.has_changes) return outcome;
  RunRequest run_request{.options = request.options};
  run_request.models = std::move(work.models);
  run_request.reused = work.reused;
  run_request.takes_out_removed = is_whole;
  WEIR_TRY(RunOutcome ran, run(workspace, run_request, listener, stop));
  ran.warnings.insert(ran.warnings.begin(), outcome.run.warnings.begin(), outcome.run.warnings.end());
  outcome.run = std::move(ran);
  outcome.reused = std::move(work.reused);
  return outcome;
}

}  // namespace weir::ops
