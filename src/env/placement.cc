#include "env/placement.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::env {
namespace {

/// An environment writes the tables that it built, unless another one came to show them; prod goes on writing its own,
/// whoever looks.
bool may_write(const Asset& table, const Environment& environment) {
  const auto known = environment.owned.find(table.key());
  if (known == environment.owned.end()) return true;
  if (known->second.environment != environment.name) return false;
  return environment.name == kProd || !environment.shown_elsewhere.contains(table.key());
}

Placement placement_of(const Model& model, const PlaceRequest& request) {
  const Environment& environment = request.environment;
  Placement placement{.fingerprint = request.fingerprints.at(model.path),
                      .definition = request.definitions.at(model.path),
                      .data = std::nullopt,
                      .view = view_of(model.relation, environment.name),
                      .seed = std::nullopt};
  const state::ShownModel* shown = environment.shown_model(model.path);
  placement.is_shown = shown != nullptr && shown->fingerprint == placement.fingerprint;
  placement.is_reused =
      shown != nullptr && !placement.is_shown && request.reused.contains(model.path) && model.plane == Plane::Virtual;
  if (model.plane == Plane::Ephemeral) return placement;
  if (model.plane == Plane::View) {
    // A view costs nothing to make; one of the environment's own reads the environment's own tables.
    const std::string& name = environment.name;
    placement.data = physical_of(model.relation, placement.fingerprint, name == kProd ? std::string() : name);
    return placement;
  }
  const bool keeps = placement.is_shown || placement.is_reused || !request.selected.contains(model.path);
  if (keeps && shown != nullptr) placement.data = parse_asset(shown->data);
  if (!placement.data) placement.data = physical_of(model.relation, placement.fingerprint);
  const bool accumulates = model.strategy != Strategy::Replace;
  if (request.forward_only && accumulates && !keeps && shown != nullptr) {
    placement.seed = parse_asset(shown->data);
    return placement;
  }
  placement.may_write = may_write(*placement.data, environment);
  // Others' tables move on; what a pinned environment shows stands still.
  const bool is_pinned = request.forks != nullptr && request.forks->is_pinned();
  if (placement.may_write || (!is_pinned && !request.own.contains(model.path))) return placement;
  const Asset shared = is_pinned ? request.forks->pinned(*placement.data) : *placement.data;
  placement.data = physical_of(model.relation, placement.fingerprint, environment.name);
  placement.may_write = true;
  if (accumulates && !environment.owned.contains(placement.data->key())) placement.seed = shared;
  return placement;
}

/// Gives a reader what it takes over from a model whose query is put into its own: what that reads, the macros that it
/// calls, its files. Places of the other file mean nothing in the reader's, so the references have none.
void take_over(Model& reader, const Model& inner) {
  for (Reference reference : inner.references) {
    reference.statement = Reference::kNoStatement;
    reference.macro.reset();
    reference.span = {};
    reference.alias.clear();
    reader.references.push_back(std::move(reference));
  }
  for (MacroDefinition macro : inner.macros) {
    const bool is_known = std::any_of(reader.macros.begin(), reader.macros.end(), [&macro](const MacroDefinition& one) {
      return one.library == macro.library && one.statement.span.begin == macro.statement.span.begin;
    });
    if (is_known || macro.is_for_tests) continue;
    macro.before = 0;
    reader.macros.push_back(std::move(macro));
  }
  reader.is_volatile = reader.is_volatile || inner.is_volatile;
  if (!inner.files)
    reader.files.reset();
  else if (reader.files)
    reader.files->insert(reader.files->end(), inner.files->begin(), inner.files->end());
}

/// Producers first, so what an inner model took over goes on to its readers.
void take_over_all(const Graph& graph, std::vector<Model>& models) {
  for (std::size_t i = 0; i < models.size(); ++i)
    for (const std::size_t producer : graph.producers_of(i))
      if (models[producer].plane == Plane::Ephemeral || models[producer].plane == Plane::View)
        take_over(models[i], models[producer]);
}

}  // namespace

bool is_owned(const Model& model) { return model.plane == Plane::Virtual || model.plane == Plane::View; }

