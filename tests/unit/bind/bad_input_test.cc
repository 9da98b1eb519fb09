// Queries that are large, unusual or hostile to a simple idea of names: each binds, or says why not.
#include <chrono>

#include "bound_project.h"

namespace weir::bind {
namespace {

using State = BoundModel::State;

class Unusual : public BoundProject {
 protected:
  void SetUp() override {
    BoundProject::SetUp();
    source("t", {{"id", "INTEGER"},
                 {"v", "DOUBLE"},
                 {"s", "VARCHAR"},
                 {"st", "STRUCT(a INTEGER, b VARCHAR)"},
                 {"l", "STRUCT(x INTEGER, y VARCHAR)[]"},
                 {"max", "INTEGER"}});
    source("u", {{"id", "INTEGER"}, {"w", "DOUBLE"}});
  }
  std::string bound_columns(const std::string& sql) {
    model("m", sql);
    bind();
    EXPECT_EQ(said(), Lines{}) << sql;
    return columns("m");
  }
};

TEST_F(Unusual, FiveThousandLines) {
  std::string sql = "SELECT id";
  for (int i = 0; i < 5000; ++i) sql += ",\n  v + " + std::to_string(i) + " AS c" + std::to_string(i);
  model("m", sql + "\nFROM t");
  bind();
  EXPECT_EQ(said(), Lines{});
  EXPECT_EQ(bound("m").columns.size(), 5001U);
  model("m", sql + ",\n  nope\nFROM t");
  bind();
  ASSERT_EQ(said().size(), 1U);
  EXPECT_TRUE(said()[0].starts_with("W2110 models/m.sql:5003:3 ")) << said()[0].substr(0, 80);
}

TEST_F(Unusual, ThreeHundredCtes) {
  std::string sql = "WITH c0 AS (SELECT id, v FROM t)";
  for (int i = 1; i < 300; ++i)
    sql += ",\n c" + std::to_string(i) + " AS (SELECT id, v + 1 AS v FROM c" + std::to_string(i - 1) + ")";
  EXPECT_EQ(bound_columns(sql + " SELECT * FROM c299"), "id INTEGER, v DOUBLE");
}

TEST_F(Unusual, RecursiveCte) {
  EXPECT_EQ(bound_columns("WITH RECURSIVE r(n) AS (SELECT id FROM t UNION ALL SELECT n + 1 FROM r WHERE n < 10) "
                          "SELECT n FROM r"),
            "n INTEGER");
}

TEST_F(Unusual, AModelThatReadsItselfHasTheColumnsOfItsLastVersion) {
  model("m", "SELECT id, v FROM m UNION ALL SELECT id, v FROM t");
  bind();
  EXPECT_EQ(bound("m").state, State::Opaque);
  captured("m", {{"id", "INTEGER"}, {"v", "DOUBLE"}});
  bind();
  EXPECT_EQ(bound("m").state, State::Bound);
  EXPECT_EQ(columns("m"), "id INTEGER, v DOUBLE");
}

TEST_F(Unusual, StarOverASourceThatNobodyKnows) {
  model("m", "SELECT * FROM nobody");
  model("n", "SELECT * FROM m");
  bind();
  EXPECT_EQ(bound("m").state, State::Blocked);
  EXPECT_EQ(bound("m").blocked_by, "ducklake://main/main.nobody");
  EXPECT_EQ(bound("n").blocked_by, "m");
}

TEST_F(Unusual, PivotWithoutInIsKnownWhenItRuns) {
  model("m", "PIVOT t ON s USING sum(v)");
  bind();
  EXPECT_EQ(bound("m").state, State::Opaque);
  ASSERT_EQ(said().size(), 1U);
  EXPECT_TRUE(said()[0].starts_with("W2122 ")) << said()[0];
}

TEST_F(Unusual, PivotWithInAndUnpivot) {
  EXPECT_EQ(bound_columns("PIVOT (SELECT id, s, v FROM t) ON s IN ('a', 'b') USING sum(v)"),
            "id INTEGER, a DOUBLE, b DOUBLE");
  EXPECT_EQ(bound_columns("UNPIVOT (SELECT id, v, v AS w FROM t) ON v, w INTO NAME n VALUE x"),
            "id INTEGER, n VARCHAR, x DOUBLE");
}

TEST_F(Unusual, AColumnNamedLikeAFunction) {
  EXPECT_EQ(bound_columns("SELECT max, max(max) OVER () AS m FROM t"), "max INTEGER, m INTEGER");
}

TEST_F(Unusual, UsingAndNaturalJoins) {
  EXPECT_EQ(bound_columns("SELECT id, w FROM t JOIN u USING (id)"), "id INTEGER, w DOUBLE");
  EXPECT_EQ(bound_columns("SELECT id, w FROM t NATURAL JOIN u"), "id INTEGER, w DOUBLE");
}

TEST_F(Unusual, CorrelatedSubqueriesAndLateralAliases) {
  EXPECT_EQ(bound_columns("SELECT id, (SELECT max(w) FROM u WHERE u.id = t.id) AS m FROM t"), "id INTEGER, m DOUBLE");
  EXPECT_EQ(bound_columns("SELECT v * 2 AS d, d + 1 AS e FROM t"), "d DOUBLE, e DOUBLE");
  EXPECT_EQ(bound_columns("SELECT t.id, x.w FROM t, LATERAL (SELECT w FROM u WHERE u.id = t.id) x"),
            "id INTEGER, w DOUBLE");
}

TEST_F(Unusual, StarsWithChanges) {
  EXPECT_EQ(bound_columns("SELECT * EXCLUDE (st, l, max, s) REPLACE (v::INTEGER AS v) FROM t"),
            "id INTEGER, v INTEGER");
  EXPECT_EQ(bound_columns("SELECT * RENAME (w AS x) FROM u"), "id INTEGER, x DOUBLE");
  EXPECT_EQ(bound_columns("SELECT COLUMNS('^(id|v)$') FROM t"), "id INTEGER, v DOUBLE");
}

TEST_F(Unusual, UnnestOfStructs) {
  EXPECT_EQ(bound_columns("SELECT id, unnest(st) FROM t"), "id INTEGER, a INTEGER, b VARCHAR");
  EXPECT_EQ(bound_columns("SELECT id, unnest(l, recursive := true) FROM t"), "id INTEGER, x INTEGER, y VARCHAR");
}

TEST_F(Unusual, OtherFormsOfAQuery) {
  EXPECT_EQ(bound_columns("FROM u"), "id INTEGER, w DOUBLE");
  EXPECT_EQ(bound_columns("TABLE u"), "id INTEGER, w DOUBLE");
  EXPECT_EQ(bound_columns("(SELECT id FROM t) -- the end"), "id INTEGER");
  EXPECT_EQ(bound_columns("VALUES (1, 'a')"), "col0 INTEGER, col1 VARCHAR");
  EXPECT_EQ(bound_columns("SELECT id FROM u AT (VERSION => 3)"), "id INTEGER");
}

TEST_F(Unusual, NamesWithQuotesAndOtherScripts) {
  source("we\"ird", {{"a \"b\" c", "INTEGER"}, {"größe", "DOUBLE"}});
  EXPECT_EQ(bound_columns("SELECT \"a \"\"b\"\" c\" AS x, \"größe\" FROM \"we\"\"ird\""), "x INTEGER, größe DOUBLE");
}

TEST_F(Unusual, PlacesCountCharactersBeforeThem) {
  model("m", "SELECT 'größe' AS g, nope FROM u");
  bind();
  ASSERT_EQ(said().size(), 1U);
  EXPECT_TRUE(said()[0].starts_with("W2110 models/m.sql:2:22 ")) << said()[0];
}

TEST_F(Unusual, PartitionTokensAndMacros) {
  model("m", "SELECT id, wm_partition(ts) AS p FROM e WHERE wm_partition(ts) = '{partition}' AND $partition <> ''",
        "\n-- partitioned daily");
  source("e", {{"id", "INTEGER"}, {"ts", "TIMESTAMP"}});
  bind();
  EXPECT_EQ(said(), Lines{});
  EXPECT_EQ(columns("m"), "id INTEGER, p VARCHAR");
}

TEST_F(Unusual, FilesOutsideTheProjectAreNotLookedAt) {
  model("m", "CREATE TEMP TABLE t AS SELECT * FROM read_csv('/etc/' || 'passwd', header = false); SELECT * FROM t");
  bind();
  EXPECT_EQ(bound("m").columns.size(), 0U);
  EXPECT_NE(bound("m").state, State::Bound);
}

TEST_F(Unusual, ATableOrTypeThatDoesNotExist) {
  model("m", "ATTACH ':memory:' AS mem;\nSELECT * FROM mem.nothing");
  model("n", "SELECT CAST(id AS strng) AS s FROM t");
  bind();
  ASSERT_EQ(said().size(), 2U);
  EXPECT_TRUE(said()[0].starts_with("W2107 models/m.sql:3:15 ")) << said()[0];
  EXPECT_TRUE(said()[1].starts_with("W2107 models/n.sql:2:19 ")) << said()[1];
}

TEST_F(Unusual, ArgumentsHaveTheirTypes) {
  model("m", "SELECT $cutoff AS c, id FROM u WHERE w > $least", "\n-- $cutoff (date)\n-- $least (double) = 1");
  bind();
  EXPECT_EQ(columns("m"), "c DATE, id INTEGER");
}

TEST_F(Unusual, AFileThatDoesNotParseBlocksItsReadersQuietly) {
  put("models/broken.sql", "-- materialize ducklake://main/broken\nSELEC 1");
  model("m", "SELECT * FROM broken");
  bind();
  EXPECT_EQ(bound("m").state, State::Blocked);
  EXPECT_EQ(bound("m").blocked_by, "broken");
  EXPECT_EQ(said(), Lines{});
}

}  // namespace
}  // namespace weir::bind
