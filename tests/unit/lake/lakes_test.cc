#include "lake/lakes.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>

#include "lake/extensions.h"
#include "support/test_lake.h"

namespace weir::lake {
namespace {

using duck::Identifier;
using duck::Sql;
using test::TestLake;

const Lakes::Options kReadOptions{.extension_folder = WEIR_EXTENSION_FOLDER};

Asset asset(const std::string& schema, const std::string& name) { return {AssetKind::Lake, "main", schema, name}; }

/// Runs a test on each catalog; PostgreSQL where the environment offers a server.
class OnCatalog : public testing::TestWithParam<TestLake::Catalog> {
 protected:
  void SetUp() override {
    if (GetParam() == TestLake::Catalog::Postgres && !TestLake::has_postgres()) GTEST_SKIP() << "no PostgreSQL server";
    lake_ = std::make_unique<TestLake>(GetParam());
  }
  std::unique_ptr<TestLake> lake_;
};
INSTANTIATE_TEST_SUITE_P(Catalogs, OnCatalog, testing::Values(TestLake::Catalog::Sqlite, TestLake::Catalog::Postgres),
                         [](const auto& one) {
                           return one.param == TestLake::Catalog::Sqlite ? "Sqlite" : "Postgres";
                         });

TEST_P(OnCatalog, ReaderSeesACommitOfTheWriterAtOnceAndNothingBefore) {
  auto writer = lake_->connect();
  auto reader = lake_->connect();
  const auto& main = lake_->main();
  lake_->run(writer, Sql("CREATE TABLE {} AS SELECT 1 AS a", main.writable("main", "t")));
  auto transaction = duck::Transaction::begin(writer);
  ASSERT_TRUE(transaction.has_value());
  lake_->run(writer, Sql("INSERT INTO {} VALUES (2)", main.writable("main", "t")));
  EXPECT_EQ(lake_->values(reader, Sql("SELECT a FROM {} ORDER BY a", main.readable("main", "t"))), "1");
  ASSERT_TRUE(transaction->commit().has_value());
  EXPECT_EQ(lake_->values(reader, Sql("SELECT a FROM {} ORDER BY a", main.readable("main", "t"))), "1 2");
}

TEST_P(OnCatalog, ReaderRefusesWrites) {
  auto connection = lake_->connect();
  EXPECT_FALSE(connection.execute(Sql("CREATE TABLE {} (a INTEGER)", lake_->main().readable("main", "t"))).has_value());
}

TEST_P(OnCatalog, ANewLakeKeepsSmallRowsInFiles) {
  auto connection = lake_->connect();
  EXPECT_EQ(lake_->values(connection, Sql("SELECT value FROM {} WHERE key = 'data_inlining_row_limit'",
                                          lake_->main().metadata("ducklake_metadata"))),
            "0");
  lake_->run(connection, Sql("CREATE TABLE {} AS SELECT 1 AS a", lake_->main().writable("main", "t")));
  EXPECT_EQ(lake_->values(connection, Sql("SELECT record_count FROM {}", lake_->main().metadata("ducklake_data_file"))),
            "1");
}

TEST_P(OnCatalog, OneWriteTransactionMayReadStagesAndTheReader) {
  auto connection = lake_->connect();
  const auto& main = lake_->main();
  lake_->run(connection, Sql("CREATE TABLE {} AS SELECT 1 AS a", main.writable("main", "t")));
  lake_->run(connection, Sql("CREATE TABLE {}.s AS SELECT 2 AS a", Identifier(std::string(kStageDatabase))));
  auto transaction = duck::Transaction::begin(connection);
  ASSERT_TRUE(transaction.has_value());
  lake_->run(connection,
             Sql("INSERT INTO {} SELECT a FROM {}.s UNION ALL SELECT a + 10 FROM {}", main.writable("main", "t"),
                 Identifier(std::string(kStageDatabase)), main.readable("main", "t")));
  ASSERT_TRUE(transaction->commit().has_value());
  EXPECT_EQ(lake_->values(connection, Sql("SELECT a FROM {} ORDER BY a", main.readable("main", "t"))), "1 2 11");
}

TEST_P(OnCatalog, CurrentVersionPinsTheTransaction) {
  auto connection = lake_->connect();
  auto writer = lake_->connect();
  auto transaction = duck::Transaction::begin(connection);
  const auto before = lake_->main().current_version(connection);
  ASSERT_TRUE(before.has_value());
  lake_->run(writer, Sql("CREATE TABLE {} AS SELECT 1 AS a", lake_->main().writable("main", "t")));
  EXPECT_EQ(*lake_->main().current_version(connection), *before);
  transaction->rollback();
  EXPECT_EQ(*lake_->main().current_version(connection), *before + 1);
}

TEST(Lakes, AReaderOfALakeThatDoesNotExistSeesAnEmptyOneAndMakesNothing) {
  test::TemporaryFolder folder;
  Config config;
  config.lakes.push_back({"main",
                          {DatabaseLocation::Kind::Sqlite, folder.path() + "/m.sqlite", "m.sqlite"},
                          folder.path() + "/data",
                          std::nullopt});
  auto lakes = Lakes::open(config, kReadOptions);
  ASSERT_TRUE(lakes.has_value()) << test::messages(lakes.error());
  const Lake& lake = (*lakes)->lake("MAIN");
  EXPECT_FALSE(lake.exists());
  auto connection = (*lakes)->connect();
  EXPECT_EQ(*lake.current_version(*connection), 0);
  const auto states = lake.observe(*connection, {asset("main", "t")}, 0);
  ASSERT_TRUE(states.has_value());
  EXPECT_FALSE(states->at(asset("main", "t").key()).exists);
  EXPECT_EQ(states->at(asset("main", "t").key()).folder, folder.path() + "/data/main/t/");
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/m.sqlite"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/data"));
}

