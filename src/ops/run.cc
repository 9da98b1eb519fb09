#include "ops/run.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ops/arguments.h"
#include "ops/changes.h"
#include "ops/check.h"
#include "ops/deploy.h"
#include "ops/selection.h"
#include "project/window_rows.h"
#include "run/held_up.h"

namespace weir::ops {
namespace {

/// What is reported of selected models that errors in files hold up.
Result<std::vector<run::StepReport>> held_up_steps(Workspace& workspace, const Chosen& chosen) {
  std::vector<run::StepReport> steps;
  if (chosen.blocked.empty()) return steps;
  WEIR_TRY(const Graph* whole, workspace.whole_graph());
  WEIR_TRY(const Project* project, workspace.project());
  std::set<std::string> broken;
  for (const Model& model : project->broken_models) broken.insert(model.path);
  for (const Model& model : whole->models()) {
    const auto fault = chosen.blocked.find(model.path);
    if (fault == chosen.blocked.end()) continue;
    steps.push_back(broken.contains(model.path) ? run::refused_step(model, errors_of(*project, model))
                                                : run::blocked_step(model, fault->second.by()));
    if (!steps.back().errors.empty() || !fault->second.through.empty()) continue;
    // A test script or library that it uses.
    for (const Diagnostic& found : project->diagnostics)
      if (found.severity == Severity::Error && found.path == fault->second.file) steps.back().errors.push_back(found);
  }
  return steps;
}

/// The model of a backfill builds its range, and the rest of the selection what follows.
Result<void> take_range(const Graph& graph, const std::string& path, const plan::SliceRange& range,
                        run::RunRequest& resolved) {
  const Model& model = graph.models()[graph.index_of(path)];
  if (!model.partitioning && !is_windowed(model))
    return fail(Diagnostic{.code = Code::W8023,
                           .message = fmt::format("{} is one table: it has neither partitions nor windows", path),
                           .path = model.source->path,
                           .span = model.target_span,
                           .hint = fmt::format("weir run {} builds it", path)});
  if (!range.values.empty() && is_windowed(model))
    return fail(Diagnostic{.code = Code::W8025,
                           .message = fmt::format("{} is written by windows, which have no names", path),
                           .path = model.source->path,
                           .span = model.target_span,
                           .hint = "--from A --to B"});
  resolved.ranges.emplace(path, range);
  for (const std::string& other : resolved.selected)
    if (other != path) resolved.following.insert(other);
  return {};
}

Result<run::RunRequest> resolve(Workspace& workspace, const RunRequest& request, Diagnostics& warnings,
                                std::optional<PathBetween>& path) {
  WEIR_TRY(const Project* project, workspace.project());
  for (const Diagnostic& found : project->diagnostics)
    if (found.severity == Severity::Warning) warnings.push_back(found);
  run::RunRequest resolved;
  resolved.options = request.options;
  if (resolved.options.jobs <= 0) resolved.options.jobs = project->config.jobs;
  Selection selection = selection_of(workspace, request.select, request.exclude);
  selection.from = request.from;
  selection.to = request.to;
  WEIR_TRY(selection.fed, fed_by(*project, request.uploads));
  if (request.models) {
    resolved.selected = *request.models;
  } else {
    WEIR_TRY(Chosen chosen, choose(workspace, selection, warnings));
    WEIR_CHECK(refuse_if_all_blocked(chosen, *project));
    resolved.selected = std::move(chosen.sound);
    path = std::move(chosen.path);
    WEIR_TRY(resolved.held_up, held_up_steps(workspace, chosen));
  }
  resolved.reused = request.reused;
  resolved.partition = request.partition;
  WEIR_TRY(const Graph* graph, workspace.sound_graph());
  resolved.named = models_called(*graph, request.select);
  resolved.at = request.at;
  resolved.as_of = request.as_of;
  if (request.as_of) resolved.options.force = true;
  if (request.range) {
    WEIR_TRY(const Model* model, find_model(*project, *request.ranged));
    if (resolved.selected.contains(model->path)) WEIR_CHECK(take_range(*graph, model->path, *request.range, resolved));
    resolved.one_by_one = request.options.jobs == 1;
  }
  WEIR_CHECK(run::hold_up_undecided(*graph, resolved));
  const bool is_all = request.select.empty() && request.exclude.empty() && !request.from && request.to.empty();
  // What a file with errors would make is not gone from the project.
  resolved.is_whole = request.models ? request.takes_out_removed : is_all && resolved.held_up.empty();
  WEIR_TRY(resolved.arguments, arguments_of(*project, request.arguments, request.uploads));
  return resolved;
}

/// These models, and all that they read from.
std::set<std::string> with_producers(const Graph& graph, const std::set<std::string>& models) {
  std::set<std::string> all = models;
  for (std::size_t i = graph.models().size(); i-- > 0;)
    if (all.contains(graph.models()[i].path))
      for (const std::size_t producer : graph.producers_of(i)) all.insert(graph.models()[producer].path);
  return all;
}

/// What would fail for sure: errors in the files of the models that are to be built. What a contract only warns of, and
/// faults of other models, stop nothing.
Result<std::map<std::string, Diagnostics>> judge(Workspace& workspace, const Graph& graph,
                                                 const std::set<std::string>& models, const std::atomic<bool>& stop) {
  const std::set<std::string> needed = with_producers(graph, models);
  WEIR_TRY(const BoundGraph bound, bind_project(workspace, {.lineage = false}, &stop, &needed));
  // A test script may belong to several models.
  std::multimap<std::string, std::string> files;
  for (const Model& model : graph.models()) {
    if (!models.contains(model.path)) continue;
    std::set<std::string> own{model.source->path};
    for (const TestQuery& query : model.test_queries) own.insert(query.source->path);
    for (const std::string& file : own) files.emplace(file, model.path);
  }
  std::map<std::string, Diagnostics> errors;
  for (const Diagnostic& one : bound.bound.diagnostics) {
    if (one.severity != Severity::Error) continue;
    for (auto [file, last] = files.equal_range(one.path); file != last; ++file) errors[file->second].push_back(one);
  }
  return errors;
}

struct Moves {
  /// Models whose definition the environment would have anew.
  std::set<std::string> changed;
  /// Models that it would show no more.
  std::set<std::string> gone;
};

/// What is written in place changes with each `weir run`, and is judged where changes are applied.
Moves moves_of(const run::Planned& planned, const run::RunRequest& request, bool is_applied) {
  Moves moves;
  std::set<std::string> built;
  for (const plan::Step& step : planned.plan.steps) {
    built.insert(step.model->path);
    if (is_applied && step.action == plan::Action::Build && !planned.placed.owned.contains(step.model->path))
      moves.changed.insert(step.model->path);
  }
  if (!planned.environment.shown) return moves;
  for (const state::ShownModel& one : planned.environment.shown->models) {
    const auto placement = planned.placed.owned.find(one.model);
    if (placement == planned.placed.owned.end()) {
      if (request.is_whole) moves.gone.insert(one.model);
    } else if (!placement->second.is_shown && built.contains(one.model)) {
      moves.changed.insert(one.model);
    }
  }
  return moves;
}

/// What readers of the environment see changes beyond added columns only where the user says so.
Result<void> approve(Workspace& workspace, const run::Planned& planned, const run::RunRequest& request,
                     bool is_applied) {
  const auto [changed, gone] = moves_of(planned, request, is_applied);
  const std::string& environment = request.options.environment;
  // What --as-of builds although nothing changed is no consent.
  const bool is_meant = request.options.approved || (request.options.force && !request.as_of);
  if (is_meant || (changed.empty() && gone.empty())) return {};
  Diagnostics problems;
  const char* hint = "--force says that this is meant; `weir plan` shows everything that changes";
  for (const std::string& model : gone)
    problems.push_back({.code = Code::W5405,
                        .message = fmt::format("{} is gone from the project, and {} shows it", model, environment),
                        .hint = hint});
  if (!changed.empty()) {
    WEIR_TRY(const EnvironmentChanges changes, changes_in(workspace, environment, request.options.forward_only));
    for (const plan::ModelChange& change : changes.changes) {
      const bool is_proven = change.category == plan::ChangeCategory::None ||
                             change.category == plan::ChangeCategory::Additive ||
                             change.category == plan::ChangeCategory::ForwardOnly;
      if (!changed.contains(change.path) || is_proven) continue;
      Diagnostic problem{.code = Code::W5405, .hint = hint};
      problem.message = fmt::format("{} changes what {} shows: {}", change.path, environment, change.reason);
      if (change.model != nullptr) problem.path = change.model->source->path;
      problems.push_back(std::move(problem));
    }
  }
  if (!problems.empty()) return fail(std::move(problems));
  return {};
}

}  // namespace

Result<RunOutcome> run(Workspace& workspace, const RunRequest& request, run::Listener& listener,
                       std::atomic<bool>& stop) {
  RunOutcome outcome;
  WEIR_TRY(run::RunRequest resolved, resolve(workspace, request, outcome.warnings, outcome.path));
  resolved.deploy = [&](const std::map<std::string, std::string>& definitions, const std::string& run) {
    return deploy_models(workspace, definitions, request.options.environment, run, request.options.command);
  };
  resolved.approve = [&](const run::Planned& planned) {
    return approve(workspace, planned, resolved, request.models.has_value() && !request.run);
  };
  WEIR_TRY(const Graph* graph, workspace.sound_graph());
  resolved.judge = [&](const std::set<std::string>& models) { return judge(workspace, *graph, models, stop); };
  WEIR_TRY(const Project* project, workspace.project());
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(true));
  WEIR_TRY(state::Store * store, workspace.store());
  resolved.run = request.run;
  if (request.begin) WEIR_CHECK(request.begin(resolved.selected));
  WEIR_TRY(outcome.report, run::run(*project, *graph, *lakes, *store, resolved, listener, stop));
  if (resolved.is_whole && outcome.report.status == "done")
    WEIR_CHECK(take_out_removed(workspace, request.options.environment, outcome.report.run, request.options.command));
  return outcome;
}

Result<DryRun> dry_run(Workspace& workspace, const RunRequest& request) {
  DryRun dry;
  WEIR_TRY(run::RunRequest resolved, resolve(workspace, request, dry.warnings, dry.path));
  WEIR_TRY(const Graph* graph, workspace.sound_graph());
  WEIR_TRY(const Project* project, workspace.project());
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(false));
  WEIR_TRY(state::Store * store, workspace.store());
  WEIR_TRY(dry.planned, run::plan_run(*project, *graph, *lakes, *store, resolved));
  dry.held_up = std::move(resolved.held_up);
  return dry;
}

nlohmann::ordered_json to_json(const PathBetween& path) {
  return {{"start", path.start}, {"ends", path.ends}, {"dropped_ends", path.dropped_ends}, {"barriers", path.barriers}};
}

nlohmann::ordered_json to_json(const RunOutcome& outcome) {
  nlohmann::ordered_json shown = run::to_json(outcome.report);
  if (outcome.path) shown.update(to_json(*outcome.path));
  return shown;
}

}  // namespace weir::ops
