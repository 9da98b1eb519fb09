#include "lake/maintenance.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "lake/past.h"
#include "support/test_lake.h"

namespace weir::lake {
namespace {

namespace fs = std::filesystem;
using duck::Sql;
using test::TestLake;

Micros now() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

class Maintenance : public testing::TestWithParam<TestLake::Catalog> {
 protected:
  void SetUp() override {
    if (GetParam() == TestLake::Catalog::Postgres && !TestLake::has_postgres()) GTEST_SKIP() << "no PostgreSQL server";
    lake_ = std::make_unique<TestLake>(GetParam());
    connection_.emplace(lake_->connect());
  }
  const Lake& main() const { return lake_->main(); }
  duck::TableName t() const { return main().writable("main", "t"); }
  void run(const Sql& sql) { lake_->run(*connection_, sql); }
  std::string values(const Sql& sql) { return lake_->values(*connection_, sql); }
  Asset asset() const { return *parse_asset("ducklake://main/t"); }
  TableState state() {
    return main().observe(*connection_, {asset()}, *main().newest_version(*connection_))->at(asset().key());
  }

  std::unique_ptr<TestLake> lake_;
  std::optional<duck::Connection> connection_;
};
INSTANTIATE_TEST_SUITE_P(On, Maintenance, testing::Values(TestLake::Catalog::Sqlite, TestLake::Catalog::Postgres),
                         [](const auto& info) { return info.index == 0 ? "Sqlite" : "Postgres"; });

TEST_P(Maintenance, CompactionChangesNoRowOfAnyVersionAndIsNoChange) {
  run(Sql("CREATE TABLE {} AS SELECT i AS id FROM range(4) s(i)", t()));
  run(Sql("INSERT INTO {} VALUES (10)", t()));
  run(Sql("INSERT INTO {} VALUES (11)", t()));
  run(Sql("DELETE FROM {} WHERE id = 1", t()));
  const TableState before = state();
  EXPECT_EQ(compactable(*connection_, main(), Compaction::Merge)->files_before, 2);
  EXPECT_EQ(compactable(*connection_, main(), Compaction::Rewrite)->files_before, 1);

  const auto merged = compact(*connection_, main(), Compaction::Merge, {.weir = "1", .token = "A"}, "me");
  ASSERT_TRUE(merged.has_value()) << test::messages(merged.error());
  EXPECT_EQ(merged->tables, 1);
  EXPECT_EQ(merged->files_before, 2);
  EXPECT_EQ(merged->files_after, 1);
  EXPECT_EQ(merged->version, 5);
  const auto rewritten = compact(*connection_, main(), Compaction::Rewrite, {.weir = "1", .token = "B"}, "me");
  ASSERT_TRUE(rewritten.has_value()) << test::messages(rewritten.error());
  EXPECT_EQ(rewritten->files_before, 1);
  EXPECT_EQ(rewritten->version, 6);

  EXPECT_EQ(state().version, before.version);
  EXPECT_EQ(state().rows, before.rows);
  EXPECT_TRUE(main().changes_after(*connection_, 4)->tables.empty());
  const auto rows_at = [this](int version) {
    return values(Sql("SELECT count(*), sum(id) FROM {} AT (VERSION => {})", main().readable("main", "t"), version));
  };
  EXPECT_EQ(rows_at(1), "4|6");
  EXPECT_EQ(rows_at(2), "5|16");
  EXPECT_EQ(rows_at(3), "6|27");
  EXPECT_EQ(rows_at(4), "5|26");
  EXPECT_EQ(rows_at(6), "5|26");

  const auto again = compact(*connection_, main(), Compaction::Rewrite, {.weir = "1", .token = "C"}, "me");
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->version, std::nullopt) << "nothing to do makes no version";
}

TEST_P(Maintenance, VersionsExpireByAgeUnlessTheyAreNeeded) {
  run(Sql("CREATE TABLE {} AS SELECT 1 AS id", t()));
  run(Sql("INSERT INTO {} VALUES (2)", t()));
  run(Sql("CREATE TABLE {} AS SELECT 1 AS id", main().writable("main", "u")));
  run(Sql("INSERT INTO {} VALUES (3)", t()));
  auto needed = versions_that_tell(*connection_, main());
  ASSERT_TRUE(needed.has_value());
  EXPECT_TRUE(needed->contains(3)) << "the newest of u";
  EXPECT_TRUE(needed->contains(4)) << "the newest of t";
  EXPECT_FALSE(needed->contains(1));
  needed->emplace(1, "a pin");
  EXPECT_TRUE(expirable(*connection_, main(), 0, *needed)->expired.empty());
  const auto expiry = expirable(*connection_, main(), now() + 1'000'000, *needed);
  ASSERT_TRUE(expiry.has_value());
  EXPECT_EQ(expiry->expired, (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(expiry->kept.at("a pin"), 1);
  ASSERT_TRUE(expire(*connection_, main(), expiry->expired).has_value());
  EXPECT_EQ(require_version(*connection_, main(), 2).error().front().code, Code::W6602);
  EXPECT_TRUE(require_version(*connection_, main(), 1).has_value());
  EXPECT_EQ(values(Sql("SELECT count(*) FROM {} AT (VERSION => 1)", main().readable("main", "t"))), "1");
}

TEST_P(Maintenance, WhoBeganToReadKeepsTheVersionOfThatTimeAndAllLaterOnes) {
  run(Sql("CREATE TABLE {} AS SELECT 1 AS id", t()));
  const Micros between = now();
  run(Sql("INSERT INTO {} VALUES (2)", t()));
  run(Sql("INSERT INTO {} VALUES (3)", t()));
  const auto needed = versions_since(*connection_, main(), between, "a run");
  ASSERT_TRUE(needed.has_value());
  EXPECT_EQ(needed->size(), 3U);
  EXPECT_FALSE(needed->contains(0));
}

TEST_P(Maintenance, OldFilesGoOnceTheyAreOldEnough) {
  run(Sql("CREATE TABLE {} AS SELECT 1 AS id", t()));
  run(Sql("CREATE OR REPLACE TABLE {} AS SELECT 2 AS id", t()));
  ASSERT_TRUE(expire(*connection_, main(), {0, 1}).has_value());
  EXPECT_EQ(*remove_old_files(*connection_, main(), now() - 60'000'000, true), 0);
  EXPECT_EQ(*remove_old_files(*connection_, main(), now() + 60'000'000, true), 1);
  EXPECT_EQ(*remove_old_files(*connection_, main(), now() + 60'000'000, false), 1);
  EXPECT_EQ(*remove_old_files(*connection_, main(), now() + 60'000'000, false), 0);
  EXPECT_EQ(values(Sql("FROM {}", main().readable("main", "t"))), "2");
}

TEST_P(Maintenance, UnknownFilesGoButNoStageOfALiveRunAndNothingYoung) {
  run(Sql("CREATE TABLE {} AS SELECT 1 AS id", t()));
  const std::string folder = main().data_folder() + "main/t/";
  for (const char* name : {"weir-LIVE-0-0-a.parquet", "weir-LIVELY-0-0-a.parquet", "ducklake-x.parquet", "note.txt"})
    std::ofstream(folder + name) << "x";
  EXPECT_EQ(*remove_unknown_files(*connection_, main(), now() - 60'000'000, {"LIVE"}, false), 0) << "all are young";
  const Micros later = now() + 60'000'000;
  EXPECT_EQ(*remove_unknown_files(*connection_, main(), later, {"LIVE"}, true), 2);
  EXPECT_EQ(*remove_unknown_files(*connection_, main(), later, {"LIVE"}, false), 2);
  EXPECT_TRUE(fs::exists(folder + "weir-LIVE-0-0-a.parquet"));
  EXPECT_TRUE(fs::exists(folder + "note.txt"));
  EXPECT_FALSE(fs::exists(folder + "ducklake-x.parquet"));
  EXPECT_EQ(values(Sql("FROM {}", main().readable("main", "t"))), "1");
}

TEST_P(Maintenance, WhatDuckLakeRefusesIsSaid) {
  const auto refused = expire(*connection_, main(), {-1});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().front().code, Code::W6620);
  EXPECT_EQ(*main().newest_version(*connection_), 0) << "nothing happened";
}

}  // namespace
}  // namespace weir::lake
