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
