// SIGKILL at every edge of the protocol: afterwards one more run leaves lake, ledger and files in agreement, and the
// rows of an undisturbed sequence of runs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <thread>

#include "strategies.h"

namespace weir::faults {
namespace {

constexpr int kKilled = 128 + 9;

std::string line_for(const std::string& model) {
  return "run " + model + (model.starts_with("part") ? " --partition p1" : "");
}

/// Points that do not depend on the strategy.
const std::vector<std::string> kAround{"before_recovery", "before_claim", "after_claim", "before_compute",
                                       "before_audit",    "after_audit",  "before_lock", "after_lock",
                                       "before_record",   "after_record", "before_end",  "before_reconciled"};
/// Points where the strategy's own files and statements are on the way.
const std::vector<std::string> kWriting{"after_stage",       "after_begin",       "before_write",
                                        "write_statement@1", "write_statement@2", "after_write",
                                        "before_commit",     "after_commit",      "after_confirm"};

class Kill : public testing::TestWithParam<Catalog> {
 protected:
  void SetUp() override {
    if (!Shop::can(GetParam())) GTEST_SKIP() << "no server";
    shop_ = std::make_unique<Shop>(GetParam());
    write_models(*shop_);
    // Makes the lake, so that it can be looked at from the first kill on.
    shop_->write("models/seed.sql", "-- materialize ducklake://main/seed\nSELECT 1 AS a\n");
    ASSERT_EQ(shop_->weir("run seed").code, 0);
  }

  std::int64_t commits(const std::string& model) const {
    return std::stoll(shop_->rows(
        "SELECT count(*) FROM (SELECT unnest(json_extract_string(commit_extra_info, '$.steps[*].asset')) AS asset FROM "
        "__ducklake_metadata_lake.ducklake_snapshot_changes WHERE json_valid(commit_extra_info)) WHERE "
        "regexp_matches(asset, '(/|__)main[.]" +
        model + "(__[0-9a-f]{16})?$')"));
  }

  /// One delivery, of which each model's run is killed at the point: the next run recovers what the one before left.
  void kill_each(const std::string& point, const std::vector<std::string>& models) {
    SCOPED_TRACE("killed at " + point);
    write_delivery(*shop_, ++n_);
    for (const std::string& model : models) kill(model, point);
  }

  void kill(const std::string& model, const std::string& point) {
    const std::int64_t before = commits(model);
    const Ended killed = shop_->weir(line_for(model), {{"WEIR_FAILPOINT", point + "=exit"}});
    // Not every strategy runs two statements.
    const bool may_miss = point == "write_statement@2";
    ASSERT_TRUE(killed.code == kKilled || (may_miss && killed.code == 0)) << model << killed.code << killed.err;
    if (commits(model) > before) expected_.apply(model, n_);
  }

  /// Afterwards one run of them all gives what an undisturbed sequence gives, and everything agrees.
  void run_and_compare(const std::vector<std::string>& models, const std::string& options = {}) {
    std::map<std::string, std::int64_t> before;
    std::string line = "run";
    for (const std::string& model : models) {
      before[model] = commits(model);
      line += " " + model;
    }
    const Ended again = shop_->weir(line + " --partition p1" + options);
    ASSERT_EQ(again.code, 0) << again.err;
    for (const std::string& model : models) {
      const bool adds = model.find("append") != std::string::npos;
      if (!adds || commits(model) > before[model]) expected_.apply(model, n_);
      if (adds) {
        EXPECT_EQ(commits(model), before[model] + 1) << "a new run appends once";
      }
      EXPECT_EQ(shop_->rows(expected_.question(model)), expected_.answer(model)) << model;
    }
    EXPECT_EQ(shop_->disagreements(), "");
  }

  void first_run() {
    write_delivery(*shop_, ++n_);
    run_and_compare(strategies());
  }

