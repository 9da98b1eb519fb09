// Several writers at once, stops, interrupts, groups: the protocol between one process and the others.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "strategies.h"

namespace weir::faults {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using std::chrono::steady_clock;

class Protocol : public testing::TestWithParam<Catalog> {
 protected:
  void SetUp() override {
    if (!Shop::can(GetParam())) GTEST_SKIP() << "no server";
    shop_ = std::make_unique<Shop>(GetParam());
    write_models(*shop_);
    shop_->write("models/seed.sql", "-- materialize ducklake://main/seed\nSELECT 1 AS a\n");
    ASSERT_EQ(shop_->weir("run seed").code, 0);
    write_delivery(*shop_, 1);
  }

  /// Statements in a query log that hold the text.
  int logged(const std::string& folder, const std::string& text) const {
    int found = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(shop_->root() + "/" + folder)) {
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);)
        if (line.find(text) != std::string::npos) ++found;
    }
    return found;
  }

  static std::int64_t millis_to_end(scenario::Process& process, int& code) {
    const auto begin = steady_clock::now();
    code = process.wait(30s);
    return std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - begin).count();
  }

  std::unique_ptr<Shop> shop_;
};

TEST_P(Protocol, AHolderThatStoodStillIsFencedOut) {
  if (GetParam() == Catalog::Sqlite) GTEST_SKIP() << "hosts share a state store on PostgreSQL only";
  const std::string span = "2";
  const auto first = shop_->start(
      "run merge", {{"WEIR_HOST", "a"}, {"WEIR_LEASE_SECONDS", span}, {"WEIR_FAILPOINT", "before_lock=stop"}});
  until_stopped(*first);
  write_delivery(*shop_, 2);
  const Ended second = shop_->weir("run merge", {{"WEIR_HOST", "b"}, {"WEIR_LEASE_SECONDS", span}});
  EXPECT_EQ(second.code, 0) << second.err;
  first->signal(SIGCONT);
  EXPECT_EQ(first->wait(30s), 1) << first->err();
  EXPECT_NE(first->err().find("so nothing may be written"), std::string::npos) << first->err();
  Expected expected;
  expected.apply("merge", 2);
  EXPECT_EQ(shop_->rows(expected.question("merge")), expected.answer("merge"));
  EXPECT_EQ(shop_->disagreements(), "");
}

// The second look at the fence, with everything written and nothing committed. Another run comes that far only where
// recovery does not wait for the lake's lock, so the slice is taken in its place.
TEST_P(Protocol, AHolderThatIsOvertakenInItsTransactionPublishesNothing) {
  ASSERT_EQ(shop_->weir("run merge").code, 0);
  const std::string before = shop_->rows("SELECT k, v FROM lake.merge ORDER BY k");
  write_delivery(*shop_, 2);
  const auto first = shop_->start("run merge", {{"WEIR_FAILPOINT", "after_write=stop"}});
  until_stopped(*first);
  shop_->overtake();
  first->signal(SIGCONT);
  EXPECT_EQ(first->wait(30s), 1) << first->err();
  EXPECT_NE(first->err().find("so nothing may be written"), std::string::npos) << first->err();
  EXPECT_EQ(shop_->rows("SELECT k, v FROM lake.merge ORDER BY k"), before);
  EXPECT_EQ(shop_->weir("run merge").code, 0);
  EXPECT_EQ(shop_->rows("SELECT count(*) FROM lake.merge WHERE v >= 20"), "5");
  EXPECT_EQ(shop_->disagreements(), "");
}