TEST(Lakes, ALakeThatWasMovedAsAWholeIsReadFromItsNewPlace) {
  TestLake first;
  {
    auto connection = first.connect();
    first.run(connection, Sql("CREATE TABLE {} AS SELECT 7 AS a", first.main().writable("main", "t")));
  }
  test::TemporaryFolder folder;
  Config config = first.config();
  std::filesystem::copy(first.path("lake"), folder.path() + "/moved", std::filesystem::copy_options::recursive);
  std::filesystem::rename(first.path("lake"), first.path("elsewhere"));
  config.lakes[0].catalog.target = folder.path() + "/moved/main.sqlite";
  config.lakes[0].data = folder.path() + "/moved/main";
  auto lakes = Lakes::open(config, {.extension_folder = WEIR_EXTENSION_FOLDER, .write = true});
  ASSERT_TRUE(lakes.has_value()) << test::messages(lakes.error());
  auto connection = (*lakes)->connect();
  const Lake& lake = (*lakes)->lake("main");
  EXPECT_EQ(first.values(*connection, Sql("SELECT a FROM {}", lake.readable("main", "t"))), "7");
  EXPECT_EQ(first.values(*connection, Sql("SELECT starts_with(filename, {}) FROM {}", duck::Literal(folder.path()),
                                          lake.readable("main", "t"))),
            "true");
  first.run(*connection, Sql("INSERT INTO {} VALUES (8)", lake.writable("main", "t")));
  EXPECT_EQ(first.values(*connection, Sql("SELECT a FROM {} ORDER BY a", lake.readable("main", "t"))), "7 8");
}

