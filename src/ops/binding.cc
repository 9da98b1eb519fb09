#include "ops/binding.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "io/files.h"
#include "lake/catalog_columns.h"

namespace weir::ops {
namespace {

constexpr const char* kEnvironment = "prod";

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

Result<SourceColumns> columns_in_lakes(Workspace& workspace, const std::vector<Asset>& assets) {
  SourceColumns found;
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
  return found;
}

Result<bind::KnownSchemas> captured_columns(Workspace& workspace) {
  bind::KnownSchemas known;
  WEIR_TRY(const Config* config, workspace.config());
  // Opening a state that is not there would make it.
  if (config->state.kind != DatabaseLocation::Kind::Postgres && !io::exists(config->state.target)) return known;
  WEIR_TRY(state::Store * store, workspace.store());
  WEIR_TRY(const auto records, store->latest_schemas(kEnvironment));
  for (const state::SchemaRecord& record : records) {
    bind::KnownSchema& schema = known[record.asset];
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
