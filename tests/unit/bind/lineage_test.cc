#include <unistd.h>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "lineage_cases.h"

namespace weir::bind {
namespace {

class Lineage : public ::testing::Test {
 protected:
  void SetUp() override {
    auto database = duck::Database::open({.extension_folder = WEIR_EXTENSION_FOLDER});
    ASSERT_TRUE(database.has_value());
    database_ = *database;
    auto connection = database_->connect();
    ASSERT_TRUE(connection.has_value());
    connection_ = std::make_unique<duck::Connection>(std::move(*connection));
    run(R"(CREATE TABLE t (a INTEGER, b INTEGER, c VARCHAR, d DATE, s STRUCT(x INTEGER, y STRUCT(z INTEGER, w INTEGER)),
                           l INTEGER[], ls STRUCT(p INTEGER, q INTEGER)[]))");
    run("CREATE TABLE u (a INTEGER, b INTEGER, e VARCHAR, ts TIMESTAMP)");
    run("CREATE TABLE v (a INTEGER, k INTEGER)");
  }

  void run(const std::string& sql) {
    auto done = connection_->execute(duck::Sql::verbatim(sql));
    ASSERT_TRUE(done.has_value()) << sql << ": " << done.error().message;
  }

  Result<QueryLineage> lineage(const std::string& sql) { return cases::lineage_of(*connection_, sql); }

  std::shared_ptr<duck::Database> database_;
  std::unique_ptr<duck::Connection> connection_;
};

TEST_F(Lineage, OfEveryConstructHasExactlyTheReasonedEdges) {
  run("CREATE MACRO plus(x, y) AS x + y");
  run("CREATE MACRO plus_rows(n) AS TABLE SELECT k + n AS n FROM v WHERE a > 0");
  run("CREATE VIEW view_of_t AS SELECT a * 2 AS twice, b, c FROM t");
  run("CREATE VIEW view_of_view AS SELECT * FROM view_of_t WHERE b > 1");
  run("CREATE TEMP TABLE scratch AS SELECT a AS z FROM t");
  run("CREATE SCHEMA other");
  run("CREATE TABLE other.t (a INTEGER)");
  run("CREATE TABLE \"odd table\" (\"odd \"\"name\"\"\" INTEGER)");
  run("CREATE TABLE named (sum INTEGER)");
  const auto all = cases::read_cases(WEIR_TEST_FOLDER "/lineage_constructs.txt");
  EXPECT_GT(all.size(), 90U);
  for (const cases::Case& wanted : all) {
    const cases::Planned planned = cases::plan(*connection_, wanted.sql);
    ASSERT_EQ(planned.failure, "") << wanted.name;
    std::vector<std::string> names = planned.names;
    if (wanted.name == "create table as") names = {"next"};
    cases::expect_lineage(wanted, trace(planned.json, names, wanted.sql));
  }
}

TEST_F(Lineage, FollowsFiles) {
  const auto folder = std::filesystem::temp_directory_path() / ("weir-lineage-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "x.parquet").string();
  run("COPY (SELECT 1 AS a, 2 AS b) TO '" + file + "'");
  cases::Case wanted{
      "file", "SELECT a + 1 AS x, filename FROM '" + file + "' WHERE b > 0", {}, {"where file:" + file + ".b"}};
  wanted.outputs = {"x <- file:" + file + ".a:expression", "filename <-"};
  cases::expect_lineage(wanted, lineage(wanted.sql));
  std::filesystem::remove_all(folder);
}

TEST_F(Lineage, TypesAreSpelledAsDuckDbDoes) {
  const std::string sql =
      "SELECT a, c, d, s, l, ls, ts, a > 1 AS is_large, a::DECIMAL(10,2) AS price, MAP {c: a} AS by_name, "
      "ts::TIMESTAMPTZ AS zoned, [1, 2]::INTEGER[2] AS pair, 'x'::ENUM ('x', 'y') AS kind, "
      "union_value(num := a) AS either, 1 = ANY (SELECT k FROM v) AS among, NULL AS none, '1:0'::TIMETZ AS hour, "
      "'{}'::JSON AS json, 1::HUGEINT AS huge, ''::BLOB AS bytes, 1::UTINYINT AS tiny, uuid() AS id, INTERVAL 1 DAY AS "
      "day, {'a b': 1} AS odd FROM t JOIN u USING (a)";
  auto columns = connection_->describe(duck::Sql::verbatim(sql));
  ASSERT_TRUE(columns.has_value());
  auto found = lineage(sql);
  ASSERT_TRUE(found.has_value()) << found.error().front().message;
  for (std::size_t i = 0; i < columns->size(); ++i) EXPECT_EQ((*columns)[i].type, found->outputs[i].type) << i;
}

TEST_F(Lineage, OfAnUnknownOperatorIsRefusedByName) {
  const auto found =
      trace(R"({"plans": [{"type": "LOGICAL_TELEPORT", "children": [{"type": "LOGICAL_DUMMY_SCAN"}]}]})", {"x"});
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().front().code, Code::W2190);
  EXPECT_NE(found.error().front().message.find("LOGICAL_TELEPORT"), std::string::npos);
}

TEST_F(Lineage, OfAnUnknownExpressionIsRefusedByName) {
  const auto found = trace(R"({"plans": [{"type": "LOGICAL_PROJECTION", "table_index": 1,
      "expressions": [{"expression_class": "BOUND_WISH", "type": "WISH"}],
      "children": [{"type": "LOGICAL_DUMMY_SCAN"}]}]})",
                           {"x"});
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().front().code, Code::W2190);
  EXPECT_NE(found.error().front().message.find("BOUND_WISH"), std::string::npos);
}

TEST_F(Lineage, OfWhatIsNoPlanIsRefused) {
  for (const char* text : {"", "{", "{}", "[]", R"({"plans": []})", R"({"error": true, "error_type": "binder"})",
                           R"({"plans": [{"type": "LOGICAL_GET", "column_indexes": [{"index": 7}]}]})",
                           R"({"plans": [{"type": "LOGICAL_CTE_REF", "cte_index": 3, "chunk_types": []}]})"})
    EXPECT_FALSE(trace(text, {"x"}).has_value()) << text;
}

TEST_F(Lineage, FollowsHundredsOfCommonTableExpressions) {
  std::string sql = "WITH c0 AS (SELECT a, b FROM t)";
  for (int i = 1; i <= 300; ++i)
    sql += ", c" + std::to_string(i) + " AS (SELECT a, b FROM c" + std::to_string(i - 1) + " WHERE b > 0)";
  sql += " SELECT a FROM c300";
  cases::expect_lineage({"300", sql, {"a <- t.a:copy"}, {"where t.b"}}, lineage(sql));
}

TEST_F(Lineage, FollowsDeepExpressions) {
  std::string sum = "a";
  for (int i = 0; i < 400; ++i) sum = "(" + sum + " + b)";
  const std::string sql = "SELECT " + sum + " AS x FROM t";
  cases::expect_lineage({"deep", sql, {"x <- t.a:expression, t.b:expression"}, {}}, lineage(sql));
}

TEST_F(Lineage, FollowsLongExpressions) {
  std::string sum = "a";
  for (int i = 0; i < 3000; ++i) sum += ", a + " + std::to_string(i);
  const std::string sql = "SELECT greatest(" + sum + ") AS x FROM t";
  cases::expect_lineage({"long", sql, {"x <- t.a:expression"}, {}}, lineage(sql));
}

}  // namespace
}  // namespace weir::bind
