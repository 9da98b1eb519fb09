// The store: what is written is read back, recording is idempotent and fast, and bad stores are told apart.
#include "state/store.h"
#include "state/migrations.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "store_fixture.h"

namespace weir::state {
namespace {

using StoreBoth = StoreTest;
INSTANTIATE_TEST_SUITE_P(On, StoreBoth, testing::Values(Database::Sqlite, Database::Postgres), name_of_database);

SliceRecord slice_of(std::string asset, std::string slice) {
  SliceRecord record;
  record.environment = "prod";
  record.asset = std::move(asset);
  record.slice = std::move(slice);
  record.status = "materialized";
  record.fingerprint = "f1";
  record.run = "r1";
  record.model = "m";
  record.snapshot_id = 7;
  record.rows = 3;
  record.updated = "2026-01-01T00:00:00.000000Z";
  record.tests_passed = 2;
  record.inputs = {{"ducklake://main/main.src", "6"}, {"file:/a 'b'.csv", "1-2-3"}};
  record.content = R"({"rows":3})";
  return record;
}
SchemaRecord schema_of(std::string asset, std::string columns) {
  SchemaRecord record;
  record.environment = "prod";
  record.asset = std::move(asset);
  record.columns_json = std::move(columns);
  record.run = "r1";
  return record;
}

TEST_P(StoreBoth, WhatARunFoundFreshIsASuccessAndItsListIsKeptOnce) {
  const auto store = opened();
  RunRecord run{.run = "01A", .environment = "prod", .status = "done", .started = "t1", .finished = "t2"};
  for (int i = 0; i < 1000; ++i) run.verified.push_back("folder/model_" + std::to_string(i));
  ASSERT_TRUE(store->put_run(run).has_value());
  run.run = "01B";
  run.started = "t3";
  run.finished = "t4";
  ASSERT_TRUE(store->put_run(run).has_value());
  run.run = "01C";
  run.started = "t5";
  run.environment = "dev";
  ASSERT_TRUE(store->put_run(run).has_value());
  const auto successes = store->successes("prod", "t9");
  ASSERT_EQ(successes->size(), 1000U);
  EXPECT_EQ(successes->at("folder/model_7").started, "t3");
  EXPECT_EQ(successes->at("folder/model_7").finished, "t4");
  EXPECT_EQ(store->successes("prod", "t1")->at("folder/model_7").finished, "t2") << "as it was then";
  // One row for the three runs.
  execute_in_store("CREATE UNIQUE INDEX one_list ON verified_models ((1))");
}

TEST_P(StoreBoth, RunIsReadBackAndReplaced) {
  auto store = opened();
  RunRecord run{.run = "01A",
                .environment = "prod",
                .status = "running",
                .started = "t1",
                .finished = "",
                .command = "weir run ünï 'x'",
                .host = "h",
                .pid = 42,
                .result_json = ""};
  ASSERT_TRUE(store->put_run(run).has_value());
  ASSERT_EQ(store->open_runs()->size(), 1u);
  run.status = "done";
  run.result_json = R"({"run":"01A"})";
  ASSERT_TRUE(store->put_run(run).has_value());
  EXPECT_TRUE(store->open_runs()->empty());
  run.run = "01B";
  ASSERT_TRUE(store->put_run(run).has_value());
  const auto newest = *store->runs(1);
  ASSERT_EQ(newest.size(), 1u);
  EXPECT_EQ(newest[0].run, "01B");
  const auto first = *store->run("01A");
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->command, "weir run ünï 'x'");
  EXPECT_EQ(first->pid, 42);
  EXPECT_EQ(first->result_json, R"({"run":"01A"})");
  EXPECT_FALSE(store->run("nope")->has_value());
}

TEST_P(StoreBoth, LedgerIsReadBackSorted) {
  auto store = opened();
  auto unknown = slice_of("a", "p2");
  unknown.snapshot_id.reset();
  unknown.rows.reset();
  ASSERT_TRUE(store
                  ->record({.steps = {},
                            .slices = {slice_of("b", ""), unknown, slice_of("a", "p1"), slice_of("B", "")},
                            .schemas = {},
                            .tests = {}})
                  .has_value());
  const auto all = *store->slices("prod", std::nullopt);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].asset, "B");
  EXPECT_EQ(all[1].slice, "p1");
  EXPECT_EQ(all[1].snapshot_id, 7);
  EXPECT_EQ(all[1].rows, 3);
  EXPECT_EQ(all[1].tests_passed, 2);
  ASSERT_EQ(all[1].inputs.size(), 2u);
  EXPECT_EQ(all[1].inputs[1].asset, "file:/a 'b'.csv");
  EXPECT_EQ(all[1].inputs[1].version, "1-2-3");
  EXPECT_EQ(all[1].content, R"({"rows":3})");
  EXPECT_EQ(all[2].snapshot_id, std::nullopt);
  EXPECT_EQ(all[2].rows, std::nullopt);
  EXPECT_EQ(store->slices("prod", "a")->size(), 2u);
  EXPECT_TRUE(store->slices("dev", std::nullopt)->empty());
}

