#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "lake/lakes.h"
#include "support/test_lake.h"

namespace weir::lake {
namespace {

using duck::Sql;
using test::TestLake;

class Locking : public testing::TestWithParam<TestLake::Catalog> {
 protected:
  void SetUp() override {
    if (GetParam() == TestLake::Catalog::Postgres && !TestLake::has_postgres()) GTEST_SKIP() << "no PostgreSQL server";
    lake_ = std::make_unique<TestLake>(GetParam());
  }
  std::unique_ptr<TestLake> lake_;
};
INSTANTIATE_TEST_SUITE_P(Catalogs, Locking, testing::Values(TestLake::Catalog::Sqlite, TestLake::Catalog::Postgres),
                         [](const auto& one) {
                           return one.param == TestLake::Catalog::Sqlite ? "Sqlite" : "Postgres";
                         });

TEST_P(Locking, ASecondWriterWaitsForTheFirst) {
  const std::atomic<bool> go{false};
  auto first = lake_->main().lock(go);
  ASSERT_TRUE(first.has_value());
  EXPECT_TRUE((*first)->is_held());
  std::atomic<bool> got{false};
  std::thread second([&] { got = lake_->main().lock(go).has_value(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(80));
  EXPECT_FALSE(got.load());
  first->reset();
  second.join();
  EXPECT_TRUE(got.load());
}

TEST_P(Locking, WaitingEndsWhenTheCommandIsStopped) {
  std::atomic<bool> stop{false};
  const auto first = lake_->main().lock(stop);
  ASSERT_TRUE(first.has_value());
  stop = true;
  const auto second = lake_->main().lock(stop);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error()[0].code, Code::W6103);
}

TEST(Lock, AFileThatCannotBeMadeIsSaid) {
  TestLake lake;
  std::filesystem::remove(lake.path("lake/main.sqlite.lock"));
  std::filesystem::create_directory(lake.path("lake/main.sqlite.lock"));
  const std::atomic<bool> go{false};
  const auto refused = lake.main().lock(go);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error()[0].code, Code::W6004);
}

TEST(Files, OnlyUnknownFilesOfTheRunAreRemoved) {
  TestLake lake;
  auto connection = lake.connect();
  const std::string folder = lake.main().data_folder() + "main/t/";
  lake.run(connection, Sql("CREATE TABLE {} (a INTEGER)", lake.main().writable("main", "t")));
  std::filesystem::create_directories(folder);
  for (const char* name : {"weir-dead-1.parquet", "weir-dead-2.parquet", "weir-live-1.parquet"})
    lake.run(connection, Sql("COPY (SELECT 1::INTEGER AS a) TO {}", duck::Literal(folder + name)));
  lake.run(connection, Sql("CALL ducklake_add_data_files({}, 't', {}, schema => 'main')",
                           duck::Literal(lake.main().writer()), duck::Literal(folder + "weir-dead-1.parquet")));
  std::ofstream(folder + "weir-dead-3.txt") << "not ours";
  const auto removed = lake.main().remove_files(connection, "weir-dead-");
  ASSERT_TRUE(removed.has_value());
  EXPECT_EQ(*removed, 1);
  EXPECT_TRUE(std::filesystem::exists(folder + "weir-dead-1.parquet")) << "the catalog knows it";
  EXPECT_FALSE(std::filesystem::exists(folder + "weir-dead-2.parquet"));
  EXPECT_TRUE(std::filesystem::exists(folder + "weir-live-1.parquet"));
  EXPECT_TRUE(std::filesystem::exists(folder + "weir-dead-3.txt"));
  EXPECT_EQ(lake.values(connection, Sql("SELECT a FROM {}", lake.main().readable("main", "t"))), "1");
}

TEST(Files, StraysOfAFailedWriteGoAndOlderFilesStay) {
  TestLake lake;
  auto connection = lake.connect();
  const std::string folder = lake.main().data_folder() + "main/t/";
  lake.run(connection, Sql("CREATE TABLE {} AS SELECT 1 AS a", lake.main().writable("main", "t")));
  std::ofstream(folder + "old.parquet") << "x";
  std::filesystem::last_write_time(folder + "old.parquet",
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  const std::int64_t since = ::time(nullptr);
  {
    auto transaction = duck::Transaction::begin(connection);
    lake.run(connection, Sql("INSERT INTO {} SELECT range FROM range(1000)", lake.main().writable("main", "t")));
  }
  std::ofstream(folder + "new.parquet") << "x";
  const auto removed = lake.main().remove_strays(connection, folder, since);
  ASSERT_TRUE(removed.has_value());
  EXPECT_GE(*removed, 1);
  EXPECT_FALSE(std::filesystem::exists(folder + "new.parquet"));
  EXPECT_TRUE(std::filesystem::exists(folder + "old.parquet"));
  EXPECT_EQ(lake.values(connection, Sql("SELECT count(*) FROM {}", lake.main().readable("main", "t"))), "1");
}

}  // namespace
}  // namespace weir::lake
