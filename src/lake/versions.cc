// What happened in a lake, version by version: all of it from DuckLake's metadata tables.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "lake/changes.h"
#include "lake/filters.h"
#include "lake/lakes.h"

namespace weir::lake {
namespace {

using duck::Literal;
using duck::Rows;
using duck::Sql;

Failed unreadable(const Lake& lake, const duck::Failure& failure) {
  return fail(explain(Code::W6003, "the lake " + lake.name() + " cannot be read", failure));
}

Result<Rows> read(duck::Connection& connection, const Lake& lake, const Sql& sql) {
  auto rows = connection.query(sql);
  if (!rows) return unreadable(lake, rows.error());
  return std::move(*rows);
}

Sql version_columns(const Lake& lake) {
  return Sql(
      "SELECT c.snapshot_id, strftime(s.snapshot_time::TIMESTAMPTZ AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ'), "
      "c.author, c.commit_message, "
      "c.commit_extra_info, c.changes_made FROM {} c JOIN {} s USING (snapshot_id)",
      lake.metadata("ducklake_snapshot_changes"), lake.metadata("ducklake_snapshot"));
}

VersionRecord record_of(const Rows& rows, std::size_t row) {
  VersionRecord record;
  record.version = rows.integer(row, 0);
  record.time = rows.text(row, 1);
  record.author = rows.text(row, 2);
  record.message = rows.text(row, 3);
  record.extra_info = rows.text(row, 4);
  record.changes = rows.text(row, 5);
  return record;
}

/// True of a JSON object with a text `weir`; anything else is what a foreign writer left. Parsed once: a record of a
/// thousand steps has half a megabyte.
Sql is_commit_record() { return Sql("TRY(json_type(c.commit_extra_info, '$.weir')) IS NOT DISTINCT FROM 'VARCHAR'"); }

}  // namespace

Result<std::int64_t> Lake::current_version(duck::Connection& connection) const {
  if (!exists_) return 0;
  WEIR_TRY(const auto rows,
           read(connection, *this, Sql("SELECT id FROM {}.current_snapshot()", duck::Identifier(reader_))));
  return rows.integer(0, 0);
}

Result<std::int64_t> Lake::newest_version(duck::Connection& connection) const {
  if (!exists_) return 0;
  if (config_.version) return *config_.version;
  WEIR_TRY(const auto rows,
           read(connection, *this, Sql("SELECT max(snapshot_id) FROM {}", metadata("ducklake_snapshot"))));
  return rows.integer(0, 0);
}

Result<std::int64_t> Lake::base_version(duck::Connection& writer) const {
  if (!exists_) return 0;
  WEIR_TRY(const auto rows,
           read(writer, *this, Sql("SELECT id FROM {}.current_snapshot()", duck::Identifier(writer_))));
  return rows.integer(0, 0);
}

Result<Lake::Changes> Lake::changes_after(duck::Connection& connection, std::int64_t after) const {
  Changes result;
  result.newest = after;
  if (!exists_) return result;
  const std::int64_t until = config_.version.value_or(std::numeric_limits<std::int64_t>::max());
  WEIR_TRY(
      const auto names,
      read(connection, *this,
           Sql("SELECT t.table_id, s.schema_name, t.table_name, t.begin_snapshot FROM {} t JOIN {} s USING (schema_id) "
               "WHERE {} AND {} UNION ALL SELECT v.view_id, s.schema_name, v.view_name, v.begin_snapshot FROM {} v "
               "JOIN {} s USING (schema_id) WHERE {} AND {} AND NOT {} UNION ALL "
               // Dropped, or replaced: the name changed with the version that ended it.
               "SELECT NULL, s.schema_name, t.table_name, max(t.end_snapshot) FROM {} t JOIN {} s USING (schema_id) "
               "WHERE t.end_snapshot > {} AND t.end_snapshot <= {} GROUP BY ALL UNION ALL "
               "SELECT NULL, s.schema_name, v.view_name, max(v.end_snapshot) FROM {} v JOIN {} s USING (schema_id) "
               "WHERE v.end_snapshot > {} AND v.end_snapshot <= {} AND NOT {} GROUP BY ALL",
               metadata("ducklake_table"), metadata("ducklake_schema"), live_at("t", until), live_at("s", until),
               metadata("ducklake_view"), metadata("ducklake_schema"), live_at("v", until), live_at("s", until),
               is_deferral("v"), metadata("ducklake_table"), metadata("ducklake_schema"), after, until,
               metadata("ducklake_view"), metadata("ducklake_schema"), after, until, is_deferral("v"))));
  WEIR_TRY(const auto rows,
           read(connection, *this,
                Sql("SELECT c.snapshot_id, c.changes_made, {} FROM {} c WHERE c.snapshot_id > {} AND c.snapshot_id <= "
                    "{} ORDER BY c.snapshot_id",
                    is_commit_record(), metadata("ducklake_snapshot_changes"), after, until)));
  std::unordered_set<std::int64_t> ours;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows.text(i, 2) == "true") ours.insert(rows.integer(i, 0));
  const auto note = [&](const std::string& key, std::int64_t version) {
    const auto raise = [version](std::int64_t& known) { known = std::max(known, version); };
    raise(result.tables[key]);
    if (!ours.contains(version)) raise(result.foreign[key]);
  };
  std::unordered_map<std::int64_t, std::string> keys;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string key = Asset{AssetKind::Lake, config_.name, names.text(i, 1), names.text(i, 2)}.key();
    const std::int64_t version = names.integer(i, 3);
    if (version > after) note(key, version);
    if (names.is_null(i, 0)) continue;
    result.made[key] = version;
    keys[names.integer(i, 0)] = std::move(key);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    result.newest = std::max(result.newest, rows.integer(i, 0));
    const std::string changes = rows.text(i, 1);
    for (const Change& change : parse_changes(changes)) {
      if (!change.id || !change.alters_content()) continue;
      if (const auto key = keys.find(*change.id); key != keys.end()) note(key->second, rows.integer(i, 0));
    }
  }
  return result;
}

