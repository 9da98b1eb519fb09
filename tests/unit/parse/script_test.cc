#include "parse/script.h"

#include <gtest/gtest.h>

namespace weir::parse {
namespace {

class Parse : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    database_ = *duck::Database::open({});
    connection_ = std::make_unique<duck::Connection>(*database_->connect());
  }
  static void TearDownTestSuite() {
    connection_.reset();
    database_.reset();
  }
  static Script parse(std::string_view sql) {
    auto script = parse_script(*connection_, sql, "m.sql");
    if (script.has_value()) return *script;
    ADD_FAILURE() << sql << ": " << script.error().front().message << " at " << script.error().front().span.begin;
    return {};
  }
  static Diagnostic error(std::string_view sql) {
    auto script = parse_script(*connection_, sql, "m.sql");
    if (!script.has_value()) return script.error().front();
    ADD_FAILURE() << "no error: " << sql;
    return {.code = Code::W0001};
  }
  // "dl.orders@14" for each table of the last statement.
  static std::vector<std::string> tables(std::string_view sql) {
    std::vector<std::string> all;
    const Script script = parse(sql);
    if (script.statements.empty()) return all;
    for (const TableReference& table : script.statements.back().tables)
      all.push_back(std::string(sql.substr(table.span.begin, table.span.size())) + (table.has_alias ? " as" : ""));
    return all;
  }
  static std::shared_ptr<duck::Database> database_;
  static std::unique_ptr<duck::Connection> connection_;
};
std::shared_ptr<duck::Database> Parse::database_;
std::unique_ptr<duck::Connection> Parse::connection_;
using Names = std::vector<std::string>;

TEST_F(Parse, StatementKindsFollowTheGrammar) {
  const std::vector<std::pair<const char*, StatementKind>> cases = {
      {"SELECT 1", StatementKind::Result},
      {"WITH a AS (SELECT 1) SELECT * FROM a", StatementKind::Result},
      {"FROM range(3)", StatementKind::Result},
      {"VALUES (1)", StatementKind::Result},
      {"TABLE x", StatementKind::Result},
      {"PIVOT t ON x IN (1) USING sum(y)", StatementKind::Result},
      {"PIVOT t ON x USING sum(y)", StatementKind::Result},
      {"UNPIVOT t ON a, b", StatementKind::Result},
      {"((SELECT 1)) UNION SELECT 2", StatementKind::Result},
      {"ATTACH 'ducklake' AS a", StatementKind::Attach},
      {"INSTALL httpfs", StatementKind::Install},
      {"LOAD httpfs", StatementKind::Load},
      {"SET threads = 1", StatementKind::Set},
      {"RESET threads", StatementKind::Set},
      {"PRAGMA version", StatementKind::Set},
      {"USE a.b", StatementKind::Use},
      {"CREATE OR REPLACE TEMPORARY VIEW v AS SELECT 1", StatementKind::CreateTempView},
      {"CREATE TEMP TABLE t AS FROM range(2)", StatementKind::CreateTempTable},
      {"CREATE TEMP MACRO f(a, b := 1) AS a + b", StatementKind::CreateTempMacro},
      {"CREATE TABLE t AS SELECT 1", StatementKind::Other},
      {"CREATE TEMP SEQUENCE s", StatementKind::Other},
      {"INSERT INTO t SELECT 1", StatementKind::Other},
      {"WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x", StatementKind::Other},
      {"DELETE FROM t", StatementKind::Other},
      {"DESCRIBE t", StatementKind::Other},
      {"BEGIN", StatementKind::Other},
  };
  for (const auto& [sql, kind] : cases) {
    const Script script = parse(sql);
    ASSERT_EQ(script.statements.size(), 1U) << sql;
    EXPECT_EQ(script.statements[0].kind, kind) << sql;
  }
}

TEST_F(Parse, SemicolonsInStringsNamesAndCommentsDoNotSplit) {
  EXPECT_EQ(parse("SELECT ';', 'it''s; fine', \"a;b\", $$;$$, E'\\';' /* ; /* ; */ */ -- ;\n FROM t; SELECT 1;;")
                .statements.size(),
            2U);
}