TEST_P(Protocol, TwoRunsOfOneModelGoOneAfterTheOther) {
  const auto first = shop_->start("run merge append", {{"WEIR_FAILPOINT", "before_lock=stop"}});
  until_stopped(*first);
  EXPECT_EQ(shop_->weir("run merge --no-wait").code, 1);
  const auto second = shop_->start("run merge append --json");
  EXPECT_TRUE(second->wait_for("waiting for it", 20s)) << second->err();
  EXPECT_NE(second->err().find("is being written by run"), std::string::npos) << second->err();
  first->signal(SIGCONT);
  EXPECT_EQ(first->wait(30s), 0) << first->err();
  EXPECT_EQ(second->wait(30s), 0) << second->err();
  const json result = json::parse(second->out());
  for (const json& step : result["steps"])
    EXPECT_EQ(step["status"], step["model"] == "merge" ? "fresh" : "materialized");
  Expected expected;
  expected.apply("merge", 1);
  expected.apply("append", 1);
  expected.apply("append", 1);
  for (const std::string model : {"merge", "append"})
    EXPECT_EQ(shop_->rows(expected.question(model)), expected.answer(model));
  EXPECT_EQ(shop_->disagreements(), "");
}

TEST_P(Protocol, TwoRunsInTheSameSecond) {
  const auto first = shop_->start("run replace merge scd");
  const auto second = shop_->start("run replace merge scd");
  EXPECT_EQ(first->wait(60s), 0) << first->err();
  EXPECT_EQ(second->wait(60s), 0) << second->err();
  Expected expected;
  for (const std::string model : {"replace", "merge", "scd"}) {
    expected.apply(model, 1);
    EXPECT_EQ(shop_->rows(expected.question(model)), expected.answer(model));
  }
  EXPECT_EQ(shop_->disagreements(), "");
}

TEST_P(Protocol, AForeignCommitIsSeenAndTheQueryNotRunAgain) {
  struct Case {
    std::string model, foreign, question, rows;
  };
  const std::vector<Case> cases{
      {"merge", "INSERT INTO lake.merge VALUES (3, 777), (99, 99)", "SELECT k, v FROM lake.merge ORDER BY k, v",
       "1|11 2|22 3|23 4|24 5|25 6|26 99|99"},
      {"append", "INSERT INTO lake.append VALUES (99, 99)",
       "SELECT count(*), count(*) FILTER (v = 99) FROM lake.append", "11|1"},
      {"replace", "INSERT INTO lake.replace VALUES (99, 99)", "SELECT k, v FROM lake.replace ORDER BY k",
       "2|22 3|23 4|24 5|25 6|26"},
      {"part", "INSERT INTO lake.part VALUES (99, 99, 'p1'), (98, 98, 'p2')",
       "SELECT k, v, _wm_partition FROM lake.part ORDER BY k", "2|22|p1 3|23|p1 4|24|p1 5|25|p1 6|26|p1 98|98|p2"},
      {"scd", "INSERT INTO lake.scd (k, v, valid_from, valid_to, is_current) VALUES (99, 99, '2020-01-01', NULL, true)",
       "SELECT k, v FROM lake.scd WHERE is_current ORDER BY k", "1|11 2|22 3|23 4|24 5|25 6|26 99|99"}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.model);
    const std::string line = "run " + one.model + (one.model == "part" ? " --partition p1" : "");
    write_delivery(*shop_, 1);
    ASSERT_EQ(shop_->weir(line, {{"WEIR_QUERY_LOG", one.model + "-quiet"}}).code, 0);
    write_delivery(*shop_, 2);
    const auto process =
        shop_->start(line, {{"WEIR_QUERY_LOG", one.model + "-disturbed"}, {"WEIR_FAILPOINT", "before_lock=stop"}});
    until_stopped(*process);
    shop_->foreign(one.foreign);
    process->signal(SIGCONT);
    ASSERT_EQ(process->wait(30s), 0) << process->err();
    EXPECT_EQ(shop_->rows(one.question), one.rows);
    EXPECT_EQ(shop_->disagreements(), "");
    EXPECT_GT(logged(one.model + "-quiet", "read_csv"), 0);
    EXPECT_LE(logged(one.model + "-disturbed", "read_csv"), logged(one.model + "-quiet", "read_csv"))
        << "the query ran again";
  }
}