TEST_P(StoreBoth, FailedSliceKeepsWhatIsStillReadable) {
  auto store = opened();
  ASSERT_TRUE(store->record({.steps = {}, .slices = {slice_of("a", "")}, .schemas = {}, .tests = {}}).has_value());
  SliceRecord failed;
  failed.environment = "prod";
  failed.asset = "a";
  failed.status = "failed";
  failed.fingerprint = "f2";
  failed.run = "r2";
  failed.error = "audit failed";
  ASSERT_TRUE(store->record({.steps = {}, .slices = {failed}, .schemas = {}, .tests = {}}).has_value());
  const auto now = store->slices("prod", "a")->front();
  EXPECT_EQ(now.status, "failed");
  EXPECT_EQ(now.error, "audit failed");
  EXPECT_EQ(now.run, "r2");
  EXPECT_EQ(now.fingerprint, "f1");
  EXPECT_EQ(now.snapshot_id, 7);
  EXPECT_EQ(now.inputs.size(), 2u);
}

TEST_P(StoreBoth, SchemaVersionGrowsOnlyWhenColumnsDiffer) {
  auto store = opened();
  const auto put = [&](std::string columns) {
    return store->record({.steps = {}, .slices = {}, .schemas = {schema_of("a", std::move(columns))}, .tests = {}})
        .has_value();
  };
  ASSERT_TRUE(put("[1]") && put("[1]") && put("[2]") && put("[1]"));
  const auto versions = *store->schemas("prod", "a");
  ASSERT_EQ(versions.size(), 3u);
  EXPECT_EQ(versions[2].version, 3);
  EXPECT_EQ(versions[2].columns_json, "[1]");
  ASSERT_TRUE(store
                  ->record({.steps = {},
                            .slices = {},
                            .schemas = {schema_of("b", "[1]"), schema_of("b", "[1]"), schema_of("b", "[2]")},
                            .tests = {}})
                  .has_value());
  EXPECT_EQ(store->schemas("prod", "b")->size(), 2u);
}

TEST_P(StoreBoth, RecordingTwiceChangesNothing) {
  auto store = opened();
  TestRecord test{.run = "r1",
                  .model = "m",
                  .asset = "a",
                  .slice = "",
                  .test = "unique id",
                  .status = "passed",
                  .severity = "error",
                  .violating = 0,
                  .sample_json = "",
                  .ms = 4,
                  .at = "t"};
  StepRecord step{.run = "r1",
                  .model = "m",
                  .asset = "a",
                  .slice = "",
                  .status = "materialized",
                  .token = "tk",
                  .started = "s",
                  .finished = "f",
                  .result_json = "{}"};
  const Store::Outcome outcome{.steps = {step},
                               .slices = {slice_of("a", ""), slice_of("a", "")},
                               .schemas = {schema_of("a", "[]")},
                               .tests = {test, test}};
  ASSERT_TRUE(store->record(outcome).has_value());
  ASSERT_TRUE(store->record(outcome).has_value());
  EXPECT_EQ(store->steps("r1")->size(), 1u);
  EXPECT_EQ(store->steps("r1")->front().token, "tk");
  EXPECT_EQ(store->tests("a", 10)->size(), 2u) << "two equal tests of one model are two results";
  EXPECT_EQ(store->tests("a", 1)->size(), 1u);
  EXPECT_EQ(store->tests("a", 1)->front().ms, 4);
  EXPECT_EQ(store->schemas("prod", "a")->size(), 1u);
}

