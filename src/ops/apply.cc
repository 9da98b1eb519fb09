#include "ops/apply.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/changes.h"
#include "ops/saved_plan.h"
#include "ops/selection.h"
#include "run/recovery.h"

namespace weir::ops {
namespace {

Result<void> take_saved(Workspace& workspace, ApplyRequest& request) {
  WEIR_TRY(const SavedPlan saved, read_plan(*request.plan_file));
  if (saved.request.environment != workspace.environment())
    return fail(Diagnostic{.code = Code::W5504,
                           .message = fmt::format("{} is a plan of {}, and the command is for {}", *request.plan_file,
                                                  saved.request.environment, workspace.environment()),
                           .hint = "--env " + saved.request.environment});
  WEIR_CHECK(expect_unmoved(workspace, saved));
  request.options.forward_only = saved.request.forward_only;
  request.select = saved.request.select;
  request.exclude = saved.request.exclude;
  return {};
}

/// What a run that died has published is part of what is compared; and where nothing is left to do, nobody else would
/// close it.
Result<void> close_dead_runs(Workspace& workspace, run::Listener& listener, const std::atomic<bool>& stop) {
  WEIR_TRY(const Project* project, workspace.project());
  WEIR_TRY(state::Store * store, workspace.store_if_there());
  if (store == nullptr) return {};
  WEIR_TRY(const std::vector<std::string> dead, run::dead_runs(*project, *store));
  if (dead.empty()) return {};
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(true));
  return run::recover(*project, *lakes, *store, listener, stop);
}

}  // namespace

Result<ApplyOutcome> apply(Workspace& workspace, const ApplyRequest& given, run::Listener& listener,
                           std::atomic<bool>& stop) {
  ApplyRequest request = given;
  WEIR_CHECK(close_dead_runs(workspace, listener, stop));
  if (request.plan_file) WEIR_CHECK(take_saved(workspace, request));
  ApplyOutcome outcome;
  WEIR_TRY(const Graph* graph, workspace.graph());
  WEIR_TRY(const std::set<std::string> selected,
           select(*graph, selection_of(workspace, request.select, request.exclude), outcome.run.warnings));
  WEIR_TRY(const EnvironmentChanges changes, changes_in(workspace, request.options.environment));
  WEIR_TRY(Work work, work_of(workspace, changes, selected));
  const bool is_whole = request.select.empty() && request.exclude.empty();
  const bool removed = std::any_of(changes.changes.begin(), changes.changes.end(),
                                   [](const plan::ModelChange& one) { return one.kind == plan::ChangeKind::Removed; });
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
