#include "lake/catalog_columns.h"

#include <gtest/gtest.h>

#include "support/test_lake.h"

namespace weir::lake {
namespace {

using duck::Sql;
using test::TestLake;

Asset asset(const std::string& name) { return {AssetKind::Lake, "main", "main", name}; }

class AskingTheCatalog : public testing::TestWithParam<TestLake::Catalog> {
 protected:
  void SetUp() override {
    if (GetParam() == TestLake::Catalog::Postgres && !TestLake::has_postgres()) GTEST_SKIP() << "no PostgreSQL server";
    lake_ = std::make_unique<TestLake>(GetParam());
    connection_ = std::make_unique<duck::Connection>(lake_->connect());
  }
  duck::TableName table(const std::string& name) const { return lake_->main().writable("main", name); }
  void run(const Sql& sql) { lake_->run(*connection_, sql); }
  CatalogColumns ask(const std::vector<Asset>& wanted) {
    auto found = catalog_columns(lake_->main().config(), wanted);
    if (!found) ADD_FAILURE() << test::messages(found.error());
    return found ? std::move(*found) : CatalogColumns();
  }

  std::unique_ptr<TestLake> lake_;
  std::unique_ptr<duck::Connection> connection_;
};
INSTANTIATE_TEST_SUITE_P(Catalogs, AskingTheCatalog,
                         testing::Values(TestLake::Catalog::Sqlite, TestLake::Catalog::Postgres), [](const auto& one) {
                           return one.param == TestLake::Catalog::Sqlite ? "Sqlite" : "Postgres";
                         });

TEST_P(AskingTheCatalog, ColumnsAreThoseThatTheEngineReports) {
  run(Sql("CREATE TABLE {} (a INTEGER, b DECIMAL(10,2), c STRUCT(x INTEGER, y VARCHAR[]), d MAP(VARCHAR, BIGINT))",
          table("t")));
  run(Sql("ALTER TABLE {} ADD COLUMN e DATE", table("t")));
  run(Sql("ALTER TABLE {} DROP COLUMN a", table("t")));
  const CatalogColumns found = ask({asset("T"), asset("other")});
  const auto told = connection_->describe(Sql("FROM {}", table("t")));
  ASSERT_TRUE(told.has_value());
  ASSERT_TRUE(found.tables.contains(asset("t").key()));
  EXPECT_EQ(found.tables.at(asset("t").key()), *told);
  EXPECT_EQ(found.tables.size(), 1U);
}

TEST_P(AskingTheCatalog, ViewsAreNamedAndDroppedTablesAreGone) {
  run(Sql("CREATE TABLE {} AS SELECT 1 AS a", table("gone")));
  run(Sql("CREATE TABLE {} AS SELECT 1 AS a", table("t")));
  run(Sql("CREATE VIEW {} AS SELECT a FROM {}", table("v"), table("t")));
  run(Sql("DROP TABLE {}", table("gone")));
  const CatalogColumns found = ask({asset("gone"), asset("v")});
  EXPECT_TRUE(found.tables.empty());
  EXPECT_EQ(found.views, std::set<std::string>{asset("v").key()});
}

TEST(AskingNoCatalog, ALakeThatNoRunMadeHasNoTables) {
  const test::TemporaryFolder folder;
  LakeConfig lake{.name = "main"};
  lake.catalog.target = folder.path() + "/none.sqlite";
  const auto found = catalog_columns(lake, {asset("t")});
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->tables.empty());
}

}  // namespace
}  // namespace weir::lake