TEST_P(StoreBoth, HostileTextStaysText) {
  auto store = opened();
  const std::string evil = "'; DROP TABLE slice; -- :v $1 ? \\ \" %s";
  ASSERT_TRUE(store->record({.steps = {}, .slices = {slice_of(evil, evil)}, .schemas = {}, .tests = {}}).has_value());
  const auto found = *store->slices("prod", evil);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].slice, evil);
}

TEST_P(StoreBoth, StateOutlivesTheConnection) {
  ASSERT_TRUE(opened()->record({.steps = {}, .slices = {slice_of("a", "")}, .schemas = {}, .tests = {}}).has_value());
  auto store = opened();
  EXPECT_EQ(store->slices("prod", std::nullopt)->size(), 1u);
  EXPECT_EQ(*store->schema_version(), newest_schema_version());
  EXPECT_NE(store->describe().find("the test's"), std::string::npos);
  ASSERT_TRUE(store->set_reconciled_version("main", 9).has_value());
  ASSERT_TRUE(store->set_reconciled_version("main", 12).has_value());
  EXPECT_EQ(*store->reconciled_version("main"), 12);
  EXPECT_EQ(*store->reconciled_version("other"), 0);
  ASSERT_TRUE(store->clear_ledger().has_value());
  EXPECT_TRUE(store->slices("prod", std::nullopt)->empty());
  EXPECT_EQ(*store->reconciled_version("main"), 0);
}

TEST_P(StoreBoth, ManyMayOpenANewStoreAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&] {
      auto store = open();
      if (store.has_value() && (*store)->set_reconciled_version("main", 1).has_value()) ++good;
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good, 6);
}

TEST_P(StoreBoth, AThousandStepsAreRecordedInOneBreath) {
  auto store = opened();
  Store::Outcome outcome;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "model_" + std::to_string(i);
    outcome.steps.push_back({.run = "r1",
                             .model = name,
                             .asset = name,
                             .slice = "",
                             .status = "materialized",
                             .token = "token",
                             .started = "s",
                             .finished = "f",
                             .result_json = std::string(400, 'x')});
    outcome.slices.push_back(slice_of(name, ""));
    outcome.schemas.push_back(schema_of(name, R"([{"name":"id","type":"BIGINT"},{"name":"v","type":"VARCHAR"}])"));
    outcome.tests.push_back({.run = "r1",
                             .model = name,
                             .asset = name,
                             .slice = "",
                             .test = "unique id",
                             .status = "passed",
                             .severity = "error",
                             .violating = 0,
                             .sample_json = "",
                             .ms = 1,
                             .at = "t"});
  }
  using clock = std::chrono::steady_clock;
  const auto since = [](clock::time_point from) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - from).count();
  };
  const auto begin = clock::now();
  ASSERT_TRUE(store->record(outcome).has_value());
  const auto first = since(begin);
  const auto again_begin = clock::now();
  ASSERT_TRUE(store->record(outcome).has_value());
  const auto again = since(again_begin);
  const auto read_begin = clock::now();
  ASSERT_EQ(store->slices("prod", std::nullopt)->size(), 1000u);
  const auto read = since(read_begin);
  RecordProperty("record_ms", static_cast<int>(first));
  RecordProperty("record_again_ms", static_cast<int>(again));
  RecordProperty("read_ms", static_cast<int>(read));
  // Twenty times what was measured: a round trip a row would not pass.
  EXPECT_LT(first, 2000);
  EXPECT_LT(again, 2000);
  EXPECT_LT(read, 500);
}

TEST_P(StoreBoth, VersionsThatHoldRecordsOfSlicesAreNeeded) {
  auto store = opened();
  SliceRecord other = slice_of("ducklake://mainland/main.a", "");
  other.snapshot_id = 9;
  SliceRecord never = slice_of("ducklake://main/main.b", "");
  never.snapshot_id.reset();
  Store::Outcome outcome;
  outcome.slices = {slice_of("ducklake://main/main.a", "p1"), slice_of("ducklake://main/main.a", "p2"), other, never};
  ASSERT_TRUE(store->record(outcome).has_value());
  const auto needed = store->needed_versions("Main");
  ASSERT_TRUE(needed.has_value());
  ASSERT_EQ(needed->size(), 1U);
  EXPECT_EQ(needed->front().version, 7);
}

class StoreFile : public StoreTest {};
INSTANTIATE_TEST_SUITE_P(On, StoreFile, testing::Values(Database::Sqlite), name_of_database);

