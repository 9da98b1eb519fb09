#include "ops/changes.h"

#include <fmt/format.h>

#include <algorithm>

#include "bind/binder.h"
#include "env/environment.h"
#include "io/hash.h"
#include "ops/binding.h"
#include "parse/functions.h"
#include "plan/fingerprint.h"
#include "project/cache.h"

namespace weir::ops {
namespace {

bool is_all_as_deployed(const Graph& graph, const std::vector<state::DeployedModel>& deployed) {
  std::map<std::string, std::string> recorded;
  for (const state::DeployedModel& one : deployed) recorded.emplace(one.model, one.fingerprint);
  return recorded == plan::fingerprints(graph);
}

/// What the environment has. Of an owned model that is what it shows: after a rollback, or where a build failed,
/// another definition than the one deployed last, whose text proves nothing then.
Result<void> look(Workspace& workspace, const std::string& environment, EnvironmentChanges& found) {
  WEIR_TRY(state::Store * store, workspace.store_if_there());
  found.digest = digest_of(found.deployed);
  if (store == nullptr) return {};
  WEIR_TRY(found.deployed, store->deployed(environment));
  found.digest = digest_of(found.deployed);
  WEIR_TRY(const env::Environment shown, env::look(*store, environment));
  if (shown.shown) found.generation = shown.shown->generation;
  std::erase_if(found.deployed, [&shown, &environment](state::DeployedModel& record) {
    if (record.plane != name_of(Plane::Virtual) && record.plane != name_of(Plane::View)) return false;
    const state::ShownModel* one = shown.shown_model(record.model);
    // In a sandbox the rows that it has of its own count for what it shows, and are no change of a definition.
    if (one != nullptr && environment == env::kProd) record.fingerprint = one->fingerprint;
    return one == nullptr;
  });
  return {};
}

/// The texts that the environment runs, as a project under today's weir.yaml. Texts that no longer load, or that make
/// no graph, prove nothing; that is no error.
Result<void> load_deployed(Workspace& workspace, const std::string& environment, EnvironmentChanges& found) {
  WEIR_TRY(state::Store * store, workspace.store_if_there());
  OpenTexts texts;
  if (store != nullptr) {
    WEIR_TRY(texts, store->deployed_texts(environment));
  }
  WEIR_TRY(const Project* project, workspace.project());
  const auto parser = Workspace::lazy_parser();
  ParseCache cache(workspace.root() + "/.weir/cache/deployed-" + io::xxh3_hex(environment));
  WEIR_TRY(Project deployed, load_texts(project->config, *parser, texts, cache));
  cache.keep_touched();
  cache.save();
  found.deployed_project = std::make_unique<Project>(std::move(deployed));
  if (auto graph = Graph::link(found.deployed_project->models))
    found.deployed_graph = std::make_unique<Graph>(std::move(*graph));
  return {};
}

/// The models and all those above them.
std::set<std::string> with_producers(const Graph& graph, const std::set<std::string>& paths) {
  std::set<std::string> all;
  std::vector<std::size_t> open;
  for (const std::string& path : paths) open.push_back(graph.index_of(path));
  while (!open.empty()) {
    const std::size_t index = open.back();
    open.pop_back();
    if (!all.insert(graph.models()[index].path).second) continue;
    for (const std::size_t producer : graph.producers_of(index)) open.push_back(producer);
  }
  return all;
}

/// Sources that the named models read.
void add_sources(const Graph& graph, const std::set<std::string>& paths, std::map<std::string, Asset>& sources) {
  std::set<std::string> read;
  for (const Model& model : graph.models())
    if (paths.contains(model.path))
      for (const Asset& asset : inputs_of(model)) read.insert(asset.key());
  for (const Asset& asset : bind::sources_of(graph))
    if (read.contains(asset.key())) sources.emplace(asset.key(), asset);
}

struct BoundSides {
  bind::Bound deployed;
  bind::Bound current;
};

/// Both sides against the same columns of sources, as the lakes have them now.
Result<BoundSides> bind_sides(Workspace& workspace, const plan::ModelsToBind& models, EnvironmentChanges& found) {
  WEIR_TRY(const Graph* graph, workspace.graph());
  WEIR_TRY(const Project* project, workspace.project());
  BoundSides sides;
  std::map<std::string, Asset> assets;
  const auto current = with_producers(*graph, models.current);
  add_sources(*graph, current, assets);
  std::set<std::string> before;
  if (found.deployed_graph != nullptr) {
    before = with_producers(*found.deployed_graph, models.deployed);
    add_sources(*found.deployed_graph, before, assets);
  }
  bind::Surroundings surroundings;
  if (!assets.empty()) {
    std::vector<Asset> list;
    for (auto& [key, asset] : assets) list.push_back(asset);
    WEIR_TRY(SourceColumns columns, columns_in_lakes(workspace, list));
    surroundings.sources = std::move(columns.schemas);
  }
  surroundings.captured = [] { return bind::KnownSchemas(); };
  bind::Binder binder({.cache_file = project->config.root + "/.weir/cache/bound"});
  WEIR_TRY(sides.current, binder.bind(*project, *graph, surroundings, nullptr, &current));
  if (found.deployed_graph != nullptr) {
    WEIR_TRY(sides.deployed,
             binder.bind(*found.deployed_project, *found.deployed_graph, surroundings, nullptr, &before));
  }
  binder.save();
  if (has_errors(sides.current.diagnostics)) return fail(sides.current.diagnostics);
  return sides;
}

bool is_read_back(const EnvironmentChanges& found, const state::DeployedModel& record) {
  if (found.deployed_graph == nullptr) return false;
  const auto& models = found.deployed_graph->models();
  return std::any_of(models.begin(), models.end(), [&](const Model& one) { return one.path == record.model; });
}

void note_lost_texts(EnvironmentChanges& found) {
  std::string lost;
  for (const plan::ModelChange& change : found.changes)
    if (change.kind == plan::ChangeKind::Modified && !is_read_back(found, *change.deployed))
      lost += (lost.empty() ? "`" : ", `") + change.path + "`";
  if (lost.empty()) return;
  found.warnings.push_back({.code = Code::W5507,
                            .severity = Severity::Warning,
                            .message = "the deployed text of " + lost + " cannot be read back, so nothing is proven",
                            .path = {},
                            .span = {},
                            .hint = ""});
}

}  // namespace

std::string digest_of(const std::vector<state::DeployedModel>& models) {
  std::vector<std::pair<std::string, std::string>> digests;
  for (const state::DeployedModel& model : models) digests.emplace_back(model.model, model.digest);
  return state::digest_of(digests);
}

Result<EnvironmentChanges> changes_in(Workspace& workspace, const std::string& environment, bool forward_only) {
  EnvironmentChanges found;
  WEIR_TRY(const Graph* graph, workspace.graph());
  WEIR_CHECK(look(workspace, environment, found));
  plan::DeployedProject deployed{.records = &found.deployed};
  plan::CurrentProject current{.graph = graph};
  if (is_all_as_deployed(*graph, found.deployed)) {
    found.changes = plan::classify(deployed, current, {}, {});
    return found;
  }
  WEIR_CHECK(load_deployed(workspace, environment, found));
  deployed.graph = found.deployed_graph.get();
  WEIR_TRY(const BoundSides sides, bind_sides(workspace, plan::models_to_bind(deployed, current), found));
  deployed.bound = &sides.deployed;
  current.bound = &sides.current;

  WEIR_TRY(duck::Connection parser, Workspace::parser());
  parse::Trees trees;
  const auto fetched = trees.fetch(parser, plan::queries_to_compare(deployed, current));
  const auto functions = parse::function_kinds(parser);
  if (!fetched || !functions)
    return fail({.code = Code::W4001,
                 .message = "DuckDB's parser failed: " + (fetched ? functions.error() : fetched.error()).message});
  found.changes = plan::classify(deployed, current, trees, {.forward_only = forward_only, .functions = *functions});
  found.warnings = sides.current.diagnostics;
  note_lost_texts(found);
  return found;
}

}  // namespace weir::ops