TEST_F(Parse, TablesAreFoundWhereverTheyStandAndWithTheirPlace) {
  EXPECT_EQ(tables("SELECT (SELECT max(z) FROM dl.u) FROM dl.main.\"T x\" AS o JOIN s.t USING (id) WHERE EXISTS (FROM "
                   "q) ORDER BY (SELECT 1 FROM k)"),
            (Names{"dl.u", "dl.main.\"T x\" as", "s.t", "q", "k"}));
  EXPECT_EQ(tables("SELECT '\u00e9', a FROM dl . t"), (Names{"dl . t"}));
  EXPECT_EQ(tables("PIVOT dl.t ON x IN (1) USING sum(y)"), (Names{"dl.t"}));
}

TEST_F(Parse, CtesHideTablesOnlyWhereTheyAreSeen) {
  EXPECT_EQ(tables("WITH a AS (SELECT * FROM a) SELECT * FROM A"), (Names{"a"}));
  EXPECT_EQ(tables("WITH a AS (WITH b AS (FROM d) FROM b) SELECT * FROM b, a"), (Names{"d", "b"}));
  EXPECT_EQ(tables("WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r) FROM r"), (Names{}));
  EXPECT_EQ(tables("WITH a AS (SELECT 1) SELECT * FROM s.a"), (Names{"s.a"}));
}

TEST_F(Parse, TemporaryObjectsHideTablesOfTheirName) {
  EXPECT_EQ(tables("CREATE TEMP VIEW orders AS SELECT * FROM orders; SELECT * FROM Orders, items, temp.orders"),
            (Names{"items"}));
  const Script script = parse("CREATE TEMP TABLE orders AS SELECT * FROM orders WITH NO DATA; SELECT 1");
  ASSERT_EQ(script.statements[0].tables.size(), 1U);
  EXPECT_EQ(script.statements[0].query.end - script.statements[0].query.begin,
            std::string("SELECT * FROM orders").size());
}

TEST_F(Parse, VersionsOfTablesAreRead) {
  const Script script = parse("SELECT * FROM dl.t AT (VERSION => 3), dl.u AT (TIMESTAMP => now())");
  const auto& found = script.statements[0].tables;
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].version, 3);
  EXPECT_TRUE(found[1].has_at);
  EXPECT_FALSE(found[1].version.has_value());
}

TEST_F(Parse, MacroBodiesAreRead) {
  const Script script = parse(
      "CREATE TEMP MACRO f(a) AS (SELECT max(x) FROM dl.t), (a, b) AS a + b; CREATE TEMP MACRO g() AS TABLE SELECT * "
      "FROM dl.u; SELECT 1");
  ASSERT_EQ(script.statements[0].tables.size(), 1U);
  EXPECT_EQ(script.statements[0].tables[0].span.begin, 46U);
  ASSERT_EQ(script.statements[1].tables.size(), 1U);
}

TEST_F(Parse, StatementsWithoutATreeAreReadByTheirTokens) {
  const Script script = parse(
      "WITH c AS (SELECT 1 x, 2 y FROM dl.base) SELECT * FROM (PIVOT c ON x USING sum(y)) JOIN dl.t AS q ON true");
  const auto& found = script.statements[0].tables;
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found[0].opaque);
  EXPECT_EQ(found[1].parts, (Names{"dl", "t"}));
  EXPECT_TRUE(found[1].has_alias);
}

TEST_F(Parse, LongColumnNamesAndParametersAreFound) {
  const Script script = parse("SELECT dl.t.a, t.b, dl.main.t.c, $cutoff FROM dl.main.t WHERE s.f(dl.t.d)");
  const Statement& statement = script.statements[0];
  ASSERT_EQ(statement.columns.size(), 3U);
  EXPECT_EQ(statement.columns[1].parts, (Names{"dl", "main", "t", "c"}));
  ASSERT_EQ(statement.parameters.size(), 1U);
  EXPECT_EQ(statement.parameters[0].first, "cutoff");
}