TEST_P(StoreFile, FileThatIsNoDatabaseIsSaid) {
  std::filesystem::create_directories(folder_ / "a folder");
  std::ofstream(target_) << std::string(5000, 'n');
  EXPECT_EQ(code_of(open()), Code::W7003);
}

TEST_P(StoreFile, FolderThatCannotBeMadeIsSaid) {
  std::ofstream(folder_ / "a folder") << "a file stands in the way";
  EXPECT_EQ(code_of(open()), Code::W7001);
  std::filesystem::remove(folder_ / "a folder");
  std::filesystem::create_directories(target_);  // a folder where the file should be
  EXPECT_EQ(code_of(open()), Code::W7001);
}

TEST_P(StoreFile, OneThatMayNotBeWrittenIsRead) {
  ASSERT_TRUE(opened()->set_reconciled_version("main", 9).has_value());
  std::filesystem::permissions(folder_, std::filesystem::perms(0755));
  std::filesystem::permissions(target_, std::filesystem::perms(0444));
  // Everything is allowed to root.
  const bool was_root = geteuid() == 0;
  if (was_root) {
    ASSERT_EQ(seteuid(65534), 0);
  }
  auto store = open();
  const auto version = store ? (*store)->reconciled_version("main") : Result<std::int64_t>(0);
  const Code code = store ? code_of((*store)->set_reconciled_version("main", 12)) : code_of(store);
  if (was_root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  EXPECT_EQ(version.value_or(0), 9);
  EXPECT_EQ(code, Code::W7001);
}

TEST_P(StoreBoth, NewerSchemaIsRefused) {
  ASSERT_TRUE(opened()->schema_version().has_value());
  execute_in_store("UPDATE schema_version SET version = 99");
  EXPECT_EQ(code_of(open()), Code::W7002);
}

TEST(StorePostgres, ServerThatDoesNotAnswerIsSaid) {
  EXPECT_EQ(code_of(open_store(true, "host=127.0.0.1 port=1 connect_timeout=2", "postgres://nobody")), Code::W7001);
}

TEST(RunId, GrowsAndNeverRepeats) {
  std::string last;
  for (int i = 0; i < 20000; ++i) {
    const auto id = new_run_id();
    ASSERT_EQ(id.size(), 26u);
    ASSERT_LT(last, id);
    ASSERT_EQ(id.find_first_not_of("0123456789ABCDEFGHJKMNPQRSTVWXYZ"), std::string::npos);
    last = id;
  }
}

TEST(RunId, BeginsWithTheTime) {
  setenv("WEIR_NOW", "2016-07-30T22:36:16Z", 1);
  const auto id = new_run_id();
  EXPECT_EQ(now_text(), "2016-07-30T22:36:16.000000Z");
  unsetenv("WEIR_NOW");
  EXPECT_EQ(id.substr(0, 10), "01ARYZ6RR0") << "the same milliseconds in any ULID begin so";
}

TEST(HostIdentity, CanBeGiven) {
  setenv("WEIR_HOST", "elsewhere", 1);
  EXPECT_EQ(host_identity(), "elsewhere");
  unsetenv("WEIR_HOST");
  EXPECT_NE(host_identity(), "elsewhere");
  EXPECT_FALSE(host_identity().empty());
}

TEST_P(StoreBoth, ATableThatIsGoneIsAFailureOfTheStore) {
  auto store = opened();
  execute_in_store("DROP TABLE lease");
  EXPECT_EQ(code_of(store->leases()), Code::W7004);
}

TEST_P(StoreBoth, AStoreThatAnotherProcessHoldsIsBusy) {
  if (GetParam() == Database::Postgres) GTEST_SKIP() << "PostgreSQL locks rows";
  ASSERT_EQ(setenv("WEIR_BUSY_SECONDS", "1", 1), 0);
  auto store = opened();
  auto other = Session::open({.postgres = false, .address = target_, .shown = "test", .schema = schema_});
  ASSERT_TRUE(other.has_value());
  Result<void> written;
  ASSERT_TRUE((*other)
                  ->write("",
                          [&]() -> Result<void> {
                            (*other)->run("DELETE FROM lease");
                            written = store->release("r1");
                            return {};
                          })
                  .has_value());
  EXPECT_EQ(code_of(written), Code::W7005);
  ASSERT_EQ(unsetenv("WEIR_BUSY_SECONDS"), 0);
}

}  // namespace
}  // namespace weir::state
