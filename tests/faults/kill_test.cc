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
        "__ducklake_metadata_lake.ducklake_snapshot_changes WHERE json_valid(commit_extra_info)) WHERE asset = "
        "'ducklake://main/main." +
        model + "'"));
  }

  /// One delivery, killed at the point, then run again.
  void kill_and_run_again(const std::string& model, const std::string& point) {
    SCOPED_TRACE(model + " killed at " + point);
    write_delivery(*shop_, ++n_);
    const std::int64_t before = commits(model);
    const Ended killed = shop_->weir(line_for(model), {{"WEIR_FAILPOINT", point + "=exit"}});
    // Not every strategy runs two statements.
    const bool may_miss = point == "write_statement@2";
    ASSERT_TRUE(killed.code == kKilled || (may_miss && killed.code == 0)) << killed.code << killed.err;
    if (commits(model) > before) expected_.apply(model, n_);
    run_and_compare(model);
  }

  void run_and_compare(const std::string& model) {
    const std::int64_t before = commits(model);
    const Ended again = shop_->weir(line_for(model));
    ASSERT_EQ(again.code, 0) << again.err;
    const bool adds = model.starts_with("append");
    if (!adds || commits(model) > before) expected_.apply(model, n_);
    if (adds) {
      ASSERT_EQ(commits(model), before + 1) << "a new run appends once";
    }
    EXPECT_EQ(shop_->rows(expected_.question(model)), expected_.answer(model));
    EXPECT_EQ(shop_->disagreements(), "");
  }

  void first_run() {
    write_delivery(*shop_, ++n_);
    for (const std::string& model : strategies()) run_and_compare(model);
  }

  std::unique_ptr<Shop> shop_;
  Expected expected_;
  int n_ = 0;
};

TEST_P(Kill, AroundTheWrite) {
  first_run();
  for (const std::string& point : kAround)
    for (const std::string model : {"append", "merge"}) kill_and_run_again(model, point);
}

TEST_P(Kill, WhileWriting) {
  first_run();
  for (const std::string& point : kWriting)
    for (const std::string& model : strategies())
      if (model != "manual") kill_and_run_again(model, point);
}

TEST_P(Kill, InTheFirstRun) {
  for (const std::string& model : strategies())
    if (model != "manual") {
      kill_and_run_again(model, "after_write");
      kill_and_run_again(model, "after_commit");
    }
}

TEST_P(Kill, InAManualScript) {
  first_run();
  for (const std::string point :
       {"manual_statement@1", "manual_statement@4", "manual_statement@6", "manual_statement@7"})
    kill_and_run_again("manual", point);
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
      run_and_compare(model);
    }
  }
}

TEST_P(Kill, AtRandomTimes) {
  first_run();
  const char* given = std::getenv("WEIR_TEST_SEED");
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::atoi(given)) : std::random_device{}();
  std::printf("seed %u (WEIR_TEST_SEED repeats it)\n", seed);
  std::mt19937 random(seed);
  const std::string all = "run replace replace_files append append_files merge scd part part_files --partition p1";
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(shop_->weir(all).code, 0);
  const auto whole =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin).count();
  const auto until = begin + std::chrono::seconds(60);
  int kills = 0;
  for (; kills < 100 && std::chrono::steady_clock::now() < until; ++kills) {
    write_delivery(*shop_, ++n_);
    const auto process = shop_->start(all);
    std::this_thread::sleep_for(
        std::chrono::milliseconds(std::uniform_int_distribution<std::int64_t>(0, whole)(random)));
    process->signal(SIGKILL);
    process->wait(std::chrono::seconds(10));
    if (kills % 5 != 4) continue;
    const Ended again = shop_->weir(all);
    ASSERT_EQ(again.code, 0) << again.err;
    for (const std::string model : {"replace", "replace_files", "part", "part_files"}) {
      expected_.apply(model, n_);
      ASSERT_EQ(shop_->rows(expected_.question(model)), expected_.answer(model)) << model << " after kill " << kills;
    }
    // What was delivered and not published by a killed run is gone with the next delivery, so these are compared with
    // the commits.
    ASSERT_EQ(shop_->rows("SELECT count(*) FROM lake.append"), std::to_string(5 * commits("append")));
    ASSERT_EQ(shop_->rows("SELECT count(*) FROM lake.append_files"), std::to_string(120000 * commits("append_files")));
    ASSERT_EQ(
        shop_->rows("SELECT count(*) FROM read_csv('" + shop_->root() +
                    "/data.csv') d LEFT JOIN lake.merge m USING (k) LEFT JOIN lake.scd h ON h.k = d.k AND h.is_current "
                    "WHERE m.v IS DISTINCT FROM d.v OR h.v IS DISTINCT FROM d.v"),
        "0");
    ASSERT_EQ(shop_->rows("SELECT k, count(*) FROM lake.scd WHERE is_current GROUP BY k HAVING count(*) > 1"), "");
    ASSERT_EQ(shop_->rows("SELECT k, count(*) FROM lake.merge GROUP BY k HAVING count(*) > 1"), "");
    ASSERT_EQ(shop_->disagreements(), "") << "after kill " << kills;
  }
  std::printf("%d kills\n", kills);
}

INSTANTIATE_TEST_SUITE_P(Catalogs, Kill, testing::Values(Catalog::Sqlite, Catalog::Postgres),
                         [](const auto& info) { return info.param == Catalog::Sqlite ? "sqlite" : "postgres"; });

}  // namespace
}  // namespace weir::faults
