// Queries whose lineage others can check by hand: the 22 of TPC-H, the 99 of TPC-DS. Their texts are DuckDB's.
#include "lineage_cases.h"

namespace weir::bind {
namespace {

/// `known` of its `count` queries have been reasoned about.
void expect_benchmark(const std::string& name, std::size_t count, std::size_t known) {
  auto database = duck::Database::open({.extension_folder = WEIR_TEST_EXTENSIONS});
  ASSERT_TRUE(database.has_value());
  auto loaded = (*database)->load(name);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message << ": run scripts/setup";
  auto connection = (*database)->connect();
  ASSERT_TRUE(connection.has_value());
  const std::string generate = name == "tpch" ? "CALL dbgen(sf = 0)" : "CALL dsdgen(sf = 0)";
  ASSERT_TRUE(connection->execute(duck::Sql::verbatim(generate)).has_value());
  cases::Tables tables;
  auto columns =
      connection->query(duck::Sql("SELECT column_name, table_name FROM duckdb_columns() WHERE NOT internal"));
  ASSERT_TRUE(columns.has_value());
  for (std::size_t i = 0; i < columns->size(); ++i) tables.emplace(columns->text(i, 0), columns->text(i, 1));
  auto queries = connection->query(duck::Sql::verbatim("SELECT query_nr::VARCHAR, query FROM " + name + "_queries()"));
  ASSERT_TRUE(queries.has_value());
  std::map<std::string, std::string> texts;
  for (std::size_t i = 0; i < queries->size(); ++i) texts.emplace(queries->text(i, 0), queries->text(i, 1));
  ASSERT_EQ(texts.size(), count);
  std::set<std::string> seen;
  for (cases::Case& wanted : cases::read_cases(WEIR_TEST_FOLDER "/" + name + "_lineage.txt", tables)) {
    seen.insert(wanted.name);
    wanted.sql = texts.at(wanted.name);
    expect_lineage(wanted, cases::lineage_of(*connection, wanted.sql));
  }
  EXPECT_EQ(seen.size(), known);
}

TEST(LineageOfBenchmarks, OfEveryTpcHQueryIsExact) { expect_benchmark("tpch", 22, 22); }

TEST(LineageOfBenchmarks, OfEveryTpcDsQueryIsExact) { expect_benchmark("tpcds", 99, 99); }

}  // namespace
}  // namespace weir::bind
