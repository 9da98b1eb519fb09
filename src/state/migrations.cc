// See migrations.h.
#include "state/migrations.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "state/session.h"

namespace weir::state {
namespace {

struct Migration {
  int version;
  std::vector<const char*> statements;
};

// Times are TEXT in ISO 8601 UTC, which orders as time does. BIGINT has INTEGER affinity in SQLite. Numbers that may be
// unknown are nullable.
const std::vector<Migration> migrations_in_order = {
    Migration{1,
              {
                  R"(CREATE TABLE run (
  run TEXT PRIMARY KEY, environment TEXT NOT NULL, status TEXT NOT NULL, started TEXT NOT NULL, finished TEXT NOT NULL,
  command TEXT NOT NULL, host TEXT NOT NULL, pid BIGINT NOT NULL, result_json TEXT NOT NULL))",
                  "CREATE INDEX run_status ON run (status)",
                  R"(CREATE TABLE step (
  run TEXT NOT NULL, model TEXT NOT NULL, slice TEXT NOT NULL, asset TEXT NOT NULL, status TEXT NOT NULL, token TEXT NOT NULL,
  started TEXT NOT NULL, finished TEXT NOT NULL, result_json TEXT NOT NULL, PRIMARY KEY (run, model, slice)))",
                  R"(CREATE TABLE slice (
  environment TEXT NOT NULL, asset TEXT NOT NULL, slice TEXT NOT NULL, status TEXT NOT NULL, fingerprint TEXT NOT NULL,
  arguments_hash TEXT NOT NULL, run TEXT NOT NULL, model TEXT NOT NULL, snapshot_id BIGINT, row_count BIGINT, updated TEXT NOT NULL,
  error TEXT NOT NULL, tests_passed BIGINT NOT NULL, inputs TEXT NOT NULL, content TEXT NOT NULL,
  PRIMARY KEY (environment, asset, slice)))",
                  R"(CREATE TABLE asset_schema (
  environment TEXT NOT NULL, asset TEXT NOT NULL, version BIGINT NOT NULL, columns_json TEXT NOT NULL, snapshot_id BIGINT,
  run TEXT NOT NULL, captured TEXT NOT NULL, PRIMARY KEY (environment, asset, version)))",
                  R"(CREATE TABLE test_result (
  run TEXT NOT NULL, model TEXT NOT NULL, slice TEXT NOT NULL, ordinal BIGINT NOT NULL, asset TEXT NOT NULL, test TEXT NOT NULL,
  status TEXT NOT NULL, severity TEXT NOT NULL, violating BIGINT NOT NULL, sample_json TEXT NOT NULL, ms BIGINT NOT NULL,
  at TEXT NOT NULL, PRIMARY KEY (run, model, slice, ordinal)))",
                  "CREATE INDEX test_result_asset ON test_result (asset, at)",
                  R"(CREATE TABLE lease (
  asset TEXT NOT NULL, slice TEXT NOT NULL, run TEXT NOT NULL, host TEXT NOT NULL, pid BIGINT NOT NULL, fence BIGINT NOT NULL,
  since TEXT NOT NULL, heartbeat TEXT NOT NULL, PRIMARY KEY (asset, slice)))",
                  "CREATE INDEX lease_run ON lease (run)",
                  "CREATE TABLE reconciliation (lake TEXT PRIMARY KEY, version BIGINT NOT NULL)",
              }},
    // PATH orders by bytes in both databases: pages of a listing come in one order, and the names below a folder are a
    // range of an index. In the order of a locale they are no range, and an operator class that compares bytes
    // (text_pattern_ops) would serve LIKE alone, not the order of pages.
    Migration{2,
              {
                  R"(CREATE TABLE deployment (
  deployment PATH PRIMARY KEY, environment TEXT NOT NULL, time TEXT NOT NULL, run TEXT NOT NULL, command TEXT NOT NULL,
  host TEXT NOT NULL, written BIGINT NOT NULL, removed BIGINT NOT NULL, digest TEXT NOT NULL))",
                  "CREATE INDEX deployment_newest ON deployment (environment, deployment)",
                  R"(CREATE TABLE model (
  environment TEXT NOT NULL, model PATH NOT NULL, file TEXT NOT NULL, plane TEXT NOT NULL, strategy TEXT NOT NULL,
  asset TEXT NOT NULL, fingerprint TEXT NOT NULL, digest TEXT NOT NULL, source_hash TEXT NOT NULL, source TEXT NOT NULL,
  partitioned TEXT NOT NULL, tags_json TEXT NOT NULL, owner TEXT NOT NULL, description TEXT NOT NULL,
  schedule_cron TEXT NOT NULL, schedule_every TEXT NOT NULL, schedule_tz TEXT NOT NULL, freshness TEXT NOT NULL,
  deployed TEXT NOT NULL, deployment TEXT NOT NULL, PRIMARY KEY (environment, model)))",
                  R"(CREATE TABLE asset (
  environment TEXT NOT NULL, asset PATH NOT NULL, uri TEXT NOT NULL, kind TEXT NOT NULL, PRIMARY KEY (environment, asset)))",
                  R"(CREATE TABLE edge (
  environment TEXT NOT NULL, model PATH NOT NULL, asset PATH NOT NULL, kind TEXT NOT NULL, debounce TEXT NOT NULL,
  PRIMARY KEY (environment, model, asset, kind)))",
                  "CREATE INDEX edge_asset ON edge (environment, asset)",
                  // table_key is table_path in lower case: names compare without case. The primary key serves folders.
                  R"(CREATE TABLE data_metric (
  environment TEXT NOT NULL, script_path PATH NOT NULL, kind PATH NOT NULL, name PATH NOT NULL, table_path TEXT NOT NULL,
  table_key PATH NOT NULL, expr TEXT NOT NULL, filter TEXT, description TEXT NOT NULL, unit TEXT NOT NULL,
  format TEXT NOT NULL, created_at TEXT NOT NULL, PRIMARY KEY (environment, script_path, kind, name)))",
                  "CREATE INDEX data_metric_list ON data_metric (environment, table_key, kind, name, script_path)",
                  R"(CREATE TABLE macro (
  environment TEXT NOT NULL, library PATH NOT NULL, name PATH NOT NULL, definition TEXT NOT NULL, digest TEXT NOT NULL,
  PRIMARY KEY (environment, library, name)))",
              }},
    Migration{3,
              {
                  R"(CREATE TABLE library (
  environment TEXT NOT NULL, library PATH NOT NULL, file TEXT NOT NULL, source TEXT NOT NULL, digest TEXT NOT NULL,
  PRIMARY KEY (environment, library)))",
              }},
    // models_json of a promotion is the whole of what the environment shows: [[model, fingerprint, data, view], …].
    // snapshot holds the physical tables and views that weir owns.
    Migration{4,
              {
                  R"(CREATE TABLE environment (
  environment TEXT PRIMARY KEY, parent TEXT NOT NULL, settings_json TEXT NOT NULL, created TEXT NOT NULL))",
                  R"(CREATE TABLE promotion (
  environment TEXT NOT NULL, generation BIGINT NOT NULL, time TEXT NOT NULL, run TEXT NOT NULL, token TEXT NOT NULL,
  command TEXT NOT NULL, lake_version BIGINT, models_json TEXT NOT NULL, PRIMARY KEY (environment, generation)))",
                  R"(CREATE TABLE snapshot (
  asset PATH PRIMARY KEY, uri TEXT NOT NULL, model TEXT NOT NULL, fingerprint TEXT NOT NULL, environment TEXT NOT NULL,
  plane TEXT NOT NULL, run TEXT NOT NULL, created TEXT NOT NULL, source TEXT NOT NULL, unreferenced TEXT NOT NULL))",
              }},
    // One dispatch a producer's run, subscriber and slice: the key says so. What runs found fresh is mostly the same
    // from run to run, so its list is kept once.
    Migration{5,
              {
                  R"(CREATE TABLE cascade_run (
  run TEXT PRIMARY KEY, environment TEXT NOT NULL, host TEXT NOT NULL, created TEXT NOT NULL, selection_json TEXT NOT NULL,
  carried_json TEXT NOT NULL, decided TEXT NOT NULL))",
                  "CREATE INDEX cascade_run_decided ON cascade_run (environment, decided)",
                  R"(CREATE TABLE dispatch_event (
  environment TEXT NOT NULL, run PATH NOT NULL, subscriber PATH NOT NULL, slice PATH NOT NULL, outcome TEXT NOT NULL,
  state TEXT NOT NULL, reason TEXT NOT NULL, not_before TEXT NOT NULL, attempts BIGINT NOT NULL, child TEXT NOT NULL,
  carried_json TEXT NOT NULL, chain_json TEXT NOT NULL, inputs_json TEXT NOT NULL, log_json TEXT NOT NULL,
  decided TEXT NOT NULL, PRIMARY KEY (run, subscriber, slice)))",
                  "CREATE INDEX dispatch_event_state ON dispatch_event (environment, state)",
                  "CREATE INDEX dispatch_event_child ON dispatch_event (child)",
                  R"(CREATE TABLE join_pending_input (
  environment TEXT NOT NULL, subscriber PATH NOT NULL, slot PATH NOT NULL, input PATH NOT NULL, run TEXT NOT NULL,
  at TEXT NOT NULL, carried_json TEXT NOT NULL, PRIMARY KEY (environment, subscriber, slot, input)))",
                  "CREATE TABLE verified_models (digest TEXT PRIMARY KEY, models_json TEXT NOT NULL)",
                  R"(CREATE TABLE verified (
  run TEXT PRIMARY KEY, environment TEXT NOT NULL, digest TEXT NOT NULL, started TEXT NOT NULL, finished TEXT NOT NULL))",
                  "CREATE INDEX verified_newest ON verified (environment, digest, started)",
              }},
    // definition is what a generation needs to be compared and promoted: the texts of its models and macro libraries.
    // It takes the place of the text of a table, which is not that of a table that was kept under a new definition.
    Migration{
        6,
        {
            R"(CREATE TABLE definition (
  model PATH NOT NULL, fingerprint TEXT NOT NULL, local TEXT NOT NULL, file TEXT NOT NULL, plane TEXT NOT NULL,
  strategy TEXT NOT NULL, asset TEXT NOT NULL, source TEXT NOT NULL, libraries_json TEXT NOT NULL,
  PRIMARY KEY (model, fingerprint)))",
            "CREATE TABLE library_text (digest TEXT PRIMARY KEY, source TEXT NOT NULL)",
            "ALTER TABLE snapshot DROP COLUMN source",
            "CREATE TABLE taken_out (environment TEXT NOT NULL, model PATH NOT NULL, PRIMARY KEY (environment, model))",
        }}};