TEST_P(Protocol, AQueryThatReadsItsOwnTableIsRunAgainAfterAForeignCommit) {
  shop_->write("models/counter.sql",
               "-- materialize ducklake://main/counter append\nSELECT coalesce(max(n), 0) + 1 AS n FROM counter");
  shop_->write("models/seen.sql", "-- materialize ducklake://main/seen\nSELECT max(n) AS n FROM counter");
  shop_->foreign("CREATE TABLE lake.counter (n INTEGER); INSERT INTO lake.counter VALUES (1)");
  const auto process = shop_->start("run counter seen", {{"WEIR_FAILPOINT", "before_lock=stop"}});
  until_stopped(*process);
  shop_->foreign("INSERT INTO lake.counter VALUES (100)");
  process->signal(SIGCONT);
  ASSERT_EQ(process->wait(30s), 0) << process->err();
  EXPECT_EQ(shop_->rows("SELECT n FROM lake.counter ORDER BY n"), "1 100 101");
  EXPECT_EQ(shop_->rows("SELECT n FROM lake.seen"), "101");
  EXPECT_EQ(shop_->disagreements(), "");
}

TEST_P(Protocol, WhatAForeignCommitBringsIsAuditedWithTheRows) {
  shop_->write(
      "models/guarded.sql",
      "-- materialize ducklake://main/guarded append\n-- data_test unique k\nSELECT k::INTEGER AS k, v::INTEGER "
      "AS v FROM read_csv('data.csv')\n");
  shop_->write("models/reader.sql",
               "-- materialize ducklake://main/reader\nATTACH 'ducklake://main' AS l;\nSELECT k FROM l.guarded\n");
  ASSERT_EQ(shop_->weir("run guarded reader").code, 0);
  shop_->write("data.csv", "k,v\n50,50\n");
  const auto process = shop_->start("run guarded reader --json", {{"WEIR_FAILPOINT", "before_lock=stop"}});
  until_stopped(*process);
  shop_->foreign("INSERT INTO lake.guarded VALUES (50, 99)");
  process->signal(SIGCONT);
  EXPECT_EQ(process->wait(30s), 1) << process->err();
  const json steps = json::parse(process->out())["steps"];
  for (const json& step : steps) {
    EXPECT_EQ(step["status"], step["model"] == "guarded" ? "failed" : "skipped") << step;
    if (step["model"] == "guarded") {
      EXPECT_EQ(step["error"]["data_tests"][0]["violating"], 1) << step;
    }
  }
  EXPECT_EQ(shop_->rows("SELECT k, v FROM lake.guarded WHERE k >= 50"), "50|99");
  EXPECT_EQ(shop_->rows("SELECT count(*) FROM lake.reader"), "5");
  shop_->write("data.csv", "k,v\n51,51\n");
  EXPECT_EQ(shop_->weir("run guarded reader").code, 0);
  EXPECT_EQ(shop_->rows("SELECT count(*) FROM lake.reader"), "7");
  EXPECT_EQ(shop_->disagreements(), "");
}

// W6030: each time that the run holds the lock, somebody who takes none has been faster.
TEST_P(Protocol, AForeignWriterThatNeverRestsIsGivenUpOn) {
  ASSERT_EQ(shop_->weir("run merge").code, 0);
  write_delivery(*shop_, 2);
  const auto process = shop_->start("run merge", {{"WEIR_FAILPOINT", "after_lock@*=stop"}});
  for (int i = 0; i < 6; ++i) {
    until_stopped(*process);
    shop_->foreign("INSERT INTO lake.merge VALUES (" + std::to_string(100 + i) + ", 99)");
    process->signal(SIGCONT);
  }
  EXPECT_EQ(process->wait(30s), 1) << process->err();
  EXPECT_NE(process->err().find("others kept writing to"), std::string::npos) << process->err();
  ASSERT_EQ(shop_->weir("run merge").code, 0);
  EXPECT_EQ(shop_->rows("SELECT count(*) FROM lake.merge WHERE k >= 100"), "6");
  EXPECT_EQ(shop_->disagreements(), "");
}

