#include "lake/touched.h"

#include <algorithm>

#include "lake/changes.h"
#include "lake/commit.h"

namespace weir::lake {
namespace {

using duck::Literal;
using duck::Rows;
using duck::Sql;

Result<Rows> read(duck::Connection& connection, const Lake& lake, const Sql& sql) {
  auto rows = connection.query(sql);
  if (!rows) return fail(explain(Code::W6003, "the lake " + lake.name() + " cannot be read", rows.error()));
  return std::move(*rows);
}

/// The text of a bound as microseconds, NULL where it is none.
Sql micros(const char* bound, const std::string& type) {
  const Sql value("TRY_CAST(s.{} AS {})", duck::Identifier(bound), Sql::verbatim(type));
  if (type == "TIMESTAMP WITH TIME ZONE") return Sql("epoch_us({})", value);
  return Sql("epoch_us(TRY_CAST({} AS TIMESTAMP))", value);
}

/// Versions in which a file of the table came, went, or got other deletes.
Sql events(const Lake& lake, std::int64_t table, std::int64_t after) {
  std::vector<Sql> parts;
  for (const char* records : {"ducklake_data_file", "ducklake_delete_file"})
    for (const char* when : {"begin_snapshot", "end_snapshot"})
      parts.push_back(Sql("SELECT data_file_id, {} AS version FROM {} WHERE table_id = {} AND {} > {}",
                          duck::Identifier(when), lake.metadata(records), table, duck::Identifier(when), after));
  return Sql::join(parts, " UNION ");
}

Result<void> read_files(duck::Connection& connection, const Lake& lake, const TableState& state,
                        const ColumnState& column, std::int64_t after, Touched& touched) {
  const bool is_partition = column.name == kPartitionColumn;
  const Sql none("CAST(NULL AS BIGINT)");
  WEIR_TRY(const Rows rows,
           read(connection, lake,
                Sql("SELECT e.version, {}, {}, p.partition_value FROM ({}) AS e LEFT JOIN ("
                    "SELECT s.* FROM {} AS s JOIN {} AS c ON c.table_id = s.table_id AND c.column_id = s.column_id AND "
                    "c.end_snapshot IS NULL AND c.parent_column IS NULL AND lower(c.column_name) = lower({}) "
                    "WHERE s.table_id = {}) AS s USING (data_file_id) LEFT JOIN {} AS p ON "
                    "p.data_file_id = e.data_file_id AND p.partition_key_index = 0",
                    is_partition ? none : micros("min_value", column.type),
                    is_partition ? none : micros("max_value", column.type), events(lake, state.table_id, after),
                    lake.metadata("ducklake_file_column_stats"), lake.metadata("ducklake_column"),
                    Literal(std::string_view(column.name)), state.table_id,
                    lake.metadata("ducklake_file_partition_value"))));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    TouchedFile file{.version = rows.integer(i, 0), .partition = {}, .bounds = {}};
    if (!rows.is_null(i, 1) && !rows.is_null(i, 2)) file.bounds = {rows.integer(i, 1), rows.integer(i, 2)};
    if (state.is_partitioned()) file.partition = rows.maybe_text(i, 3);
    touched.files.push_back(std::move(file));
  }
  return {};
}

void take_slices(std::int64_t version, const std::string& commit, const std::string& key, Touched& touched) {
  const auto record = CommitRecord::from_json(commit);
  if (!record) return;
  std::set<std::string> slices;
  for (const CommittedStep& step : record->steps) {
    if (step.asset != key) continue;
    // Rows that are put back or copied lie where they lay.
    if (step.strategy == "restore" || step.strategy == "seed") return;
    slices.insert(step.slice);
  }
  if (!slices.empty()) touched.slices.emplace(version, std::move(slices));
}

bool moves_rows_only(const Change& change) {
  return change.kind == "inserted_into_table" || change.kind == "deleted_from_table";
}

}  // namespace

Result<Touched> touched_after(duck::Connection& connection, const Lake& lake, const Asset& table,
                              const std::string& column, std::int64_t after) {
  Touched touched;
  WEIR_TRY(const std::int64_t newest, lake.newest_version(connection));
  WEIR_TRY(const auto states, lake.observe(connection, {table}, newest));
  const TableState& state = states.at(table.key());
  const ColumnState* read_column = state.column(column);
  // What files a version ended may be forgotten together with it.
  WEIR_TRY(const Rows oldest,
           read(connection, lake,
                Sql("SELECT count(*) FROM {} WHERE snapshot_id = {}", lake.metadata("ducklake_snapshot"), after)));
  if (!state.exists || state.is_view || read_column == nullptr || oldest.integer(0, 0) == 0) {
    touched.anywhere_until = newest;
    return touched;
  }
  WEIR_CHECK(read_files(connection, lake, state, *read_column, after, touched));
  WEIR_TRY(const Rows versions,
           read(connection, lake,
                Sql("SELECT snapshot_id, changes_made, commit_extra_info FROM {} WHERE snapshot_id > {}",
                    lake.metadata("ducklake_snapshot_changes"), after)));
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const std::int64_t version = versions.integer(i, 0);
    bool is_changed = false;
    const std::string changes = versions.text(i, 1);
    for (const Change& change : parse_changes(changes)) {
      if (change.id != state.table_id) continue;
      is_changed = true;
      if (!moves_rows_only(change)) touched.anywhere_until = std::max(touched.anywhere_until, version);
    }
    if (is_changed) take_slices(version, versions.text(i, 2), table.key(), touched);
  }
  return touched;
}

}  // namespace weir::lake
