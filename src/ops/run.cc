#include "ops/run.h"

#include <fmt/format.h>

#include "ops/check.h"
#include "ops/deploy.h"
#include "ops/selection.h"

namespace weir::ops {
namespace {

/// "name=value" for all models, "model:name=value" for one.
Result<std::map<std::string, std::map<std::string, std::string>>> arguments_of(const Project& project,
                                                                               const std::vector<std::string>& texts) {
  std::map<std::string, std::map<std::string, std::string>> arguments;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(Diagnostic{.code = Code::W8003,
                             .message = fmt::format("--arg {} is not name=value", text),
                             .hint = "--arg name=value, or --arg model:name=value"});
    std::string name = text.substr(0, equals);
    std::string scope;
    if (const auto colon = name.find(':'); colon != std::string::npos) {
      WEIR_TRY(const Model* model, find_model(project, name.substr(0, colon)));
      scope = model->path;
      name = name.substr(colon + 1);
    }
    arguments[scope][name] = text.substr(equals + 1);
  }
  return arguments;
}

Result<run::RunRequest> resolve(Workspace& workspace, const RunRequest& request, Diagnostics& warnings) {
  WEIR_TRY(const Graph* graph, workspace.graph());
  WEIR_TRY(const Project* project, workspace.project());
  for (const Diagnostic& found : project->diagnostics)
    if (found.severity == Severity::Warning) warnings.push_back(found);
  run::RunRequest resolved;
  resolved.options = request.options;
  if (resolved.options.jobs <= 0) resolved.options.jobs = project->config.jobs;
  Selection selection = selection_of(workspace, request.select, request.exclude);
  selection.from = request.from;
  selection.to = request.to;
  WEIR_TRY(resolved.selected, select(*graph, selection, warnings));
  resolved.partition = request.partition;
  resolved.at = request.at;
  resolved.is_whole = request.select.empty() && request.exclude.empty() && !request.from && request.to.empty();
  WEIR_TRY(resolved.arguments, arguments_of(*project, request.arguments));
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

/// Refuses what would fail for sure: errors in the files of the models that are to be built. What a contract only warns
/// of, and faults of other models, stop nothing.
Result<void> judge(Workspace& workspace, const Graph& graph, const std::set<std::string>& models,
                   const std::atomic<bool>& stop) {
  const std::set<std::string> needed = with_producers(graph, models);
  WEIR_TRY(const BoundGraph bound, bind_project(workspace, {.lineage = false}, &stop, &needed));
  std::set<std::string> files;
  for (const Model& model : graph.models())
    if (models.contains(model.path)) files.insert(model.source->path);
  Diagnostics errors;
  for (const Diagnostic& one : bound.bound.diagnostics)
    if (one.severity == Severity::Error && files.contains(one.path)) errors.push_back(one);
  if (!errors.empty()) return fail(std::move(errors));
  return {};
}

}  // namespace

Result<RunOutcome> run(Workspace& workspace, const RunRequest& request, run::Listener& listener,
                       std::atomic<bool>& stop) {
  RunOutcome outcome;
  WEIR_TRY(run::RunRequest resolved, resolve(workspace, request, outcome.warnings));
  resolved.deploy = [&](const plan::Plan& plan, const std::string& run) {
    return deploy_plan(workspace, plan, request.options.environment, run, request.options.command);
  };
  WEIR_TRY(const Graph* graph, workspace.graph());
  resolved.judge = [&](const std::set<std::string>& models) { return judge(workspace, *graph, models, stop); };
  WEIR_TRY(const Project* project, workspace.project());
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(true));
  WEIR_TRY(state::Store * store, workspace.store());
  WEIR_TRY(outcome.report, run::run(*project, *graph, *lakes, *store, resolved, listener, stop));
  return outcome;
}

Result<DryRun> dry_run(Workspace& workspace, const RunRequest& request) {
  DryRun dry;
  WEIR_TRY(const run::RunRequest resolved, resolve(workspace, request, dry.warnings));
  WEIR_TRY(const Graph* graph, workspace.graph());
  WEIR_TRY(const Project* project, workspace.project());
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(false));
  WEIR_TRY(state::Store * store, workspace.store());
  WEIR_TRY(dry.planned, run::plan_run(*project, *graph, *lakes, *store, resolved));
  return dry;
}

}  // namespace weir::ops
