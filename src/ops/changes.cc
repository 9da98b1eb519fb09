#include "ops/changes.h"

#include <fmt/format.h>

#include <algorithm>

#include "bind/binder.h"
#include "env/placement.h"
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

/// The texts that the environment runs, as a project under today's weir.yaml. Texts that no longer load, or that make
/// no graph, prove nothing; that is no error.
Result<void> load_deployed(Workspace& workspace, const std::string& environment, EnvironmentChanges& found) {
  WEIR_TRY(OpenTexts texts, texts_of(workspace, environment, found.deployed));
  WEIR_TRY(const Project* project, workspace.project());
  // A model that names a data test which is not there does not load. The tests are no part of its definition.
  for (const CustomTest& test : project->custom_tests) texts.emplace(test.source->path, test.source->text);
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
  WEIR_TRY(const Graph* graph, workspace.sound_graph());
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

bool is_delivery(const state::DeployedModel& record) {
  return record.plane == name_of(Plane::Table) || record.plane == name_of(Plane::File);
}

bool builds_whole(const Model& model) {
  return model.plane != Plane::Manual && model.plane != Plane::Ephemeral && !model.partitioning;
}

}  // namespace

Result<EnvironmentChanges> changes_between(Workspace& workspace, Definitions before, const std::string& environment,
                                           bool forward_only) {
  EnvironmentChanges found;
  WEIR_TRY(const Graph* graph, workspace.sound_graph());
  found.deployed = std::move(before);
  plan::DeployedProject deployed{.records = &found.deployed.records};
  plan::CurrentProject current{.graph = graph};
  if (is_all_as_deployed(*graph, found.deployed.records)) {
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

Result<EnvironmentChanges> changes_in(Workspace& workspace, const std::string& environment, bool forward_only) {
  WEIR_TRY(Definitions definitions, definitions_in(workspace, environment));
  const std::map<std::string, std::string> deferred = definitions.deferred;
  // Nothing was delivered for this environment by another one.
  std::erase_if(definitions.records, [&](const state::DeployedModel& record) {
    return is_delivery(record) && deferred.contains(record.model);
  });
  WEIR_TRY(EnvironmentChanges found, changes_between(workspace, std::move(definitions), environment, forward_only));
  for (plan::ModelChange& change : found.changes) {
    const auto owner = deferred.find(change.path);
    if (change.kind != plan::ChangeKind::Removed || owner == deferred.end()) continue;
    // It has no view of that to lose.
    change.category = plan::ChangeCategory::None;
    change.is_everything = false;
    change.reason = fmt::format("{} has it, and the project does not", owner->second);
  }
  return found;
}

std::set<std::string> with_changed_above(const Graph& graph, const EnvironmentChanges& changes,
                                         std::set<std::string> selected) {
  std::set<std::string> changed;
  for (const plan::ModelChange& change : changes.changes)
    if (change.kind != plan::ChangeKind::Unchanged) changed.insert(change.path);
  for (std::size_t i = graph.models().size(); i-- > 0;) {
    if (!selected.contains(graph.models()[i].path)) continue;
    for (const std::size_t producer : graph.producers_of(i))
      if (const std::string& path = graph.models()[producer].path; changed.contains(path)) selected.insert(path);
  }
  return selected;
}

namespace {

/// In a sandbox a table that provably stays under the new definition was perhaps computed from rows of another
/// environment, and would now read the sandbox's own: it is built.
Result<void> keep_same_rows(Workspace& workspace, const EnvironmentChanges& changes, const env::Environment& shown,
                            Work& work) {
  if (work.reused.empty() || changes.deployed_graph == nullptr) return {};
  WEIR_TRY(const auto before, workspace.fingerprints(*changes.deployed_graph, work.models));
  std::erase_if(work.reused, [&](const std::string& path) {
    const state::ShownModel* one = shown.shown_model(path);
    const auto known = before.find(path);
    return one == nullptr || known == before.end() || known->second != one->fingerprint;
  });
  return {};
}

}  // namespace

Result<Work> work_of(Workspace& workspace, const EnvironmentChanges& changes, const std::set<std::string>& selection) {
  Work work;
  WEIR_TRY(const Graph* graph, workspace.graph());
  const std::set<std::string> selected = with_changed_above(*graph, changes, selection);
  for (const plan::ModelChange& change : changes.changes) {
    if (change.model == nullptr || change.kind == plan::ChangeKind::Unchanged) continue;
    if (!selected.contains(change.path) || !builds_whole(*change.model)) continue;
    work.models.insert(change.path);
    if (change.reuse && change.model->plane == Plane::Virtual) work.reused.insert(change.path);
  }
  WEIR_TRY(state::Store * store, workspace.store_if_there());
  env::Environment shown;
  if (store != nullptr) {
    WEIR_TRY(shown, env::look(*store, workspace.environment(), *graph));
  }
  WEIR_CHECK(keep_same_rows(workspace, changes, shown, work));
  WEIR_TRY(const auto fingerprints, workspace.fingerprints(*graph, work.models));
  for (const Model& model : graph->models()) {
    if (!env::is_owned(model) || !selected.contains(model.path)) continue;
    const state::ShownModel* one = shown.shown_model(model.path);
    if (one == nullptr || one->fingerprint != fingerprints.at(model.path)) work.models.insert(model.path);
  }
  return work;
}

}  // namespace weir::ops
