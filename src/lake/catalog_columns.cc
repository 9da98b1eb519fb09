#include "lake/catalog_columns.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <memory>
#include <optional>

#include "lake/catalog_probe.h"
#include "lake/column_type.h"
#include "lake/lakes.h"
#include "lake/postgres.h"

namespace weir::lake {
namespace {

using Row = std::vector<std::optional<std::string>>;
using Asked = tl::expected<std::vector<Row>, std::string>;

// One row a column, parts of nested ones among them, and one a view. Both databases understand it.
constexpr const char* kQuery =
    "SELECT * FROM (SELECT s.schema_name, t.table_name, c.column_id, c.parent_column, c.column_name, c.column_type, "
    "c.table_id, c.column_order "
    "FROM ducklake_table t JOIN ducklake_schema s ON s.schema_id = t.schema_id "
    "JOIN ducklake_column c ON c.table_id = t.table_id "
    "WHERE t.end_snapshot IS NULL AND s.end_snapshot IS NULL AND c.end_snapshot IS NULL "
    "UNION ALL SELECT s.schema_name, v.view_name, NULL, NULL, NULL, NULL, -1, 0 "
    "FROM ducklake_view v JOIN ducklake_schema s ON s.schema_id = v.schema_id "
    "WHERE v.end_snapshot IS NULL AND s.end_snapshot IS NULL) AS found ORDER BY table_id, column_order, column_id";

Asked ask_sqlite(const std::string& path) {
  sqlite3* raw = nullptr;
  const int opened = sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READONLY, nullptr);
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> database(raw, sqlite3_close);
  if (opened != SQLITE_OK) return tl::unexpected(std::string(sqlite3_errmsg(raw)));
  sqlite3_busy_timeout(raw, 10'000);
  sqlite3_stmt* statement = nullptr;
  const int prepared = sqlite3_prepare_v2(raw, kQuery, -1, &statement, nullptr);
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> query(statement, sqlite3_finalize);
  if (prepared != SQLITE_OK) return tl::unexpected(std::string(sqlite3_errmsg(raw)));
  std::vector<Row> rows;
  int step = SQLITE_ROW;
  while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
    Row& row = rows.emplace_back();
    for (int i = 0; i < 6; ++i) {
      const auto* text = sqlite3_column_text(statement, i);
      row.push_back(text == nullptr ? std::nullopt : std::optional<std::string>(reinterpret_cast<const char*>(text)));
    }
  }
  if (step != SQLITE_DONE) return tl::unexpected(std::string(sqlite3_errmsg(raw)));
  return rows;
}

Asked ask_postgres(const LakeConfig& lake) {
  auto session = PostgresSession::open(lake.catalog.target, lake.metadata_schema);
  if (!session) return tl::unexpected(session.error());
  return session->rows(kQuery);
}

/// The columns of one table, whose records stand together.
std::vector<duck::Column> columns_of(const std::vector<ColumnRecord>& records) {
  std::vector<duck::Column> columns;
  for (std::size_t i = 0; i < records.size(); ++i)
    if (!records[i].parent) columns.push_back({records[i].name, spell_type(records, i)});
  return columns;
}

}  // namespace

Result<CatalogColumns> catalog_columns(const LakeConfig& lake, const std::vector<Asset>& wanted) {
  CatalogColumns found;
  WEIR_TRY(const bool is_there, is_present(lake));
  if (!is_there) return found;
  const bool is_postgres = lake.catalog.kind == DatabaseLocation::Kind::Postgres;
  const Asked rows = is_postgres ? ask_postgres(lake) : ask_sqlite(lake.catalog.target);
  if (!rows)
    return fail(Diagnostic{.code = Code::W6003,
                           .message = fmt::format("lake {} ({}) cannot be read: {}", lake.name, lake.catalog.shown,
                                                  mask_secrets(rows.error()))});
  std::set<std::string> keys;
  for (const Asset& asset : wanted) keys.insert(asset.key());
  std::string current;
  std::vector<ColumnRecord> records;
  const auto finish = [&] {
    if (!records.empty()) found.tables[current] = columns_of(records);
    records.clear();
  };
  for (const Row& row : *rows) {
    const std::string key = Asset{AssetKind::Lake, lake.name, row[0].value_or(""), row[1].value_or("")}.key();
    if (!keys.contains(key)) continue;
    if (!row[2]) {
      found.views.insert(key);
      continue;
    }
    if (key != current) finish();
    current = key;
    ColumnRecord record{std::stoll(*row[2]), std::nullopt, row[4].value_or(""), row[5].value_or("")};
    if (row[3]) record.parent = std::stoll(*row[3]);
    records.push_back(std::move(record));
  }
  finish();
  return found;
}

}  // namespace weir::lake