  std::unique_ptr<Shop> shop_;
  Expected expected_;
  int n_ = 0;
};

/// All but the manual script, whose statements have failpoints of their own.
std::vector<std::string> managed() {
  std::vector<std::string> models = strategies();
  std::erase(models, "manual");
  return models;
}

TEST_P(Kill, AroundTheWrite) {
  const std::vector<std::string> models{"append", "merge"};
  first_run();
  for (const std::string& point : kAround) {
    kill_each(point, models);
    run_and_compare(models);
  }
}

TEST_P(Kill, WhileWriting) {
  first_run();
  for (const std::string& point : kWriting) {
    kill_each(point, managed());
    run_and_compare(managed());
  }
}

TEST_P(Kill, InTheFirstRun) {
  kill_each("after_write", managed());
  kill_each("after_commit", managed());
  run_and_compare(managed());
}

// One run writes them all in one transaction: a kill meets them at once, each at another place of its own work.
TEST_P(Kill, OfTheOtherStrategies) {
  write_more_models(*shop_);
  const std::vector<std::string>& models = more_strategies();
  std::string line = "run --partition p1";
  for (const std::string& model : models) line += " " + model;
  for (const std::string point :
       {"before_commit", "after_stage@4", "write_statement@3", "write_statement@6", "after_write@5", "after_commit"}) {
    SCOPED_TRACE("killed at " + point);
    write_delivery(*shop_, ++n_);
    std::map<std::string, std::int64_t> before;
    for (const std::string& model : models) before[model] = commits(model);
    const std::string at = " --at " + at_of(n_);
    const Ended killed = shop_->weir(line + at, {{"WEIR_FAILPOINT", point + "=exit"}});
    ASSERT_EQ(killed.code, kKilled) << killed.err;
    for (const std::string& model : models)
      if (commits(model) > before[model]) expected_.apply(model, n_);
    run_and_compare(models, at);
    if (HasFailure()) return;
  }
}

TEST_P(Kill, InAManualScript) {
  first_run();
  for (const std::string point :
       {"manual_statement@1", "manual_statement@4", "manual_statement@6", "manual_statement@7"}) {
    kill_each(point, {"manual"});
    run_and_compare({"manual"});
  }
}

TEST_P(Kill, InRecoveryItself) {
  first_run();
  for (const std::string point :
       {"recovery_recorded", "recovery_failed_slices", "recovery_cleaned", "recovery_released", "recovery_closed"}) {
    SCOPED_TRACE(point);
    write_delivery(*shop_, ++n_);
    for (const std::string model : {"merge", "replace_files"}) {
      ASSERT_EQ(shop_->weir(line_for(model), {{"WEIR_FAILPOINT", "after_write=exit"}}).code, kKilled);
      const int code = shop_->weir(line_for(model), {{"WEIR_FAILPOINT", point + "=exit"}}).code;
      ASSERT_TRUE(code == kKilled || point == "recovery_recorded") << code;
      run_and_compare({model});
    }
  }
}

// A hundred kills on each kind of catalog. What a killed run committed is told by the commit records, so that the rows
// can be compared exactly: a delivery that was lost with its run is gone with the next one.
TEST_P(Kill, AtRandomTimes) {
  constexpr int kKills = 100;
  constexpr int kKillsBeforeALook = 10;
  first_run();
  const char* given = std::getenv("WEIR_TEST_SEED");
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::atoi(given)) : std::random_device{}();
  std::printf("seed %u (WEIR_TEST_SEED repeats it)\n", seed);
  std::mt19937 random(seed);
  const std::vector<std::string> models{"replace", "replace_files", "append", "merge", "scd", "part"};
  std::string line = "run --partition p1";
  for (const std::string& model : models) line += " " + model;
  const auto begin = std::chrono::steady_clock::now();
  write_delivery(*shop_, ++n_);
  run_and_compare(models);
  const auto whole =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin).count() * 4 / 5;
  for (int kills = 1; kills <= kKills; ++kills) {
    write_delivery(*shop_, ++n_);
    std::map<std::string, std::int64_t> before;
    for (const std::string& model : models) before[model] = commits(model);
    const auto process = shop_->start(line);
    std::this_thread::sleep_for(
        std::chrono::milliseconds(std::uniform_int_distribution<std::int64_t>(0, whole)(random)));
    process->signal(SIGKILL);
    process->wait(std::chrono::seconds(10));
    for (const std::string& model : models)
      if (commits(model) > before[model]) expected_.apply(model, n_);
    if (kills % kKillsBeforeALook != 0) continue;
    SCOPED_TRACE("after kill " + std::to_string(kills));
    run_and_compare(models);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogs, Kill, testing::Values(Catalog::Sqlite, Catalog::Postgres),
                         [](const auto& info) { return info.param == Catalog::Sqlite ? "sqlite" : "postgres"; });

}  // namespace
}  // namespace weir::faults