TEST(Lakes, ALakeThatWasCopiedWithItsFilesIsALakeOfItsOwn) {
  TestLake first;
  {
    auto connection = first.connect();
    first.run(connection, Sql("CREATE TABLE {} AS SELECT 7 AS a", first.main().writable("main", "t")));
  }
  test::TemporaryFolder folder;
  Config config = first.config();
  std::filesystem::copy(first.path("lake"), folder.path() + "/copy", std::filesystem::copy_options::recursive);
  config.lakes[0].catalog.target = folder.path() + "/copy/main.sqlite";
  config.lakes[0].data = folder.path() + "/copy/main";
  const Lakes::Options options{.extension_folder = WEIR_EXTENSION_FOLDER, .write = true};
  {
    auto lakes = Lakes::open(config, options);
    ASSERT_TRUE(lakes.has_value()) << test::messages(lakes.error());
    auto connection = (*lakes)->connect();
    const Lake& lake = (*lakes)->lake("main");
    first.run(*connection, Sql("INSERT INTO {} VALUES (8)", lake.writable("main", "t")));
    EXPECT_EQ(first.values(*connection, Sql("SELECT a FROM {} ORDER BY a", lake.readable("main", "t"))), "7 8");
  }
  auto connection = first.connect();
  EXPECT_EQ(first.values(connection, Sql("SELECT a FROM {}", first.main().readable("main", "t"))), "7");
  // Without its files it would write among those of the other one.
  std::filesystem::remove_all(folder.path() + "/copy/main");
  std::filesystem::create_directory(folder.path() + "/copy/main");
  const auto lakes = Lakes::open(config, options);
  ASSERT_FALSE(lakes.has_value());
  EXPECT_EQ(lakes.error()[0].code, Code::W6005);
  EXPECT_NE(lakes.error()[0].hint.find("if this project is a copy"), std::string::npos) << lakes.error()[0].hint;
}

TEST(Lakes, DataNamedElsewhereWhileTheOldPlaceStandsIsAnError) {
  TestLake first;
  Config config = first.config();
  config.lakes[0].data = first.path("other");
  const auto lakes = Lakes::open(config, {.extension_folder = WEIR_EXTENSION_FOLDER, .write = true});
  ASSERT_FALSE(lakes.has_value());
  EXPECT_EQ(lakes.error()[0].code, Code::W6005);
}

TEST(Lakes, ACatalogOfAnotherFormatIsNamedAsSuch) {
  TestLake first;
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(first.path("lake/main.sqlite").c_str(), &raw), SQLITE_OK);
  EXPECT_EQ(
      sqlite3_exec(raw, "UPDATE ducklake_metadata SET value = '2.0' WHERE key = 'version'", nullptr, nullptr, nullptr),
      SQLITE_OK);
  sqlite3_close(raw);
  const auto lakes = Lakes::open(first.config(), kReadOptions);
  ASSERT_FALSE(lakes.has_value());
  EXPECT_EQ(lakes.error()[0].code, Code::W6002);
  EXPECT_NE(lakes.error()[0].message.find("2.0"), std::string::npos);
}