Result<std::vector<Relation>> Lake::relations(duck::Connection& connection) const {
  std::vector<Relation> relations;
  if (!exists_) return relations;
  const std::int64_t until = config_.version.value_or(std::numeric_limits<std::int64_t>::max());
  WEIR_TRY(const auto rows,
           read(connection, *this,
                Sql("SELECT s.schema_name, t.table_name, false, NULL FROM {} t JOIN {} s USING (schema_id) WHERE {} "
                    "AND {} UNION ALL SELECT s.schema_name, v.view_name, true, CASE WHEN {} THEN replace(v.sql[15:], "
                    "'\"', '') END "
                    "FROM {} v "
                    "JOIN {} s USING (schema_id) WHERE {} AND {} ORDER BY 1, 2",
                    metadata("ducklake_table"), metadata("ducklake_schema"), live_at("t", until), live_at("s", until),
                    is_deferral("v"), metadata("ducklake_view"), metadata("ducklake_schema"), live_at("v", until),
                    live_at("s", until))));
  for (std::size_t i = 0; i < rows.size(); ++i)
    relations.push_back({rows.text(i, 0), rows.text(i, 1), rows.boolean(i, 2), rows.text(i, 3)});
  return relations;
}

namespace {

/// Every id that the asset's table or view has had: a replaced table gets a new one. Views on a parent's rows are none
/// of its own.
Result<std::unordered_set<std::int64_t>> ids_of(duck::Connection& connection, const Lake& lake, const Asset& asset) {
  std::unordered_set<std::int64_t> ids;
  WEIR_TRY(const auto rows,
           read(connection, lake,
                Sql("SELECT t.table_id FROM {} t JOIN {} s USING (schema_id) WHERE "
                    "lower(s.schema_name) = lower({}) AND lower(t.table_name) = lower({}) "
                    "UNION SELECT v.view_id FROM {} v JOIN {} s USING (schema_id) WHERE "
                    "lower(s.schema_name) = lower({}) AND lower(v.view_name) = lower({}) AND NOT {}",
                    lake.metadata("ducklake_table"), lake.metadata("ducklake_schema"), Literal(asset.schema),
                    Literal(asset.name), lake.metadata("ducklake_view"), lake.metadata("ducklake_schema"),
                    Literal(asset.schema), Literal(asset.name), is_deferral("v"))));
  for (std::size_t i = 0; i < rows.size(); ++i) ids.insert(rows.integer(i, 0));
  return ids;
}

/// Versions that made a view on a parent's rows under the asset's name.
Result<std::unordered_set<std::int64_t>> deferrals_of(duck::Connection& connection, const Lake& lake,
                                                      const Asset& asset) {
  std::unordered_set<std::int64_t> versions;
  if (lake.config().fork_of.empty()) return versions;
  WEIR_TRY(const auto rows,
           read(connection, lake,
                Sql("SELECT v.begin_snapshot FROM {} v JOIN {} s USING (schema_id) WHERE {} AND lower(s.schema_name) = "
                    "lower({}) AND lower(v.view_name) = lower({})",
                    lake.metadata("ducklake_view"), lake.metadata("ducklake_schema"), is_deferral("v"),
                    Literal(asset.schema), Literal(asset.name))));
  for (std::size_t i = 0; i < rows.size(); ++i) versions.insert(rows.integer(i, 0));
  return versions;
}

/// `made_views`: what the version made under the asset's name is no view of its own.
bool names_any(const std::string& changes, const std::unordered_set<std::int64_t>& ids, const Asset& asset,
               bool made_views) {
  const auto same = [](std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
  };
  const auto parsed = parse_changes(changes);
  return std::any_of(parsed.begin(), parsed.end(), [&](const Change& change) {
    if (change.id) return ids.contains(*change.id);
    if (made_views && change.kind == "created_view") return false;
    return same(change.schema, asset.schema) && same(change.name, asset.name);
  });
}

/// Rows added and removed by each version among `ids` (all tables if nothing), from the files' records.
Result<void> count_changes(duck::Connection& connection, const Lake& lake,
                           const std::optional<std::unordered_set<std::int64_t>>& ids,
                           std::vector<VersionRecord>& records) {
  if (records.empty()) return {};
  Sql among("true");
  if (ids) {
    std::vector<Sql> numbers{Sql("-1")};
    for (const std::int64_t id : *ids) numbers.push_back(Sql("{}", id));
    among = Sql("table_id IN ({})", Sql::join(numbers, ", "));
  }
  const std::int64_t oldest = records.back().version;
  const duck::TableName files = lake.metadata("ducklake_data_file");
  const duck::TableName deletes = lake.metadata("ducklake_delete_file");
  WEIR_TRY(const auto rows,
           read(connection, lake,
                Sql("SELECT v, sum(added)::BIGINT, sum(removed)::BIGINT FROM ("
                    "SELECT begin_snapshot AS v, record_count AS added, 0 AS removed FROM {} WHERE begin_snapshot >= "
                    "{} AND {} UNION ALL "
                    "SELECT end_snapshot, 0, record_count FROM {} WHERE end_snapshot >= {} AND {} UNION ALL "
                    "SELECT begin_snapshot, 0, delete_count FROM {} WHERE begin_snapshot >= {} AND {} UNION ALL "
                    "SELECT end_snapshot, 0, -delete_count FROM {} WHERE end_snapshot >= {} AND {}) GROUP BY v",
                    files, oldest, among, files, oldest, among, deletes, oldest, among, deletes, oldest, among)));
  std::unordered_map<std::int64_t, std::size_t> at;
  for (std::size_t i = 0; i < records.size(); ++i) at[records[i].version] = i;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto record = at.find(rows.integer(i, 0));
    if (record == at.end()) continue;
    records[record->second].rows_added = rows.integer(i, 1);
    records[record->second].rows_removed = rows.integer(i, 2);
  }
  return {};
}

}  // namespace