// W6104: the lock on PostgreSQL lives as long as its connection.
TEST_P(Protocol, ALockThatIsLostBeforeTheCommitPublishesNothing) {
  if (GetParam() == Catalog::Sqlite) GTEST_SKIP() << "nobody can take the lock of a file away";
  ASSERT_EQ(shop_->weir("run merge").code, 0);
  const std::string before = shop_->rows("SELECT k, v FROM lake.merge ORDER BY k");
  write_delivery(*shop_, 2);
  const auto process = shop_->start("run merge", {{"WEIR_FAILPOINT", "before_write=stop"}});
  until_stopped(*process);
  shop_->rows(
      "SELECT * FROM postgres_query('state', 'SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = "
      "''advisory'' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())')");
  process->signal(SIGCONT);
  EXPECT_EQ(process->wait(30s), 1) << process->err();
  EXPECT_NE(process->err().find("the writers' lock of lake main was lost"), std::string::npos) << process->err();
  EXPECT_EQ(shop_->rows("SELECT k, v FROM lake.merge ORDER BY k"), before);
  ASSERT_EQ(shop_->weir("run merge").code, 0);
  EXPECT_EQ(shop_->disagreements(), "");
}

TEST_P(Protocol, AnInterruptStopsComputingWithinASecond) {
  shop_->write("models/slow.sql",
               "-- materialize ducklake://main/slow\nSELECT sum(hash(a.i))::DOUBLE AS s FROM range(10000000) a(i), "
               "range(10000) b(j)\n");
  const auto process = shop_->start("run slow");
  for (int i = 0; i < 500 && shop_->rows("SELECT 1 FROM state.lease WHERE run <> ''").empty(); ++i)
    std::this_thread::sleep_for(10ms);
  std::this_thread::sleep_for(300ms);
  process->signal(SIGINT);
  int code = 0;
  EXPECT_LT(millis_to_end(*process, code), 1500);
  EXPECT_EQ(code, 3) << process->err();
  EXPECT_EQ(shop_->rows("SELECT status FROM state.run ORDER BY run DESC LIMIT 1"), "cancelled");
  shop_->write("models/slow.sql", "-- materialize ducklake://main/slow\nSELECT 1 AS s\n");
  EXPECT_EQ(shop_->weir("run slow").code, 0);
  EXPECT_EQ(shop_->disagreements(), "");
}

TEST_P(Protocol, AnInterruptEndsWaitingForAnotherRun) {
  const auto holder = shop_->start("run merge", {{"WEIR_FAILPOINT", "before_lock=stop"}});
  until_stopped(*holder);
  const auto waiting = shop_->start("run merge");
  ASSERT_TRUE(waiting->wait_for("waiting for it", 20s)) << waiting->err();
  waiting->signal(SIGINT);
  int code = 0;
  EXPECT_LT(millis_to_end(*waiting, code), 1500);
  EXPECT_EQ(code, 3) << waiting->err();
  EXPECT_EQ(shop_->rows("SELECT status FROM state.run ORDER BY run DESC LIMIT 1"), "cancelled");
  holder->signal(SIGCONT);
  EXPECT_EQ(holder->wait(30s), 0) << holder->err();
  EXPECT_EQ(shop_->disagreements(), "");
}

