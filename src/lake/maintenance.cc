#include "lake/maintenance.h"

#include <fmt/format.h>

#include <algorithm>

#include "lake/unknown_files.h"

namespace weir::lake {
namespace {

using duck::Literal;
using duck::Rows;
using duck::Sql;

/// Share of deleted rows from which a file is written anew. DuckLake's own is 0.95, at which half of each scan may read
/// rows that are gone.
constexpr const char* kDeletedShare = "0.2";
/// Files below this size are small: DuckLake's own target size.
constexpr std::int64_t kTargetBytes = 512'000'000;
/// Versions that one statement ends.
constexpr std::size_t kVersionsAtOnce = 1'000;

Failed failed(const Lake& lake, const std::string& doing, const duck::Failure& failure) {
  return fail(explain(Code::W6620, fmt::format("lake {}: {}", lake.name(), doing), failure));
}

Result<Rows> read(duck::Connection& connection, const Lake& lake, const Sql& sql) {
  auto rows = connection.query(sql);
  if (!rows) return fail(explain(Code::W6003, "the lake " + lake.name() + " cannot be read", rows.error()));
  return std::move(*rows);
}

Sql call_of(const Lake& lake, Compaction compaction) {
  if (compaction == Compaction::Merge) return Sql("CALL ducklake_merge_adjacent_files({})", Literal(lake.writer()));
  return Sql("CALL ducklake_rewrite_data_files({}, delete_threshold => {})", Literal(lake.writer()),
             Sql::verbatim(kDeletedShare));
}

/// One row a group of files: schema, table, files read, files written.
Compacted counted(const Rows& groups) {
  Compacted done;
  std::set<std::pair<std::string, std::string>> tables;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    tables.emplace(groups.text(i, 0), groups.text(i, 1));
    done.files_before += groups.integer(i, 2);
    done.files_after += groups.integer(i, 3);
  }
  done.tables = static_cast<std::int64_t>(tables.size());
  return done;
}

Sql timestamp(Micros micros) { return Sql("make_timestamptz({})", micros); }

}  // namespace

Result<Compacted> compact(duck::Connection& writer, const Lake& lake, Compaction compaction, const CommitRecord& record,
                          const std::string& author) {
  const std::string doing = compaction == Compaction::Merge ? "merging small files" : "rewriting files with deletes";
  auto transaction = duck::Transaction::begin(writer);
  if (!transaction) return failed(lake, doing, transaction.error());
  WEIR_TRY(const std::int64_t base, lake.base_version(writer));
  auto groups = writer.query(call_of(lake, compaction));
  if (!groups) return failed(lake, doing, groups.error());
  Compacted done = counted(*groups);
  if (done.files_before == 0) return done;
  WEIR_TRY(done.version, commit(writer, lake, std::move(*transaction), record, author,
                                fmt::format("{}: {} into {}", doing, done.files_before, done.files_after), base));
  return done;
}

Result<Compacted> compactable(duck::Connection& connection, const Lake& lake, Compaction compaction) {
  Compacted found;
  if (!lake.exists()) return found;
  const Sql live("end_snapshot IS NULL");
  const Sql query =
      compaction == Compaction::Merge
          ? Sql("SELECT count(DISTINCT table_id), coalesce(sum(n), 0)::BIGINT, count(*) FROM (SELECT f.table_id, "
                "count(*) AS n FROM {} f LEFT JOIN (SELECT data_file_id, string_agg(coalesce(partition_value, '') || "
                "chr(0), '' ORDER BY partition_key_index) AS p FROM {} GROUP BY 1) v USING (data_file_id) LEFT JOIN {} "
                "d ON d.data_file_id = f.data_file_id AND d.{} WHERE f.{} AND d.data_file_id IS NULL AND "
                "f.file_size_bytes < {} GROUP BY f.table_id, v.p HAVING count(*) > 1)",
                lake.metadata("ducklake_data_file"), lake.metadata("ducklake_file_partition_value"),
                lake.metadata("ducklake_delete_file"), live, live, kTargetBytes)
          : Sql("SELECT count(DISTINCT f.table_id), count(*), count(*) FILTER (d.delete_count < f.record_count) FROM "
                "{} f JOIN {} d ON d.data_file_id = f.data_file_id AND d.{} WHERE f.{} AND d.delete_count >= {} * "
                "f.record_count",
                lake.metadata("ducklake_data_file"), lake.metadata("ducklake_delete_file"), live, live,
                Sql::verbatim(kDeletedShare));
  WEIR_TRY(const Rows rows, read(connection, lake, query));
  found.tables = rows.integer(0, 0);
  found.files_before = rows.integer(0, 1);
  found.files_after = rows.integer(0, 2);
  return found;
}