/// The statement in the dialect of the database.
std::string in_dialect(std::string statement, bool postgres) {
  constexpr std::string_view kPath = " PATH ";
  for (std::size_t at = 0; (at = statement.find(kPath, at)) != std::string::npos;)
    statement.replace(at, kPath.size(), postgres ? " TEXT COLLATE \"C\" " : " TEXT ");
  return statement;
}

Result<int> version_of(Session& session) {
  const auto rows = session.ask("SELECT version FROM schema_version", {}, 1);
  return rows.empty() ? 0 : std::stoi(*rows.front().front());
}

}  // namespace

int newest_schema_version() { return migrations_in_order.back().version; }

Result<void> migrate(Session& session) {
  if (session.is_read_only()) {
    // What is to be read must be as this weir knows it already.
    return session.read([&]() -> Result<void> {
      WEIR_TRY(const int found, version_of(session));
      if (found == newest_schema_version()) return {};
      return fail({.code = Code::W7002,
                   .message = fmt::format("the state store {} has schema {}, and this weir reads {}", session.shown(),
                                          found, newest_schema_version()),
                   .path = {},
                   .span = {},
                   .hint = "run weir once as a user who may write it"});
    });
  }
  return session.write("migrate", [&]() -> Result<void> {
    session.run("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)");
    WEIR_TRY(const int found, version_of(session));
    if (found > newest_schema_version())
      return fail({.code = Code::W7002,
                   .message = fmt::format("the state store {} has schema {}, and this weir knows {}", session.shown(),
                                          found, newest_schema_version()),
                   .path = {},
                   .span = {},
                   .hint = "it was written by a newer weir: use that one"});
    if (found == newest_schema_version()) return {};
    for (const auto& migration : migrations_in_order) {
      if (migration.version <= found) continue;
      for (const char* statement : migration.statements) session.run(in_dialect(statement, session.postgres()));
    }
    session.run("DELETE FROM schema_version");
    session.run("INSERT INTO schema_version VALUES (:version)", {std::to_string(newest_schema_version())});
    return {};
  });
}

}  // namespace weir::state
