// Runs, steps, ledger, schemas and tests. What is written in bulk goes in statements of many rows: one round trip each
// on PostgreSQL.
#include "state/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "io/hash.h"
#include "state/migrations.h"
#include "state/sql_store.h"

namespace weir::state {
namespace {

std::string number(std::int64_t value) { return std::to_string(value); }
Field number(const std::optional<std::int64_t>& value) { return value ? Field(std::to_string(*value)) : Field(); }
std::int64_t to_number(const Field& field) { return std::stoll(field.value_or("0")); }
std::optional<std::int64_t> to_optional(const Field& field) {
  return field ? std::optional<std::int64_t>(std::stoll(*field)) : std::nullopt;
}
std::string text(Field& field) { return std::move(field).value_or(std::string()); }

// A row that two members of one outcome name would stand twice in one statement, which PostgreSQL refuses: the later
// one counts.
template <class Record, class Key>
std::vector<const Record*> last_of_each(const std::vector<Record>& records, Key key) {
  std::map<decltype(key(records.front())), std::size_t> place;
  std::vector<const Record*> kept;
  for (const auto& record : records) {
    const auto [at, is_new] = place.try_emplace(key(record), kept.size());
    if (is_new) {
      kept.push_back(&record);
    } else {
      kept[at->second] = &record;
    }
  }
  return kept;
}

std::string inputs_text(const std::vector<InputRecord>& inputs) {
  auto list = nlohmann::json::array();
  for (const auto& input : inputs) list.push_back({input.asset, input.version});
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<InputRecord> inputs_of(const std::string& text) {
  std::vector<InputRecord> inputs;
  const auto list = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) return inputs;
  for (const auto& pair : list)
    if (pair.is_array() && pair.size() == 2) inputs.push_back({pair[0].get<std::string>(), pair[1].get<std::string>()});
  return inputs;
}

RunRecord to_run(Row& row) {
  return {.run = text(row[0]),
          .environment = text(row[1]),
          .status = text(row[2]),
          .started = text(row[3]),
          .finished = text(row[4]),
          .command = text(row[5]),
          .host = text(row[6]),
          .pid = to_number(row[7]),
          .result_json = text(row[8])};
}

SliceRecord to_slice(Row& row) {
  return {.environment = text(row[0]),
          .asset = text(row[1]),
          .slice = text(row[2]),
          .status = text(row[3]),
          .fingerprint = text(row[4]),
          .arguments_hash = text(row[5]),
          .run = text(row[6]),
          .model = text(row[7]),
          .snapshot_id = to_optional(row[8]),
          .rows = to_optional(row[9]),
          .updated = text(row[10]),
          .error = text(row[11]),
          .tests_passed = to_number(row[12]),
          .inputs = inputs_of(text(row[13])),
          .content = text(row[14])};
}

/// What a run found fresh: a row of it, and the list where no earlier run had the same.
void put_verified(Session& session, const RunRecord& run) {
  if (run.verified.empty()) return;
  const std::string models =
      nlohmann::json(run.verified).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const std::string digest = io::xxh3_hex(models);
  session.insert("INSERT INTO verified_models (digest, models_json)", {{digest, models}},
                 "ON CONFLICT (digest) DO NOTHING");
  session.insert("INSERT INTO verified (run, environment, digest, started, finished)",
                 {{run.run, run.environment, digest, run.started, run.finished}}, "ON CONFLICT (run) DO NOTHING");
}

/// The later of each.
void merge(Store::Success& known, const Store::Success& other) {
  known.started = std::max(known.started, other.started);
  known.finished = std::max(known.finished, other.finished);
}

}  // namespace

Result<std::vector<Row>> SqlStore::rows(const std::string& sql, const Row& values, std::size_t columns) {
  const std::lock_guard guard(mutex_);
  std::vector<Row> found;
  WEIR_CHECK(session_->read([&]() -> Result<void> {
    found = session_->ask(sql, values, columns);
    return {};
  }));
  return found;
}

Result<void> SqlStore::put_run(const RunRecord& run) {
  const std::lock_guard guard(mutex_);
  return session_->write("", [&]() -> Result<void> {
    session_->insert(
        "INSERT INTO run (run, environment, status, started, finished, command, host, pid, result_json)",
        {{run.run, run.environment, run.status, run.started, run.finished, run.command, run.host, number(run.pid),
          run.result_json}},
        "ON CONFLICT (run) DO UPDATE SET environment = excluded.environment, status = excluded.status, "
        "started = excluded.started, finished = excluded.finished, command = excluded.command, host = excluded.host, "
        "pid = excluded.pid, result_json = excluded.result_json");
    put_verified(*session_, run);
    return {};
  });
}

Result<std::vector<RunRecord>> SqlStore::runs_where(const std::string& tail, const Row& values) {
  WEIR_TRY(auto found,
           rows("SELECT run, environment, status, started, finished, command, host, pid, result_json FROM run " + tail,
                values, 9));
  std::vector<RunRecord> all;
  for (auto& row : found) all.push_back(to_run(row));
  return all;
}

Result<std::optional<RunRecord>> SqlStore::run(const std::string& id) {
  WEIR_TRY(auto found, runs_where("WHERE run = :run", {id}));
  if (found.empty()) return std::optional<RunRecord>();
  return std::optional<RunRecord>(std::move(found.front()));
}

Result<std::vector<RunRecord>> SqlStore::runs(std::size_t limit) {
  return runs_where(fmt::format("ORDER BY run DESC LIMIT {}", limit), {});
}

Result<std::vector<RunRecord>> SqlStore::open_runs() {
  return runs_where("WHERE status = 'running' ORDER BY run DESC", {});
}

Result<void> SqlStore::record(const Outcome& outcome) {
  const std::lock_guard guard(mutex_);
  // The lock keeps two runs that write partitions of one asset from giving one schema version twice.
  return session_->write("record", [&]() -> Result<void> {
    write_steps(outcome.steps);
    write_slices(outcome.slices);
    write_schemas(outcome.schemas);
    write_tests(outcome.tests);
    write_owned(outcome.owned);
    return {};
  });
}

void SqlStore::write_steps(const std::vector<StepRecord>& steps) {
  std::vector<Row> values;
  for (const auto* step :
       last_of_each(steps, [](const StepRecord& step) { return std::tie(step.run, step.model, step.slice); }))
    values.push_back({step->run, step->model, step->slice, step->asset, step->status, step->token, step->started,
                      step->finished, step->result_json});
  session_->insert("INSERT INTO step (run, model, slice, asset, status, token, started, finished, result_json)", values,
                   "ON CONFLICT (run, model, slice) DO UPDATE SET asset = excluded.asset, status = excluded.status, "
                   "token = excluded.token, started = excluded.started, finished = excluded.finished, "
                   "result_json = excluded.result_json");
}

void SqlStore::write_slices(const std::vector<SliceRecord>& slices) {
  std::vector<Row> published, others;
  for (const auto* slice : last_of_each(
           slices, [](const SliceRecord& slice) { return std::tie(slice.environment, slice.asset, slice.slice); })) {
    auto& values = slice->status == "materialized" ? published : others;
    values.push_back({slice->environment, slice->asset, slice->slice, slice->status, slice->fingerprint,
                      slice->arguments_hash, slice->run, slice->model, number(slice->snapshot_id), number(slice->rows),
                      slice->updated, slice->error, number(slice->tests_passed), inputs_text(slice->inputs),
                      slice->content});
  }
  const std::string head =
      "INSERT INTO slice (environment, asset, slice, status, fingerprint, arguments_hash, run, model, snapshot_id, "
      "row_count, updated, "
      "error, tests_passed, inputs, content)";
  const std::string always =
      "ON CONFLICT (environment, asset, slice) DO UPDATE SET status = excluded.status, run = excluded.run, model = "
      "excluded.model, "
      "updated = excluded.updated, error = excluded.error";
  session_->insert(
      head, published,
      always +
          ", fingerprint = excluded.fingerprint, arguments_hash = excluded.arguments_hash, "
          "snapshot_id = excluded.snapshot_id, row_count = excluded.row_count, tests_passed = excluded.tests_passed, "
          "inputs = excluded.inputs, content = excluded.content");
  session_->insert(head, others, always);
}

void SqlStore::write_schemas(const std::vector<SchemaRecord>& schemas) {
  if (schemas.empty()) return;
  std::vector<Row> keys;
  for (const auto& schema : schemas) keys.push_back({schema.environment, schema.asset});
  std::map<std::pair<std::string, std::string>, std::pair<std::int64_t, std::string>> newest;
  for (auto& row : session_->ask_keys(
           "SELECT environment, asset, version, columns_json FROM asset_schema WHERE (environment, asset) IN", keys,
           "ORDER BY version", 4))
    newest[{text(row[0]), text(row[1])}] = {to_number(row[2]), text(row[3])};
  std::vector<Row> values;
  for (const auto& schema : schemas) {
    auto& [version, columns] = newest[{schema.environment, schema.asset}];
    if (version > 0 && columns == schema.columns_json) continue;
    ++version;
    columns = schema.columns_json;
    values.push_back({schema.environment, schema.asset, number(version), schema.columns_json,
                      number(schema.snapshot_id), schema.run, schema.captured});
  }
  session_->insert("INSERT INTO asset_schema (environment, asset, version, columns_json, snapshot_id, run, captured)",
                   values, "");
}

void SqlStore::write_tests(const std::vector<TestRecord>& tests) {
  std::map<std::tuple<std::string, std::string, std::string>, std::int64_t> counts;
  std::vector<Row> values;
  for (const auto& test : tests) {
    const auto ordinal = counts[{test.run, test.model, test.slice}]++;
    values.push_back({test.run, test.model, test.slice, number(ordinal), test.asset, test.test, test.status,
                      test.severity, number(test.violating), test.sample_json, number(test.ms), test.at});
  }
  session_->insert(
      "INSERT INTO test_result (run, model, slice, ordinal, asset, test, status, severity, violating, sample_json, ms, "
      "at)",
      values,
      "ON CONFLICT (run, model, slice, ordinal) DO UPDATE SET asset = excluded.asset, test = excluded.test, status = "
      "excluded.status, "
      "severity = excluded.severity, violating = excluded.violating, sample_json = excluded.sample_json, ms = "
      "excluded.ms, "
      "at = excluded.at");
}

Result<std::vector<StepRecord>> SqlStore::steps(const std::string& run) {
  WEIR_TRY(
      auto found,
      rows("SELECT run, model, asset, slice, status, token, started, finished, result_json FROM step WHERE run = :run "
           "ORDER BY started, model, slice",
           {run}, 9));
  std::vector<StepRecord> all;
  for (auto& row : found)
    all.push_back({.run = text(row[0]),
                   .model = text(row[1]),
                   .asset = text(row[2]),
                   .slice = text(row[3]),
                   .status = text(row[4]),
                   .token = text(row[5]),
                   .started = text(row[6]),
                   .finished = text(row[7]),
                   .result_json = text(row[8])});
  return all;
}

Result<std::map<std::string, Store::Success>> SqlStore::successes(const std::string& environment,
                                                                  const std::string& until) {
  std::map<std::string, Success> all;
  WEIR_TRY(
      auto written,
      rows("SELECT model, MAX(updated) FROM slice WHERE environment = :environment AND status = 'materialized' AND "
           "updated <= :until GROUP BY model",
           {environment, until}, 2));
  for (auto& row : written) all[text(row[0])] = {text(row[1]), text(row[1])};
  WEIR_TRY(
      auto stepped,
      rows("SELECT step.model, MAX(run.started), MAX(step.finished) FROM step JOIN run ON run.run = step.run WHERE "
           "run.environment = :environment AND run.started <= :until AND step.status IN ('materialized', "
           "'unchanged', 'fresh') GROUP BY step.model",
           {environment, until}, 3));
  for (auto& row : stepped) all[text(row[0])] = {text(row[1]), text(row[2])};
  // Runs that found nothing to do mostly found the same models so: a row here is all runs with one list.
  WEIR_TRY(
      auto verified,
      rows("SELECT list.models_json, newest.started, newest.finished FROM (SELECT digest, MAX(started) AS started, "
           "MAX(finished) AS finished FROM verified WHERE environment = :environment AND started <= :until GROUP BY "
           "digest) newest JOIN verified_models list ON list.digest = newest.digest",
           {environment, until}, 3));
  for (auto& row : verified) {
    const auto models = nlohmann::json::parse(text(row[0]), nullptr, /*allow_exceptions=*/false);
    if (!models.is_array()) continue;
    const Success success{text(row[1]), text(row[2])};
    for (const auto& model : models) merge(all[model.get<std::string>()], success);
  }
  return all;
}

Result<std::vector<SliceRecord>> SqlStore::slices(const std::string& environment,
                                                  const std::optional<std::string>& asset) {
  std::string sql =
      "SELECT environment, asset, slice, status, fingerprint, arguments_hash, run, model, snapshot_id, row_count, "
      "updated, error, "
      "tests_passed, inputs, content FROM slice WHERE environment = :environment";
  Row values = {environment};
  if (asset) {
    sql += " AND asset = :asset";
    values.emplace_back(*asset);
  }
  WEIR_TRY(auto found, rows(sql, values, 15));
  std::vector<SliceRecord> all;
  all.reserve(found.size());
  for (auto& row : found) all.push_back(to_slice(row));
  // Sorted here by bytes, as a server's collation would order otherwise.
  std::sort(all.begin(), all.end(), [](const SliceRecord& a, const SliceRecord& b) {
    return std::tie(a.asset, a.slice) < std::tie(b.asset, b.slice);
  });
  return all;
}

namespace {

SchemaRecord to_schema(Row& row) {
  return {.environment = text(row[0]),
          .asset = text(row[1]),
          .version = to_number(row[2]),
          .columns_json = text(row[3]),
          .snapshot_id = to_optional(row[4]),
          .run = text(row[5]),
          .captured = text(row[6])};
}

}  // namespace

Result<std::vector<SchemaRecord>> SqlStore::schemas(const std::string& environment, const std::string& asset) {
  WEIR_TRY(auto found,
           rows("SELECT environment, asset, version, columns_json, snapshot_id, run, captured FROM asset_schema "
                "WHERE environment = :environment AND asset = :asset ORDER BY version",
                {environment, asset}, 7));
  std::vector<SchemaRecord> all;
  for (auto& row : found) all.push_back(to_schema(row));
  return all;
}

Result<std::vector<SchemaRecord>> SqlStore::latest_schemas(const std::string& environment) {
  WEIR_TRY(auto found,
           rows("SELECT environment, asset, version, columns_json, snapshot_id, run, captured FROM asset_schema s "
                "WHERE environment = :environment AND version = (SELECT max(version) FROM asset_schema n "
                "WHERE n.environment = s.environment AND n.asset = s.asset) ORDER BY asset",
                {environment}, 7));
  std::vector<SchemaRecord> all;
  for (auto& row : found) all.push_back(to_schema(row));
  return all;
}

Result<std::vector<TestRecord>> SqlStore::tests(const std::string& asset, std::size_t limit) {
  WEIR_TRY(auto found,
           rows(fmt::format("SELECT run, model, asset, slice, test, status, severity, violating, sample_json, ms, at "
                            "FROM test_result WHERE asset = :asset ORDER BY at DESC, run DESC, ordinal LIMIT {}",
                            limit),
                {asset}, 11));
  std::vector<TestRecord> all;
  for (auto& row : found)
    all.push_back({.run = text(row[0]),
                   .model = text(row[1]),
                   .asset = text(row[2]),
                   .slice = text(row[3]),
                   .test = text(row[4]),
                   .status = text(row[5]),
                   .severity = text(row[6]),
                   .violating = to_number(row[7]),
                   .sample_json = text(row[8]),
                   .ms = to_number(row[9]),
                   .at = text(row[10])});
  return all;
}

Result<std::int64_t> SqlStore::reconciled_version(const std::string& lake) {
  WEIR_TRY(auto found, rows("SELECT version FROM reconciliation WHERE lake = :lake", {lake}, 1));
  return found.empty() ? 0 : to_number(found.front().front());
}

Result<void> SqlStore::set_reconciled_version(const std::string& lake, std::int64_t version) {
  const std::lock_guard guard(mutex_);
  return session_->write("", [&]() -> Result<void> {
    session_->insert("INSERT INTO reconciliation (lake, version)", {{lake, number(version)}},
                     "ON CONFLICT (lake) DO UPDATE SET version = excluded.version");
    return {};
  });
}

Result<std::vector<Store::NeededVersion>> SqlStore::needed_versions(const std::string& lake) {
  const std::string prefix = "ducklake://" + lake + "/";
  WEIR_TRY(auto found, rows("SELECT DISTINCT snapshot_id FROM slice WHERE snapshot_id IS NOT NULL AND "
                            "substr(asset, 1, length(:prefix)) = lower(:prefix2) ORDER BY snapshot_id",
                            {prefix, prefix}, 1));
  std::vector<NeededVersion> needed;
  for (const auto& row : found) needed.push_back({to_number(row[0]), "it holds the record of a slice"});
  // Not every generation says which lake it is about: one version too many is no harm.
  WEIR_TRY(
      auto generations,
      rows("SELECT DISTINCT lake_version FROM promotion p WHERE lake_version IS NOT NULL AND (SELECT count(*) FROM "
           "promotion n WHERE n.environment = p.environment AND n.generation > p.generation) < 5",
           {}, 1));
  for (const auto& row : generations) needed.push_back({to_number(row[0]), "one of the newest generations needs it"});
  WEIR_TRY(auto environments, rows("SELECT environment, settings_json, lower(:lake) FROM environment", {lake}, 3));
  for (const auto& row : environments) {
    const auto settings = nlohmann::json::parse(row[1].value_or(""), nullptr, /*allow_exceptions=*/false);
    if (!settings.is_object() || !settings.contains("pins")) continue;
    if (const auto pin = settings["pins"].find(row[2].value_or("")); pin != settings["pins"].end())
      needed.push_back({pin->get<std::int64_t>(), "environment " + row[0].value_or("") + " reads it"});
  }
  return needed;
}

Result<void> SqlStore::clear_ledger() {
  const std::lock_guard guard(mutex_);
  return session_->write("record", [&]() -> Result<void> {
    for (const char* statement : {"DELETE FROM slice", "DELETE FROM asset_schema", "DELETE FROM reconciliation"})
      session_->run(statement);
    return {};
  });
}

std::string SqlStore::describe() const {
  return fmt::format("{} {}", session_->postgres() ? "PostgreSQL" : "SQLite", session_->shown());
}

Result<int> SqlStore::schema_version() {
  WEIR_TRY(auto found, rows("SELECT version FROM schema_version", {}, 1));
  return found.empty() ? 0 : static_cast<int>(to_number(found.front().front()));
}

Result<std::unique_ptr<Store>> open_store(bool postgres, const std::string& target, const std::string& shown,
                                          const std::string& schema) {
  WEIR_TRY(auto session, Session::open({.postgres = postgres, .address = target, .shown = shown, .schema = schema}));
  WEIR_CHECK(migrate(*session));
  return std::unique_ptr<Store>(std::make_unique<SqlStore>(std::move(session)));
}

}  // namespace weir::state
