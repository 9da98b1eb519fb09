#include "ops/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/lexer.h"

namespace weir::ops {
namespace {

std::vector<duck::Column> columns_of(const std::string& json) {
  std::vector<duck::Column> columns;
  const auto parsed = nlohmann::json::parse(json, nullptr, false);
  if (!parsed.is_array()) return columns;
  for (const auto& column : parsed)
    columns.push_back({column.value("name", std::string()), column.value("type", std::string())});
  return columns;
}

const duck::Column* column_named(const std::vector<duck::Column>& columns, const std::string& name) {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&name](const duck::Column& one) { return text::same_word(one.name, name); });
  return found == columns.end() ? nullptr : &*found;
}

/// The names of one version that the other has too, in order.
std::vector<std::string> shared_names(const std::vector<duck::Column>& of, const std::vector<duck::Column>& with) {
  std::vector<std::string> names;
  for (const duck::Column& column : of)
    if (column_named(with, column.name) != nullptr) names.push_back(text::lower(column.name));
  return names;
}

}  // namespace

Result<std::vector<SchemaVersion>> schema_versions(Workspace& workspace, const std::string& name) {
  WEIR_TRY(const Asset asset, workspace.asset_named(name));
  std::vector<state::SchemaRecord> records;
  WEIR_TRY(state::Store * store, workspace.store_if_there());
  WEIR_TRY(const auto chain, workspace.chain());
  // What an environment did not build itself is as the nearest one that it comes from has it.
  for (auto level = chain.begin(); store != nullptr && records.empty() && level != chain.end(); ++level) {
    WEIR_TRY(records, store->schemas(level->name, asset.key()));
  }
  if (records.empty())
    return fail(Diagnostic{.code = Code::W2012,
                           .message = "no columns of " + asset.uri() + " were captured yet",
                           .hint = workspace.hint_for(name)});
  std::vector<SchemaVersion> versions;
  for (const state::SchemaRecord& record : records)
    versions.push_back({asset.uri(), record.version, record.captured, record.run, record.snapshot_id,
                        columns_of(record.columns_json)});
  return versions;
}

Result<SchemaVersion> schema(Workspace& workspace, const std::string& asset, std::optional<std::int64_t> version) {
  WEIR_TRY(const auto versions, schema_versions(workspace, asset));
  if (!version) return versions.back();
  std::string known;
  for (const SchemaVersion& one : versions) {
    if (one.version == *version) return one;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", one.version);
  }
  return fail(Diagnostic{.code = Code::W2160,
                         .message = fmt::format("{} has no schema version {}", versions.back().asset, *version),
                         .hint = "there are " + known});
}

Result<SchemaDiff> schema_diff(Workspace& workspace, const std::string& asset, std::int64_t from, std::int64_t to) {
  WEIR_TRY(const SchemaVersion before, schema(workspace, asset, from));
  WEIR_TRY(const SchemaVersion after, schema(workspace, asset, to));
  SchemaDiff diff{after.asset, from, to, {}};
  const auto was = shared_names(before.columns, after.columns);
  const auto is = shared_names(after.columns, before.columns);
  std::size_t shared = 0;
  for (const duck::Column& column : after.columns) {
    const duck::Column* old = column_named(before.columns, column.name);
    if (old == nullptr) {
      diff.changes.push_back({ColumnChange::Kind::Added, column.name, {}, column.type});
      continue;
    }
    if (old->type != column.type)
      diff.changes.push_back({ColumnChange::Kind::Retyped, column.name, old->type, column.type});
    else if (was[shared] != is[shared])
      diff.changes.push_back({ColumnChange::Kind::Moved, column.name, old->type, column.type});
    ++shared;
  }
  for (const duck::Column& column : before.columns)
    if (column_named(after.columns, column.name) == nullptr)
      diff.changes.push_back({ColumnChange::Kind::Removed, column.name, column.type, {}});
  return diff;
}

}  // namespace weir::ops