TEST(Lakes, WhatIsNoLakeIsRefusedWithItsReason) {
  test::TemporaryFolder folder;
  Config config;
  config.lakes.push_back({"main",
                          {DatabaseLocation::Kind::Sqlite, folder.path() + "/m.sqlite", "m.sqlite"},
                          folder.path() + "/data",
                          std::nullopt});
  std::ofstream(config.lakes[0].catalog.target)
      << "hello, this is not a database at all, only some text of enough length to be read";
  auto lakes = Lakes::open(config, kReadOptions);
  ASSERT_FALSE(lakes.has_value());
  EXPECT_EQ(lakes.error()[0].code, Code::W6001);

  std::filesystem::remove(config.lakes[0].catalog.target);
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(config.lakes[0].catalog.target.c_str(), &raw), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(raw, "CREATE TABLE q (a INTEGER)", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(raw);
  lakes = Lakes::open(config, {.extension_folder = WEIR_EXTENSION_FOLDER});
  ASSERT_FALSE(lakes.has_value());
  EXPECT_EQ(lakes.error()[0].code, Code::W6001);
  EXPECT_NE(lakes.error()[0].message.find("without a lake"), std::string::npos);
}

TEST(Lakes, AServerThatIsDownIsNamedWithoutItsPassword) {
  Config config;
  config.lakes.push_back({"main",
                          {DatabaseLocation::Kind::Postgres, "postgresql://weir:hunter2@127.0.0.1:1/lab",
                           "postgres://weir@127.0.0.1:1/lab"},
                          "/tmp/none",
                          std::nullopt});
  const auto lakes = Lakes::open(config, kReadOptions);
  ASSERT_FALSE(lakes.has_value());
  EXPECT_EQ(lakes.error()[0].code, Code::W6001);
  EXPECT_EQ(lakes.error()[0].message.find("hunter2"), std::string::npos);
}

TEST(Lakes, ADataFolderThatCannotBeMadeIsAnErrorOfItsOwn) {
  test::TemporaryFolder folder;
  std::ofstream(folder.path() + "/file") << "x";
  Config config;
  config.lakes.push_back({"main",
                          {DatabaseLocation::Kind::Sqlite, folder.path() + "/m.sqlite", "m.sqlite"},
                          folder.path() + "/file/data",
                          std::nullopt});
  const auto lakes = Lakes::open(config, {.extension_folder = WEIR_EXTENSION_FOLDER, .write = true});
  ASSERT_FALSE(lakes.has_value());
  EXPECT_EQ(lakes.error()[0].code, Code::W6005);
}

TEST(Lakes, DatabasesAreAttachedReadOnlyWhenAskedFor) {
  TestLake lake;
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(lake.path("crm.sqlite").c_str(), &raw), SQLITE_OK);
  EXPECT_EQ(
      sqlite3_exec(raw, "CREATE TABLE people (a INTEGER); INSERT INTO people VALUES (5)", nullptr, nullptr, nullptr),
      SQLITE_OK);
  sqlite3_close(raw);
  lake.config().databases["crm"] = {DatabaseLocation::Kind::Sqlite, lake.path("crm.sqlite"), "crm.sqlite"};
  lake.config().databases["gone"] = {DatabaseLocation::Kind::DuckDb, lake.path("gone.duckdb"), "gone.duckdb"};
  auto lakes = lake.open_again();
  const auto people = lakes->datatable("crm", "main", "people");
  ASSERT_TRUE(people.has_value()) << test::messages(people.error());
  auto connection = lakes->connect();
  EXPECT_EQ(lake.values(*connection, Sql("SELECT a FROM {}", *people)), "5");
  EXPECT_FALSE(connection->execute(Sql("INSERT INTO {} VALUES (6)", *people)).has_value());
  const auto gone = lakes->datatable("gone", "main", "x");
  ASSERT_FALSE(gone.has_value());
  EXPECT_EQ(gone.error()[0].code, Code::W6006);
}

TEST(Extensions, AFileThatDiffersFromItsRecordIsNotLoaded) {
  test::TemporaryFolder folder;
  const std::string file = duck::Database::extension_file(folder.path(), "ducklake");
  auto refused = check_extensions(folder.path(), {"ducklake"});
  ASSERT_FALSE(refused.has_value()) << "no record";
  EXPECT_EQ(refused.error()[0].code, Code::W9001);
  std::ofstream(folder.path() + "/verified") << "ducklake 3 1 1 00\n";
  EXPECT_FALSE(check_extensions(folder.path(), {"ducklake"}).has_value()) << "no file";
  std::filesystem::create_directories(std::filesystem::path(file).parent_path());
  std::ofstream(file) << "abc";
  EXPECT_FALSE(check_extensions(folder.path(), {"ducklake"}).has_value()) << "another time and inode";
  EXPECT_FALSE(check_extensions(folder.path(), {"httpfs"}).has_value()) << "not in the record";
  EXPECT_TRUE(check_extensions(WEIR_EXTENSION_FOLDER, {"ducklake"}).has_value());
}

TEST(ReservedName, DifferentNamesStayDifferent) {
  EXPECT_EQ(reserved_name("_weir_r_", "Main"), "_weir_r_main");
  EXPECT_EQ(reserved_name("_weir_r_", "a-b"), "_weir_r_a_x2db");
  EXPECT_NE(reserved_name("_weir_r_", "a-b"), reserved_name("_weir_r_", "a_x2db"));
}

TEST(MaskSecrets, HidesPasswordsInBothSpellings) {
  EXPECT_EQ(mask_secrets("host=h password=hunter dbname=d"), "host=h password=*** dbname=d");
  EXPECT_EQ(mask_secrets("host=h password='hun\\' ter' dbname=d"), "host=h password=*** dbname=d");
  EXPECT_EQ(mask_secrets("at postgres://u:p@ss@host/db, x"), "at postgres://u:***@host/db, x");
  EXPECT_EQ(mask_secrets("no secret: here"), "no secret: here");
}

}  // namespace
}  // namespace weir::lake