TEST_F(Parse, FunctionsAndTheFilesTheyReadAreFound) {
  const Script script = parse(
      "SELECT now(), s.f([1]), sum(x) OVER () FROM read_csv(['a.csv', 'b.csv'], header = true), 'c.parquet', "
      "read_json('d' || x), \"e.csv\"");
  std::vector<std::string> found;
  for (const FunctionCall& call : script.statements[0].functions) {
    std::string line = (call.schema.empty() ? "" : call.schema + ".") + call.name;
    if (call.is_table_function) line += call.files ? "(" + std::to_string(call.files->size()) + ")" : "(?)";
    found.push_back(line);
  }
  EXPECT_EQ(found, (Names{"now", "s.f", "list_value", "sum", "read_csv(2)", "list_value", "replacement_scan(1)",
                          "read_json(?)", "replacement_scan(1)"}));
}

TEST_F(Parse, PartitionTokensStandWhereLiteralsMay) {
  const std::string sql =
      "SELECT * FROM t WHERE wm_partition(ts) = {partition} AND a BETWEEN {window_start} AND {window_end}";
  EXPECT_EQ(parse(sql).statements.size(), 1U);
}

TEST_F(Parse, SlashesAreACommentOnlyWhereALineBeginsWithThemAndNothingElseFits) {
  EXPECT_EQ(tables("SELECT a\n// the amount's total, no more\n, b FROM t"), (Names{"t"}));
  EXPECT_NE(parse("SELECT 7\n// 2").statements[0].canonical.find("//"), std::string::npos);
  EXPECT_EQ(parse("// one\n// two; three\nSELECT 1\n// it's\n").statements.size(), 1U);
  EXPECT_EQ(error("SELECT 1 // note that is\nFROM t").code, Code::W0201);
}

TEST_F(Parse, SyntaxErrorsStandWhereTheyAre) {
  EXPECT_EQ(error("SET x = 1;\nSELECT '\u00e9', a FRM t WHERE x").span.begin, 30U);
  EXPECT_EQ(error("SELECT 1;\nCREATE TEMP TABLE t AS SELECT FROM WHERE").span.begin, 45U);
  EXPECT_EQ(error("SELECT 'abc").span.begin, 7U);
  EXPECT_EQ(error("CREATE TEMPO TABLE t").code, Code::W0201);
}

TEST_F(Parse, TheCanonicalTextIgnoresLayoutCommentsAndKeywordCase) {
  EXPECT_EQ(parse("select a from T -- x").statements[0].canonical,
            parse("SELECT\n  \"a\" /* y */ FROM T;").statements[0].canonical);
  EXPECT_NE(parse("select a as B from t").statements[0].canonical,
            parse("select a as b from t").statements[0].canonical);
}

TEST_F(Parse, SetupStatementsTellTheirParts) {
  const Script script = parse(
      "ATTACH 'ducklake://w' AS dl (READ_ONLY); USE dl.main; SET GLOBAL threads TO 4; LOAD 'httpfs'; SET VARIABLE x = "
      "(SELECT max(a) FROM dl.t); SET TIME ZONE 'UTC'; SELECT 1");
  EXPECT_EQ(script.statements[0].attach_uri, "ducklake://w");
  EXPECT_EQ(script.statements[0].alias, "dl");
  EXPECT_TRUE(script.statements[0].read_only);
  EXPECT_EQ(script.statements[1].alias, "dl.main");
  EXPECT_EQ(script.statements[2].setting, "threads");
  EXPECT_EQ(script.statements[2].what, "SET GLOBAL");
  EXPECT_EQ(script.statements[3].object_name, "httpfs");
  ASSERT_EQ(script.statements[4].tables.size(), 1U);
  EXPECT_EQ(script.statements[5].setting, "timezone");
}

TEST_F(Parse, CommentsOnlyIsNoStatement) { EXPECT_TRUE(parse("-- a\n/* b */ ;;").statements.empty()); }

TEST_F(Parse, ByteOrderMarkAndWideBlanksKeepPositions) {
  EXPECT_EQ(tables("\ufeffSELECT 1\u00a0FROM dl.t\r\nWHERE x\r\n"), (Names{"dl.t"}));
}

}  // namespace
}  // namespace weir::parse
