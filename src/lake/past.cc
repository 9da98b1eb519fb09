#include "lake/past.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

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

Failed no_version(std::string message) {
  return fail(
      Diagnostic{.code = Code::W6601, .message = std::move(message), .hint = "`weir history ASSET` lists versions"});
}

Failed expired(std::string message) {
  return fail(Diagnostic{
      .code = Code::W6602, .message = std::move(message), .hint = "`weir history ASSET` lists those that are left"});
}

/// True of a JSON object with a text `weir`; anything else is what a foreign writer left.
Sql is_commit_record() { return Sql("TRY(json_type(c.commit_extra_info, '$.weir')) IS NOT DISTINCT FROM 'VARCHAR'"); }

/// Records of weir hold the key of every asset they name as a JSON text.
Sql names_asset(const Asset& asset) {
  return Sql("contains(c.commit_extra_info, {})",
             Literal(nlohmann::json(asset.key()).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
}

/// Versions with a commit record for which `condition` holds, newest first.
Result<std::vector<VersionRecord>> commits(duck::Connection& connection, const Lake& lake, const Sql& condition,
                                           std::size_t limit) {
  WEIR_TRY(const Rows found, read(connection, lake,
                                  Sql("SELECT c.snapshot_id, c.commit_extra_info FROM {} c WHERE {} AND {} ORDER BY "
                                      "c.snapshot_id DESC LIMIT {}",
                                      lake.metadata("ducklake_snapshot_changes"), condition, is_commit_record(),
                                      static_cast<std::int64_t>(std::min<std::size_t>(limit, INT64_MAX)))));
  std::vector<VersionRecord> records;
  for (std::size_t i = 0; i < found.size(); ++i) {
    VersionRecord record;
    record.version = found.integer(i, 0);
    record.extra_info = found.text(i, 1);
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace

Result<void> require_version(duck::Connection& connection, const Lake& lake, std::int64_t version) {
  WEIR_TRY(const std::int64_t newest, lake.newest_version(connection));
  if (version < 0 || version > newest)
    return no_version(fmt::format("lake {} has no version {}; its newest is {}", lake.name(), version, newest));
  if (!lake.exists()) return {};
  WEIR_TRY(const Rows found,
           read(connection, lake,
                Sql("SELECT count(*) FROM {} WHERE snapshot_id = {}", lake.metadata("ducklake_snapshot"), version)));
  if (found.integer(0, 0) > 0) return {};
  return expired(fmt::format("version {} of lake {} has expired", version, lake.name()));
}

Result<std::int64_t> version_before(duck::Connection& connection, const Lake& lake, std::int64_t micros) {
  if (!lake.exists()) return no_version(fmt::format("lake {} has no versions yet", lake.name()));
  WEIR_TRY(const Rows found, read(connection, lake,
                                  Sql("SELECT max(snapshot_id), (SELECT min(snapshot_id) FROM {}) FROM {} WHERE "
                                      "epoch_us(snapshot_time::TIMESTAMPTZ) < {}",
                                      lake.metadata("ducklake_snapshot"), lake.metadata("ducklake_snapshot"), micros)));
  const std::int64_t oldest = found.integer(0, 1);
  if (found.is_null(0, 0)) {
    if (oldest > 0) return expired(fmt::format("the versions of lake {} of that time have expired", lake.name()));
    return no_version(fmt::format("lake {} has no version as old as that", lake.name()));
  }
  const std::int64_t version = found.integer(0, 0);
  // Versions are numbered without gaps: where the next one is not there, it or what followed may have been older too.
  WEIR_TRY(const std::int64_t newest, lake.newest_version(connection));
  if (version == newest) return version;
  if (auto next = require_version(connection, lake, version + 1); !next)
    return expired(fmt::format(
        "version {} of lake {} has expired, and it may be the newest before that time; the one before is {}",
        version + 1, lake.name(), version));
  return version;
}

Result<std::int64_t> version_of_run(duck::Connection& connection, const Lake& lake, const std::string& run,
                                    const Asset& asset) {
  std::vector<VersionRecord> records;
  if (lake.exists()) {
    WEIR_TRY(records, commits(connection, lake,
                              Sql("{} AND upper(json_extract_string(c.commit_extra_info, '$.run')) = upper({})",
                                  names_asset(asset), Literal(run)),
                              SIZE_MAX));
  }
  for (const VersionRecord& record : records) {
    const auto commit = CommitRecord::from_json(record.extra_info);
    if (commit && std::any_of(commit->steps.begin(), commit->steps.end(),
                              [&asset](const CommittedStep& step) { return step.asset == asset.key(); }))
      return record.version;
  }
  return fail(Diagnostic{.code = Code::W6605,
                         .message = fmt::format("run {} wrote no version of {} that is still there", run, asset.uri()),
                         .hint = "`weir history ASSET` lists versions with their runs"});
}

Result<PastTable> table_at(duck::Connection& connection, const Lake& lake, const Asset& asset, std::int64_t version) {
  PastTable past;
  if (lake.exists()) {
    WEIR_TRY(auto states, lake.observe(connection, {asset}, version));
    past.state = std::move(states.at(asset.key()));
  }
  if (!past.state.exists || past.state.is_view)
    return fail(Diagnostic{.code = Code::W6603,
                           .message = fmt::format("{} {} in version {}", asset.uri(),
                                                  past.state.is_view ? "was a view" : "did not exist", version),
                           .hint = "`weir history ASSET` lists the versions of an asset"});
  WEIR_TRY(const Rows found,
           read(connection, lake,
                Sql("SELECT begin_snapshot FROM {} WHERE table_id = {} AND begin_snapshot <= {} AND (end_snapshot IS "
                    "NULL OR end_snapshot > {})",
                    lake.metadata("ducklake_table"), past.state.table_id, version, version)));
  past.made = found.integer(0, 0);
  return past;
}

Result<std::optional<std::int64_t>> foreign_change(duck::Connection& connection, const Lake& lake,
                                                   std::int64_t table_id, std::int64_t after, std::int64_t until) {
  WEIR_TRY(const Rows found, read(connection, lake,
                                  Sql("SELECT c.snapshot_id, c.changes_made FROM {} c WHERE c.snapshot_id > {} AND "
                                      "c.snapshot_id <= {} AND NOT {} ORDER BY c.snapshot_id DESC",
                                      lake.metadata("ducklake_snapshot_changes"), after, until, is_commit_record())));
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::string changes = found.text(i, 1);
    for (const Change& change : parse_changes(changes))
      if (change.id == table_id && change.alters_content()) return std::optional(found.integer(i, 0));
  }
  return std::optional<std::int64_t>();
}

Result<std::vector<VersionRecord>> commits_of(duck::Connection& connection, const Lake& lake, const Asset& asset,
                                              std::int64_t after, std::int64_t until, std::size_t limit) {
  if (!lake.exists()) return std::vector<VersionRecord>();
  return commits(connection, lake,
                 Sql("c.snapshot_id > {} AND c.snapshot_id <= {} AND {}", after, until, names_asset(asset)), limit);
}

}  // namespace weir::lake
