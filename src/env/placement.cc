#include "env/placement.h"

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
  if (placement.may_write || !request.own.contains(model.path)) return placement;
  const Asset shared = *placement.data;
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

Result<Placed> place(const Graph& graph, const PlaceRequest& request) {
  std::map<std::string, Placement> owned;
  std::map<std::string, Asset> moved;  // key of a relation -> where its rows lie
  for (const Model& model : graph.models()) {
    if (!is_owned(model) && model.plane != Plane::Ephemeral) continue;
    Placement placement = placement_of(model, request);
    if (placement.data) moved.emplace(model.relation.key(), *placement.data);
    owned.emplace(model.path, std::move(placement));
  }
  const auto move = [&moved](Asset& asset) {
    if (const auto found = moved.find(asset.key()); found != moved.end()) asset = found->second;
  };
  if (owned.empty()) return Placed{std::shared_ptr<const Graph>(std::shared_ptr<const Graph>(), &graph), {}};
  std::vector<Model> models = graph.models();
  for (Model& model : models) {
    if (is_owned(model)) model.target = *owned.at(model.path).data;
    for (Reference& reference : model.references) move(reference.asset);
    for (Test& test : model.tests)
      if (test.reference) move(*test.reference);
    for (TestQuery& query : model.test_queries)
      for (Reference& reference : query.references) move(reference.asset);
    for (Trigger& trigger : model.triggers)
      if (trigger.asset) move(*trigger.asset);
  }
  take_over_all(graph, models);
  WEIR_TRY(Graph linked, Graph::link(std::move(models)));
  return Placed{std::make_shared<const Graph>(std::move(linked)), std::move(owned)};
}

}  // namespace weir::env