TEST_P(Protocol, AnInterruptEndsWaitingForTheLakesLock) {
  if (GetParam() == Catalog::Postgres) GTEST_SKIP() << "the lock of a file is what a test can hold";
  const int file = ::open((shop_->root() + "/lake/main.sqlite.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  ASSERT_EQ(::flock(file, LOCK_EX), 0);
  const auto waiting = shop_->start("run merge", {{"WEIR_QUERY_LOG", "log"}});
  for (int i = 0; i < 500 && shop_->rows("SELECT 1 FROM state.lease WHERE run <> ''").empty(); ++i)
    std::this_thread::sleep_for(10ms);
  std::this_thread::sleep_for(500ms);
  waiting->signal(SIGINT);
  int code = 0;
  EXPECT_LT(millis_to_end(*waiting, code), 1500);
  EXPECT_EQ(code, 3) << waiting->err();
  ::close(file);
  EXPECT_EQ(shop_->weir("run merge").code, 0);
  EXPECT_EQ(shop_->disagreements(), "");
}

TEST_P(Protocol, AnInterruptWhileCommittingLeavesAllOrNothing) {
  for (const std::string point :
       {"after_begin", "after_write", "before_commit", "after_commit", "after_confirm", "before_record"}) {
    SCOPED_TRACE(point);
    write_delivery(*shop_, 1);
    ASSERT_EQ(shop_->weir("run merge replace_files").code, 0);
    write_delivery(*shop_, 2);
    const auto process = shop_->start("run merge replace_files", {{"WEIR_FAILPOINT", point + "=stop"}});
    until_stopped(*process);
    process->signal(SIGINT);
    process->signal(SIGCONT);
    int code = 0;
    EXPECT_LT(millis_to_end(*process, code), 1500);
    EXPECT_EQ(code, 3) << process->err();
    EXPECT_EQ(shop_->weir("run merge replace_files").code, 0);
    EXPECT_EQ(shop_->rows("SELECT count(*) FROM lake.merge WHERE v >= 20"), "5");
    EXPECT_EQ(shop_->rows("SELECT DISTINCT v FROM lake.replace_files"), "26");
    EXPECT_EQ(shop_->disagreements(), "");
  }
}

TEST_P(Protocol, ASecondInterruptLeavesAtOnce) {
  const auto process = shop_->start("run merge", {{"WEIR_FAILPOINT", "before_commit=sleep:20000"}});
  for (int i = 0; i < 500 && shop_->rows("SELECT 1 FROM state.lease WHERE run <> ''").empty(); ++i)
    std::this_thread::sleep_for(10ms);
  std::this_thread::sleep_for(500ms);
  process->signal(SIGINT);
  std::this_thread::sleep_for(200ms);
  process->signal(SIGINT);
  int code = 0;
  EXPECT_LT(millis_to_end(*process, code), 1000);
  EXPECT_EQ(code, 3);
  EXPECT_EQ(shop_->weir("run merge").code, 0);
  EXPECT_EQ(shop_->disagreements(), "");
}

TEST_P(Protocol, AnUnchangedProjectRunsNoQuery) {
  shop_->write("models/needle.sql", "-- materialize ducklake://main/needle\nSELECT 42 AS needle_of_the_query\n");
  ASSERT_EQ(shop_->weir("run seed needle merge", {{"WEIR_QUERY_LOG", "first"}}).code, 0);
  const Ended second = shop_->weir("run seed needle merge --json", {{"WEIR_QUERY_LOG", "second"}});
  ASSERT_EQ(second.code, 0) << second.err;
  const json result = json::parse(second.out);
  for (const json& step : result["steps"]) EXPECT_EQ(step["status"], "fresh") << step["model"];
  EXPECT_GT(logged("first", "needle_of_the_query"), 0);
  EXPECT_GT(logged("second", "SELECT"), 0);
  EXPECT_EQ(logged("second", "needle_of_the_query"), 0);
  EXPECT_EQ(logged("second", "read_csv"), 0);
}

TEST_P(Protocol, IndependentBranchesComputeAtTheSameTime) {
  for (const std::string name : {"left", "right"})
    shop_->write("models/" + name + ".sql",
                 "-- materialize ducklake://main/" + name +
                     "\nSELECT i % 1000 AS k, sum(hash(i))::DOUBLE AS s FROM range(10000000) r(i) GROUP BY 1\n");
  const Ended run = shop_->weir("run left right --jobs 2 --json");
  ASSERT_EQ(run.code, 0) << run.err;
  const json steps = json::parse(run.out)["steps"];
  const auto begin = [&](int i) { return steps[i]["started"].get<std::string>(); };
  // Each began before the other can have ended.
  const std::string shop =
      "SELECT abs(epoch_ms('" + begin(0) + "'::TIMESTAMPTZ) - epoch_ms('" + begin(1) + "'::TIMESTAMPTZ))";
  const auto apart = std::stoll(shop_->rows(shop));
  EXPECT_LT(apart, steps[0]["ms"]["compute"].get<std::int64_t>());
  EXPECT_LT(apart, steps[1]["ms"]["compute"].get<std::int64_t>());
}

TEST_P(Protocol, ManyModelsAreOneVersion) {
  std::string line = "run";
  for (int i = 0; i < 30; ++i) {
    const std::string name = "m" + std::to_string(i);
    const std::string query =
        i == 0 ? "SELECT 1 AS a\n" : "ATTACH 'ducklake://main' AS l;\nSELECT a FROM l.m" + std::to_string(i - 1) + "\n";
    shop_->write("models/" + name + ".sql", "-- materialize ducklake://main/" + name + "\n" + query);
    line += " " + name;
  }
  const std::string before = shop_->rows("SELECT max(snapshot_id) FROM __ducklake_metadata_lake.ducklake_snapshot");
  const Ended run = shop_->weir(line);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(shop_->rows("SELECT max(snapshot_id) - " + before + " FROM __ducklake_metadata_lake.ducklake_snapshot"),
            "1");
  EXPECT_EQ(shop_->disagreements(), "");
}

TEST_P(Protocol, AConsumerNeverWaitsForItsProducersCommit) {
  shop_->write("models/consumer.sql",
               "-- materialize ducklake://main/consumer\nATTACH 'ducklake://main' AS l;\n"
               "SELECT sum(v)::BIGINT AS consumed_from_the_stage FROM l.merge\n");
  const auto run =
      shop_->start("run merge consumer", {{"WEIR_FAILPOINT", "before_write=stop"}, {"WEIR_QUERY_LOG", "log"}});
  until_stopped(*run);
  // Nothing of the producer is committed yet, and its consumer was computed.
  EXPECT_EQ(shop_->rows("SELECT count(*) FROM __ducklake_metadata_lake.ducklake_table WHERE table_name = 'merge'"),
            "0");
  EXPECT_GT(logged("log", R"(AS SELECT result.""consumed_from_the_stage"")"), 0);
  run->signal(SIGCONT);
  EXPECT_EQ(run->wait(30s), 0) << run->err();
  EXPECT_EQ(shop_->rows("SELECT consumed_from_the_stage FROM lake.consumer"),
            shop_->rows("SELECT sum(v) FROM lake.merge"));
  EXPECT_EQ(shop_->disagreements(), "");
}

TEST_P(Protocol, AFailingWriteTakesOutItselfAndItsReaders) {
  shop_->write("models/a.sql", "-- materialize ducklake://main/a\nSELECT 1 AS a\n");
  shop_->write("models/b.sql", "-- materialize ducklake://main/b\nATTACH 'ducklake://main' AS l;\nSELECT a FROM l.a\n");
  shop_->write("models/c.sql", "-- materialize ducklake://main/c\nSELECT 1 AS a\n");
  const auto status = [](const Ended& run, const std::string& model) {
    const json result = json::parse(run.out);
    for (const json& step : result["steps"])
      if (step["model"] == model) return step["status"].get<std::string>();
    return std::string("absent");
  };
  const Ended atomic = shop_->weir("run a b c --atomic --json", {{"WEIR_FAILPOINT", "write_statement@1=error"}});
  EXPECT_EQ(atomic.code, 1);
  EXPECT_EQ(shop_->rows(
                "SELECT count(*) FROM duckdb_tables() WHERE database_name = 'lake' AND table_name IN ('a', 'b', 'c')"),
            "0");
  const Ended run = shop_->weir("run a b c --json", {{"WEIR_FAILPOINT", "write_statement@1=error"}});
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(status(run, "a"), "failed");
  EXPECT_EQ(status(run, "b"), "skipped");
  EXPECT_EQ(status(run, "c"), "materialized");
  // The reader is still computing when its producer's write fails, two seconds after it was staged.
  const Ended late =
      shop_->weir("run a b --json", {{"WEIR_FAILPOINT", "write_statement@1=error,after_stage@2=sleep:4000"}});
  EXPECT_EQ(status(late, "a"), "failed");
  EXPECT_EQ(status(late, "b"), "skipped");
  EXPECT_EQ(shop_->weir("run a b c").code, 0);
  EXPECT_EQ(shop_->rows("SELECT * FROM lake.b"), "1");
  EXPECT_EQ(shop_->disagreements(), "");
}

TEST_P(Protocol, StateIsRebuiltFromTheLake) {
  const std::string all = "run replace merge scd part --partition p1";
  ASSERT_EQ(shop_->weir(all).code, 0);
  if (GetParam() == Catalog::Sqlite) {
    shop_->write(".weir/state.sqlite",
                 "this is no database, but a text that is longer than a hundred bytes, so that nobody takes it for an "
                 "empty file");
    std::filesystem::remove(shop_->root() + "/.weir/state.sqlite-wal");
    const Ended broken = shop_->weir(all);
    EXPECT_NE(broken.code, 0);
    EXPECT_NE(broken.err.find("W7003"), std::string::npos) << broken.err;
    std::filesystem::remove_all(shop_->root() + "/.weir");
  } else {
    shop_->lose_state();
  }
  ASSERT_EQ(shop_->weir("state rebuild").code, 0);
  const Ended again = shop_->weir(all + " --json");
  ASSERT_EQ(again.code, 0) << again.err;
  const json result = json::parse(again.out);
  for (const json& step : result["steps"]) EXPECT_EQ(step["status"], "fresh") << step["model"];
  Expected expected;
  for (const std::string model : {"replace", "merge", "scd", "part"}) {
    expected.apply(model, 1);
    EXPECT_EQ(shop_->rows(expected.question(model)), expected.answer(model)) << model;
  }
  EXPECT_EQ(shop_->disagreements(), "");
}

TEST_P(Protocol, AFullDiskPublishesNothing) {
  shop_->write("models/big.sql",
               "-- materialize ducklake://main/big\nSELECT hash(i + (SELECT max(v) FROM read_csv('data.csv'))) AS h "
               "FROM range(1000000) r(i)\n");
  ASSERT_EQ(shop_->weir("run big").code, 0);
  const std::string before = shop_->rows("SELECT count(*), sum(h::DOUBLE) FROM lake.big");
  write_delivery(*shop_, 2);
  const auto limited =
      scenario::Process::start({"/bin/bash", "-c", "trap '' XFSZ; ulimit -f 2000; exec \"$WEIR_BINARY\" run big"},
                               shop_->root(), {{"WEIR_EXTENSIONS", WEIR_EXTENSION_FOLDER}});
  EXPECT_EQ(limited->wait(30s), 1) << limited->err();
  EXPECT_NE(limited->err().find("weir-"), std::string::npos) << "names the file: " << limited->err();
  EXPECT_EQ(shop_->rows("SELECT count(*), sum(h::DOUBLE) FROM lake.big"), before);
  EXPECT_EQ(shop_->weir("run big").code, 0);
  EXPECT_NE(shop_->rows("SELECT count(*), sum(h::DOUBLE) FROM lake.big"), before);
  EXPECT_EQ(shop_->disagreements(), "");
}

INSTANTIATE_TEST_SUITE_P(Catalogs, Protocol, testing::Values(Catalog::Sqlite, Catalog::Postgres),
                         [](const auto& info) { return info.param == Catalog::Sqlite ? "sqlite" : "postgres"; });

}  // namespace
}  // namespace weir::faults