Result<std::vector<VersionRecord>> Lake::history(duck::Connection& connection, const std::optional<Asset>& asset,
                                                 std::size_t limit) const {
  std::vector<VersionRecord> records;
  if (!exists_) return records;
  std::optional<std::unordered_set<std::int64_t>> ids;
  std::unordered_set<std::int64_t> deferrals;
  if (asset) {
    WEIR_TRY(ids, ids_of(connection, *this, *asset));
    WEIR_TRY(deferrals, deferrals_of(connection, *this, *asset));
  }
  Sql query = version_columns(*this);
  if (config_.version) query += Sql(" WHERE c.snapshot_id <= {}", *config_.version);
  query += Sql(" ORDER BY c.snapshot_id DESC");
  if (!asset) query += Sql(" LIMIT {}", limit);
  WEIR_TRY(const auto rows, read(connection, *this, query));
  for (std::size_t i = 0; i < rows.size() && records.size() < limit; ++i)
    if (!asset || names_any(rows.text(i, 5), *ids, *asset, deferrals.contains(rows.integer(i, 0))))
      records.push_back(record_of(rows, i));
  WEIR_CHECK(count_changes(connection, *this, ids, records));
  return records;
}

Result<std::vector<VersionRecord>> Lake::commits_after(duck::Connection& connection, std::int64_t after) const {
  std::vector<VersionRecord> records;
  if (!exists_) return records;
  WEIR_TRY(const auto rows, read(connection, *this,
                                 Sql("{} WHERE c.snapshot_id > {} AND {} ORDER BY c.snapshot_id",
                                     version_columns(*this), after, is_commit_record())));
  for (std::size_t i = 0; i < rows.size(); ++i) records.push_back(record_of(rows, i));
  return records;
}

Result<std::optional<std::int64_t>> Lake::version_of_token(duck::Connection& connection, const std::string& token,
                                                           std::int64_t after) const {
  if (!exists_) return std::optional<std::int64_t>();
  WEIR_TRY(const auto rows,
           read(connection, *this,
                Sql("SELECT c.snapshot_id FROM {} c WHERE c.snapshot_id > {} AND {} AND "
                    "json_extract_string(c.commit_extra_info, '$.token') = {} ORDER BY 1",
                    metadata("ducklake_snapshot_changes"), after, is_commit_record(), Literal(token))));
  if (rows.size() == 0) return std::optional<std::int64_t>();
  return std::optional(rows.integer(0, 0));
}

}  // namespace weir::lake