namespace {

/// Keys of what the selected models whose rows weir does not own write.
std::set<std::string> built_keys(const Graph& graph, const std::set<std::string>& selected) {
  std::set<std::string> keys;
  for (const Model& model : graph.models()) {
    if (is_owned(model) || !selected.contains(model.path)) continue;
    for (const Asset& asset : outputs_of(model)) keys.insert(asset.key());
  }
  return keys;
}

/// Where everything lies that models and tests name.
std::map<std::string, Asset> moves_of(const Graph& graph, const PlaceRequest& request,
                                      const std::map<std::string, Placement>& owned) {
  std::map<std::string, Asset> moved;
  for (const Model& model : graph.models())
    if (const auto found = owned.find(model.path); found != owned.end() && found->second.data)
      moved.emplace(model.relation.key(), *found->second.data);
  if (request.forks == nullptr || request.forks->empty()) return moved;
  const auto built = built_keys(graph, request.selected);
  const auto note = [&](const Asset& asset) {
    const std::string key = asset.key();
    if (moved.contains(key)) return;
    Asset place = request.forks->read(asset, built.contains(key) && !request.only_reads);
    if (place.place != asset.place) moved.emplace(key, std::move(place));
  };
  for (const Model& model : graph.models()) {
    for (const Reference& reference : model.references) note(reference.asset);
    for (const Asset& asset : outputs_of(model)) note(asset);
    for (const Test& test : model.tests)
      if (test.reference) note(*test.reference);
    for (const Trigger& trigger : model.triggers)
      if (trigger.asset) note(*trigger.asset);
  }
  return moved;
}

/// True for a model whose table keeps what earlier runs wrote.
bool grows(const Model& model) { return model.strategy != Strategy::Replace || model.partitioning.has_value(); }

/// A view lies in the default lake and reads it alone. One that would read a fork becomes a table, as does nothing
/// else.
void materialize_views(std::vector<Model>& models, Placed& placed) {
  if (models.empty()) return;
  for (Model& model : models) {
    if (model.plane != Plane::View) continue;
    const Asset& data = *placed.owned.at(model.path).data;
    const bool reads_fork =
        std::any_of(model.references.begin(), model.references.end(), [&data](const Reference& reference) {
          return reference.asset.kind == AssetKind::Lake && reference.asset.place != data.place;
        });
    if (!reads_fork) continue;
    model.plane = Plane::Virtual;
    model.strategy = Strategy::Replace;
    placed.materialized.push_back(model.path);
  }
}

/// A managed or manual model writes the environment's own lake, whatever it reads.
void move_target(Model& model, const PlaceRequest& request, Placed& placed) {
  const Asset named = *model.target;
  if (request.only_reads) {
    model.target = placed.where(named);
    return;
  }
  model.target = request.forks->written(named);
  const Asset now = request.forks->read(named);
  if (model.plane == Plane::Managed && grows(model) && now.place != model.target->place && request.forks->copies(named))
    placed.copies.emplace(model.path, now);
}

Result<void> judge_targets(const std::vector<Model>& models, const PlaceRequest& request) {
  if (request.forks == nullptr || request.only_reads) return {};
  Diagnostics problems;
  for (const Model& model : models) {
    const bool is_foreign = model.target && model.target->kind == AssetKind::Lake && !is_owned(model) &&
                            request.selected.contains(model.path) && !request.forks->may_write(model.target->place);
    if (!is_foreign) continue;
    problems.push_back({.code = Code::W5420,
                        .message = model.path + " would write " + model.target->uri() + " from environment " +
                                   request.environment.name,
                        .path = model.source->path});
  }
  if (!problems.empty()) return fail(std::move(problems));
  return {};
}

}  // namespace

Asset Placed::where(const Asset& asset) const {
  const auto found = moved.find(asset.key());
  return found == moved.end() ? forks.read(asset) : found->second;
}

std::map<std::string, std::string> own_data(const Graph& graph, const std::set<std::string>& selected,
                                            const Forks& forks) {
  std::map<std::string, std::string> own;
  if (forks.empty()) return own;
  const auto built = built_keys(graph, selected);
  for (const Model& model : graph.models())
    for (const Reference& reference : model.references) {
      const std::string key = reference.asset.key();
      std::string owner = forks.owner(reference.asset, built.contains(key));
      if (!owner.empty()) own.emplace(key, std::move(owner));
    }
  return own;
}

Result<Placed> place(const Graph& graph, const PlaceRequest& request) {
  Placed placed;
  for (const Model& model : graph.models()) {
    if (!is_owned(model) && model.plane != Plane::Ephemeral) continue;
    placed.owned.emplace(model.path, placement_of(model, request));
  }
  placed.moved = moves_of(graph, request, placed.owned);
  if (request.forks != nullptr) placed.forks = *request.forks;
  const bool has_forks = request.forks != nullptr && !request.forks->empty();
  if (placed.owned.empty() && !has_forks) {
    placed.graph = std::shared_ptr<const Graph>(std::shared_ptr<const Graph>(), &graph);
    return placed;
  }
  const auto move = [&placed](Asset& asset) { asset = placed.where(asset); };
  std::vector<Model> models = graph.models();
  for (Model& model : models) {
    if (is_owned(model))
      model.target = *placed.owned.at(model.path).data;
    else if (model.target && has_forks)
      move_target(model, request, placed);
    for (Reference& reference : model.references) move(reference.asset);
    for (Test& test : model.tests)
      if (test.reference) move(*test.reference);
    for (TestQuery& query : model.test_queries)
      for (Reference& reference : query.references) move(reference.asset);
    for (Trigger& trigger : model.triggers)
      if (trigger.asset) move(*trigger.asset);
  }
  WEIR_CHECK(judge_targets(models, request));
  if (has_forks) materialize_views(models, placed);
  take_over_all(graph, models);
  WEIR_TRY(Graph linked, Graph::link(std::move(models)));
  placed.graph = std::make_shared<const Graph>(std::move(linked));
  return placed;
}

}  // namespace weir::env