Result<NeededVersions> versions_that_tell(duck::Connection& connection, const Lake& lake) {
  NeededVersions needed;
  WEIR_TRY(const Lake::Changes changes, lake.changes_after(connection, 0));
  for (const auto& [asset, version] : changes.tables) needed.emplace(version, "it is the newest of a table");
  for (const auto& [asset, version] : changes.foreign) needed.emplace(version, "somebody else wrote to a table in it");
  needed.emplace(changes.newest, "it is the newest of the lake");
  return needed;
}

Result<NeededVersions> versions_since(duck::Connection& connection, const Lake& lake, Micros time,
                                      const std::string& reason) {
  NeededVersions needed;
  if (!lake.exists()) return needed;
  WEIR_TRY(const Rows rows,
           read(connection, lake,
                Sql("SELECT snapshot_id FROM {} WHERE snapshot_id >= (SELECT coalesce(max(snapshot_id), 0) FROM {} "
                    "WHERE epoch_us(snapshot_time::TIMESTAMPTZ) <= {})",
                    lake.metadata("ducklake_snapshot"), lake.metadata("ducklake_snapshot"), time)));
  for (std::size_t i = 0; i < rows.size(); ++i) needed.emplace(rows.integer(i, 0), reason);
  return needed;
}

Result<Expiry> expirable(duck::Connection& connection, const Lake& lake, Micros before, const NeededVersions& needed) {
  Expiry expiry;
  if (!lake.exists()) return expiry;
  WEIR_TRY(const Rows rows,
           read(connection, lake,
                Sql("SELECT snapshot_id FROM {} WHERE epoch_us(snapshot_time::TIMESTAMPTZ) < {} ORDER BY 1",
                    lake.metadata("ducklake_snapshot"), before)));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto kept = needed.find(rows.integer(i, 0));
    if (kept == needed.end())
      expiry.expired.push_back(rows.integer(i, 0));
    else
      ++expiry.kept[kept->second];
  }
  return expiry;
}

Result<void> expire(duck::Connection& writer, const Lake& lake, const std::vector<std::int64_t>& versions) {
  for (std::size_t begin = 0; begin < versions.size(); begin += kVersionsAtOnce) {
    std::vector<Sql> some;
    for (std::size_t i = begin; i < std::min(begin + kVersionsAtOnce, versions.size()); ++i)
      some.push_back(Sql("{}", versions[i]));
    if (auto done = writer.execute(
            Sql("CALL ducklake_expire_snapshots({}, versions => [{}])", Literal(lake.writer()), Sql::join(some, ", ")));
        !done)
      return failed(lake, "expiring versions", done.error());
  }
  return {};
}

Result<std::int64_t> remove_old_files(duck::Connection& connection, const Lake& lake, Micros before, bool dry_run) {
  if (!lake.exists()) return 0;
  if (dry_run) {
    WEIR_TRY(const Rows rows, read(connection, lake,
                                   Sql("SELECT count(*) FROM {} WHERE epoch_us(schedule_start::TIMESTAMPTZ) < {}",
                                       lake.metadata("ducklake_files_scheduled_for_deletion"), before)));
    return rows.integer(0, 0);
  }
  auto files = connection.query(
      Sql("CALL ducklake_cleanup_old_files({}, older_than => {})", Literal(lake.writer()), timestamp(before)));
  if (!files) return failed(lake, "removing old files", files.error());
  return static_cast<std::int64_t>(files->size());
}

Result<std::int64_t> remove_unknown_files(duck::Connection& connection, const Lake& lake, Micros before,
                                          const std::set<std::string>& live_runs, bool dry_run) {
  if (!is_on_object_storage(lake)) return remove_unknown(connection, lake, before, live_runs, dry_run);
  auto files =
      connection.query(Sql("CALL ducklake_delete_orphaned_files({}, older_than => {}, dry_run => {})",
                           Literal(dry_run ? lake.reader() : lake.writer()), timestamp(before), Literal(dry_run)));
  if (!files) return failed(lake, "removing unknown files", files.error());
  return static_cast<std::int64_t>(files->size());
}

}  // namespace weir::lake
