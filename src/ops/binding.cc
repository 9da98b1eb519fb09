#include "ops/binding.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "io/files.h"
#include "lake/catalog_columns.h"

namespace weir::ops {
namespace {

/// Lets the engine say which columns a view, or a table of a database, has.
Result<void> describe(Workspace& workspace, const Asset& asset, SourceColumns& found) {
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(false));
  WEIR_TRY(duck::Connection connection, lakes->connect());
  duck::TableName name;
  if (asset.kind == AssetKind::Datatable) {
    auto table = lakes->datatable(asset.place, asset.schema, asset.name);
    if (!table) {
      found.missing.insert(asset.key());
      return {};
    }
    name = *table;
  } else {
    name = lakes->lake(asset.place).readable(asset.schema, asset.name);
  }
  auto columns = connection.describe(duck::Sql("FROM {}", name));
  // A view over a table that is gone cannot be read either: as good as missing.
  if (!columns)
    found.missing.insert(asset.key());
  else
    found.schemas[asset.key()].columns = std::move(*columns);
  return {};
}

}  // namespace

Result<SourceColumns> columns_in_lakes(Workspace& workspace, const std::vector<Asset>& named) {
  SourceColumns found;
  std::vector<Asset> assets = named;
  for (Asset& asset : assets) {
    WEIR_TRY(asset, workspace.located(asset));
  }
  WEIR_TRY(const Config* config, workspace.config());
  std::vector<const Asset*> to_describe;
  for (const LakeConfig& lake : config->lakes) {
    std::vector<Asset> wanted;
    for (const Asset& asset : assets)
      if (asset.kind == AssetKind::Lake && !asset.name.empty() && config->lake(asset.place) == &lake)
        wanted.push_back(asset);
    if (wanted.empty()) continue;
    WEIR_TRY(auto catalog, lake::catalog_columns(lake, wanted));
    for (const Asset& asset : wanted) {
      const auto table = catalog.tables.find(asset.key());
      if (table != catalog.tables.end()) {
        found.schemas[asset.key()].columns = std::move(table->second);
      } else if (catalog.views.contains(asset.key())) {
        WEIR_CHECK(describe(workspace, asset, found));
      } else {
        found.missing.insert(asset.key());
      }
    }
  }
  for (const Asset& asset : assets)
    if (asset.kind == AssetKind::Datatable && !asset.name.empty()) {
      WEIR_CHECK(describe(workspace, asset, found));
    }
  // By the names that models use.
  for (std::size_t i = 0; i < named.size(); ++i) {
    const std::string key = named[i].key();
    const std::string place = assets[i].key();
    if (key == place) continue;
    if (auto schema = found.schemas.extract(place); !schema.empty()) {
      schema.key() = key;
      found.schemas.insert(std::move(schema));
    }
    if (found.missing.erase(place) > 0) found.missing.insert(key);
  }
  return found;
}

Result<bind::KnownSchemas> captured_columns(Workspace& workspace) {
  bind::KnownSchemas known;
  WEIR_TRY(state::Store * store, workspace.store_if_there());
  if (store == nullptr) return known;
  std::vector<state::SchemaRecord> records;
  // What an environment did not capture itself is as the one that it comes from has it: nearer ones come last.
  WEIR_TRY(const auto chain, workspace.chain());
  for (auto level = chain.rbegin(); level != chain.rend(); ++level) {
    WEIR_TRY(auto of_level, store->latest_schemas(level->name));
    records.insert(records.end(), of_level.begin(), of_level.end());
  }
  for (const state::SchemaRecord& record : records) {
    bind::KnownSchema& schema = known[record.asset];
    schema = {};
    schema.version = record.version;
    schema.captured = record.captured;
    const auto columns = nlohmann::json::parse(record.columns_json, nullptr, false);
    if (!columns.is_array()) continue;
    for (const auto& column : columns)
      schema.columns.push_back({column.value("name", std::string()), column.value("type", std::string())});
  }
  return known;
}

}  // namespace weir::ops
