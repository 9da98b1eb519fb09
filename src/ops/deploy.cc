#include "ops/deploy.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "env/environment.h"
#include "metric/table_path.h"
#include "ops/check.h"
#include "ops/definitions.h"
#include "plan/fingerprint.h"
#include "project/identity.h"

namespace weir::ops {
namespace {

std::string_view kind_of(const Asset& asset) {
  switch (asset.kind) {
    case AssetKind::Lake:
      return "lake";
    case AssetKind::Datatable:
      return "datatable";
    case AssetKind::Storage:
      return "storage";
    case AssetKind::Other:
      break;
  }
  return "other";
}

std::vector<state::EdgeRecord> edges_of(const Model& model) {
  std::vector<state::EdgeRecord> edges;
  const auto add = [&edges](const Asset& asset, std::string_view kind, const std::string& debounce = {}) {
    edges.push_back({asset.key(), asset.uri(), std::string(kind_of(asset)), std::string(kind), debounce});
  };
  for (const Asset& asset : outputs_of(model)) add(asset, "writes");
  for (const Reference& reference : model.references) add(reference.asset, "reads");
  for (const Test& test : model.tests)
    if (test.reference) add(*test.reference, "test");
  for (const TestQuery& query : model.test_queries)
    for (const Reference& reference : query.references) add(reference.asset, "test");
  for (const Trigger& trigger : model.triggers) {
    if (trigger.asset)
      add(*trigger.asset, "on", trigger.debounce);
    else
      edges.push_back({trigger.native_kind, trigger.native_kind, "event", "on", trigger.debounce});
  }
  // Named by model, since a model may produce no asset.
  for (const std::string& name : model.depends_on) edges.push_back({"model:" + name, name, "model", "after", ""});
  for (const Asset& asset : model.muted) add(asset, "mute");
  if (model.mute_all) edges.push_back({"*", "*", "other", "mute", ""});
  return edges;
}

std::vector<state::MetricRecord> metrics_of(const Model& model) {
  std::vector<state::MetricRecord> metrics;
  for (const Metric& metric : model.metrics) {
    state::MetricRecord record{.script = model.path, .table = metric::table_path(*model.target)};
    record.kind = metric.is_measure ? "measure" : "dimension";
    record.name = metric.name;
    record.expression = metric.expression;
    if (!metric.filter.empty()) record.filter = metric.filter;
    record.description = metric.description;
    record.unit = metric.unit;
    record.format = metric.format;
    metrics.push_back(std::move(record));
  }
  return metrics;
}

/// Everything that is recorded about a model, but for its text.
state::DeployedModel record_of(const Model& model, const std::string& fingerprint) {
  state::DeployedModel record{.model = model.path, .file = model.source->path};
  record.plane = name_of(model.plane);
  record.strategy = name_of(model.strategy);
  record.asset = identity_of(model);
  record.fingerprint = fingerprint;
  record.source_hash = model.source->hash;
  if (model.partitioning) record.partitioned = calendar::name_of(model.partitioning->kind);
  if (!model.tags.empty()) record.tags_json = nlohmann::json(model.tags).dump();
  record.owner = model.owner;
  record.description = model.description;
  record.schedule_cron = model.schedule_cron;
  record.schedule_every = model.schedule_every;
  record.schedule_tz = model.schedule_tz;
  record.freshness = model.freshness;
  record.edges = edges_of(model);
  record.metrics = metrics_of(model);
  record.digest = state::digest_of(record);
  return record;
}

state::DeployedLibrary record_of(const MacroLibrary& library) {
  state::DeployedLibrary record{.library = library.path, .digest = library.source->hash, .macros = {}};
  record.file = library.source->path;
  record.source = library.source->text;
  for (const MacroLibrary::Macro& macro : library.macros) {
    const Span span = library.script.statements[macro.statement].span;
    record.macros.push_back({macro.name, library.source->text.substr(span.begin, span.size())});
  }
  return record;
}

state::Deployment begun(const std::string& environment, const std::string& command) {
  state::Deployment deployment{.deployment = state::new_run_id(), .environment = environment};
  deployment.time = state::now_text();
  deployment.command = command;
  deployment.host = state::host_identity();
  return deployment;
}

/// What is there of the project, and what the environment has from those above it though the project has it no more.
Result<void> note_presence(Workspace& workspace, state::Deployment& deployment) {
  // A file with errors is still there: what was deployed of it stays.
  WEIR_TRY(const Graph* whole, workspace.whole_graph());
  std::set<std::string> paths, assets;
  for (const Model& model : whole->models()) {
    deployment.present.push_back(model.path);
    paths.insert(model.path);
    assets.insert(identity_of(model));
  }
  if (deployment.environment == env::kProd) return {};
  WEIR_TRY(const Definitions definitions, definitions_in(workspace, deployment.environment));
  for (const state::DeployedModel& record : definitions.records)
    if (definitions.deferred.contains(record.model) && !paths.contains(record.model) &&
        (record.asset.empty() || !assets.contains(record.asset)))
      deployment.absent.push_back(record.model);
  return {};
}

/// A model whose file was moved, and that had nothing to build, is recorded under its new path alone.
Result<void> add_moved(Workspace& workspace, state::Deployment& deployment) {
  WEIR_TRY(const Graph* graph, workspace.graph());
  WEIR_TRY(state::Store * store, workspace.store());
  WEIR_TRY(const auto deployed, store->deployed(deployment.environment));
  std::set<std::string> paths, gone;
  for (const state::DeployedModel& one : deployed) paths.insert(one.model);
  for (const state::DeployedModel& one : deployed)
    if (std::find(deployment.present.begin(), deployment.present.end(), one.model) == deployment.present.end())
      gone.insert(one.asset);
  const auto fingerprints = plan::fingerprints(*graph);
  for (const Model& model : graph->models()) {
    const std::string identity = identity_of(model);
    if (paths.contains(model.path) || identity.empty() || !gone.contains(identity)) continue;
    deployment.models.push_back(record_of(model, fingerprints.at(model.path)));
    deployment.models.back().source = model.source->text;
  }
  return {};
}

}  // namespace

Result<Deployed> deploy(Workspace& workspace, const DeployRequest& request) {
  if (request.environment != workspace.environment())
    return fail(Diagnostic{
        .code = Code::W2230,
        .message = fmt::format("{} is not the environment that the project was opened for", request.environment)});
  WEIR_TRY(const Checked checked, check(workspace));
  Diagnostics errors;
  Deployed deployed;
  for (const Diagnostic& one : checked.diagnostics)
    (one.severity == Severity::Error ? errors : deployed.warnings).push_back(one);
  if (!errors.empty()) return fail(std::move(errors));
  WEIR_TRY(const Graph* graph, workspace.graph());
  WEIR_TRY(state::Store * store, workspace.store());
  const auto fingerprints = plan::fingerprints(*graph);
  state::Deployment deployment = begun(request.environment, request.command);
  deployment.is_whole = true;
  for (const Model& model : graph->models()) {
    state::DeployedModel record = record_of(model, fingerprints.at(model.path));
    record.source = model.source->text;
    deployed.metrics += std::ssize(record.metrics);
    deployment.models.push_back(std::move(record));
  }
  WEIR_CHECK(note_presence(workspace, deployment));
  deployed.models = std::ssize(deployment.models);
  WEIR_TRY(const Project* project, workspace.project());
  for (const MacroLibrary& library : project->libraries) deployment.libraries.push_back(record_of(library));
  WEIR_TRY(deployed.changes, request.is_dry_run ? store->compare(deployment) : store->deploy(deployment));
  if (!request.is_dry_run && !deployed.changes.empty()) deployed.deployment = deployment.deployment;
  return deployed;
}

Result<void> deploy_models(Workspace& workspace, const std::map<std::string, std::string>& definitions,
                           const std::string& environment, const std::string& run, const std::string& command) {
  WEIR_TRY(const Graph* graph, workspace.sound_graph());
  WEIR_TRY(const Graph* whole, workspace.whole_graph());
  WEIR_TRY(const Project* project, workspace.project());
  WEIR_TRY(state::Store * store, workspace.store());
  // The definition alone: what rows an environment has of its own is none of the project's.
  const auto plain = environment == env::kProd ? std::map<std::string, std::string>() : plan::fingerprints(*graph);
  std::vector<state::DeployedModel> records;
  std::vector<std::pair<std::string, std::string>> digests;
  std::set<std::string> used;
  for (const auto& [path, fingerprint] : definitions) {
    const Model& model = graph->models()[graph->index_of(path)];
    records.push_back(record_of(model, plain.empty() ? fingerprint : plain.at(path)));
    for (const MacroLibrary* library : libraries_of(*project, model)) used.insert(library->path);
    digests.emplace_back(records.back().model, records.back().digest);
  }
  if (records.empty()) return {};
  // A run of everything asks for one number; any other for the models' own.
  WEIR_TRY(const auto newest, store->deployments(environment, 1));
  if (!newest.empty() && newest.front().digest == state::digest_of(digests)) return {};
  std::vector<std::string> names;
  for (const auto& [path, digest] : digests) names.push_back(path);
  WEIR_TRY(auto known, store->deployed_digests(environment, names));
  std::sort(known.begin(), known.end());
  std::sort(digests.begin(), digests.end());
  if (known == digests) return {};
  state::Deployment deployment = begun(environment, command);
  deployment.run = run;
  for (state::DeployedModel& record : records) {
    if (std::binary_search(known.begin(), known.end(), std::pair(record.model, record.digest))) continue;
    record.source = graph->models()[graph->index_of(record.model)].source->text;
    deployment.models.push_back(std::move(record));
  }
  // A file with errors is still there: what was deployed of it stays.
  for (const Model& model : whole->models()) deployment.present.push_back(model.path);
  for (const MacroLibrary& library : project->libraries)
    if (used.contains(library.path)) deployment.libraries.push_back(record_of(library));
  WEIR_TRY(const auto changes, store->deploy(deployment));
  (void)changes;
  return {};
}

Result<void> take_out_removed(Workspace& workspace, const std::string& environment, const std::string& run,
                              const std::string& command) {
  WEIR_TRY(state::Store * store, workspace.store());
  WEIR_TRY(const Project* project, workspace.project());
  state::Deployment deployment = begun(environment, command);
  deployment.run = run;
  deployment.is_whole = true;
  WEIR_CHECK(note_presence(workspace, deployment));
  for (const MacroLibrary& library : project->libraries) deployment.libraries.push_back(record_of(library));
  // Mostly there is nothing, and nobody is kept waiting.
  WEIR_TRY(auto changes, store->compare(deployment));
  if (changes.empty()) return {};
  if (!changes.removed.empty()) WEIR_CHECK(add_moved(workspace, deployment));
  WEIR_TRY(changes, store->deploy(deployment));
  return {};
}

}  // namespace weir::ops
