#include "env/environment.h"

#include <algorithm>

namespace weir::env {

const state::ShownModel* Environment::shown_model(const std::string& path) const {
  if (!shown) return nullptr;
  const auto found = std::find_if(shown->models.begin(), shown->models.end(),
                                  [&path](const state::ShownModel& one) { return one.model == path; });
  return found == shown->models.end() ? nullptr : &*found;
}

Result<Environment> look(state::Store& store, const std::string& name) {
  Environment environment;
  environment.name = name;
  WEIR_TRY(std::vector<state::OwnedRecord> owned, store.owned());
  for (state::OwnedRecord& one : owned) {
    std::string key = one.asset;
    environment.owned.emplace(std::move(key), std::move(one));
  }
  WEIR_TRY(std::vector<state::PromotionRecord> newest, store.newest_promotions());
  for (state::PromotionRecord& promotion : newest) {
    if (promotion.environment == name) {
      environment.shown = std::move(promotion);
      continue;
    }
    for (const state::ShownModel& one : promotion.models)
      if (const auto asset = parse_asset(one.data)) environment.shown_elsewhere.insert(asset->key());
  }
  return environment;
}

Result<Environment> look(state::Store& store, const std::string& name, const Graph& graph) {
  WEIR_TRY(Environment environment, look(store, name));
  if (!environment.shown) return environment;
  std::map<std::string, const Model*> by_view;
  std::set<std::string> paths;
  for (const Model& model : graph.models()) {
    paths.insert(model.path);
    if (environment.shown_model(model.path) == nullptr) by_view.emplace(view_of(model.relation, name).key(), &model);
  }
  for (state::ShownModel& one : environment.shown->models) {
    if (paths.contains(one.model)) continue;
    const auto view = parse_asset(one.view);
    const auto moved = view ? by_view.find(view->key()) : by_view.end();
    if (moved == by_view.end()) continue;
    one.model = moved->second->path;
    environment.has_moved = true;
  }
  if (environment.has_moved)
    std::sort(environment.shown->models.begin(), environment.shown->models.end(),
              [](const state::ShownModel& a, const state::ShownModel& b) { return a.model < b.model; });
  return environment;
}

Asset view_of(const Asset& relation, const std::string& environment) {
  Asset view = relation;
  if (environment != kProd) view.schema = environment + "__" + relation.schema;
  return view;
}

constexpr std::string_view kSchemaPrefix = "interlace__";

bool is_physical(const Asset& asset) {
  return asset.kind == AssetKind::Lake && asset.schema.starts_with(kSchemaPrefix);
}

Asset physical_of(const Asset& relation, const std::string& fingerprint, const std::string& environment) {
  Asset table = relation;
  table.schema = std::string(kSchemaPrefix) + relation.schema;
  table.name = relation.name + "__" + fingerprint;
  if (!environment.empty()) table.name += "__" + environment;
  return table;
}

}  // namespace weir::env
