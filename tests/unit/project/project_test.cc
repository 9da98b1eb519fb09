#include "project/project.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "io/files.h"
#include "project/cache.h"
#include "support/loaded_project.h"

namespace weir {
namespace {

class Loading : public testing::Test, protected LoadedProject {
 protected:
  Loading()
      : LoadedProject(
            "lakes: {main: {catalog: lake/main.sqlite, data: lake/main}, other: {catalog: lake/o.sqlite, data: "
            "lake/o}}\n") {}
  // "W0203 text" of each error and warning of one model that holds `sql`.
  std::vector<std::string> judged(const std::string& sql) {
    put("models/m.sql", sql);
    std::vector<std::string> lines;
    for (const Diagnostic& one : load().diagnostics) lines.push_back(std::string(name_of(one.code)));
    return lines;
  }
};
using Codes = std::vector<std::string>;

TEST_F(Loading, AFileThatDoesNotParseIsAskedAboutOnce) {
  put("models/a.sql", "-- materialize ducklake://main/a\n-- data_test not_null x where=\"x >\"\nSELECT 1 AS x");
  put("models/b.sql", "SELECT FROM");
  const Diagnostics first = load().diagnostics;
  ASSERT_EQ(first.size(), 2U);
  const int asked = parser_.asked;
  const Diagnostics again = load().diagnostics;
  EXPECT_EQ(parser_.asked, asked);
  ASSERT_EQ(again.size(), first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(again[i].code, first[i].code);
    EXPECT_EQ(again[i].path, first[i].path);
    EXPECT_EQ(again[i].message, first[i].message);
    EXPECT_EQ(again[i].span, first[i].span);
  }
  put("models/b.sql", "SELECT 1 AS x");
  EXPECT_EQ(load().diagnostics.size(), 1U);
}

TEST_F(Loading, AnUnchangedProjectAsksDuckDbNothing) {
  put("models/a.sql", "SELECT 1 AS x");
  put("models/b.sql", "SELECT now() AS t, * FROM a, read_csv('in/*.csv')");
  const Project first = load();
  ASSERT_EQ(first.models.size(), 2U);
  EXPECT_EQ(parser_.asked, 1);
  const Project second = load();
  EXPECT_EQ(parser_.asked, 1);
  ASSERT_EQ(second.models.size(), 2U);
  EXPECT_TRUE(second.models[1].is_volatile);
  ASSERT_TRUE(second.models[1].files.has_value());
  EXPECT_EQ(*second.models[1].files, (std::vector<std::string>{"in/*.csv"}));
  EXPECT_EQ(second.models[1].references.size(), first.models[1].references.size());
  EXPECT_EQ(second.models[1].result().canonical, first.models[1].result().canonical);
  put("models/a.sql", "SELECT 2 AS x");
  load();
  EXPECT_EQ(parser_.asked, 2);
}

TEST_F(Loading, FilesAndFoldersOfUnderscoreAndDotAreSkipped) {
  put("models/_a.sql", "SELECT 1");
  put("models/_x/b.sql", "SELECT 1");
  put("models/.y/c.sql", "SELECT 1");
  put("models/s/d.sql", "SELECT 1 AS x");
  const Project project = load();
  ASSERT_EQ(project.models.size(), 1U);
  EXPECT_EQ(project.models[0].path, "s/d");
}

TEST_F(Loading, ShapeIsJudgedAsTheGrammarSays) {
  EXPECT_EQ(judged(""), (Codes{"W0202"}));
  EXPECT_EQ(judged("-- only\n/* comments */"), (Codes{"W0202"}));
  EXPECT_EQ(judged("CREATE TEMP TABLE t AS SELECT 1 AS x"), (Codes{"W0203"}));
  EXPECT_EQ(judged("CREATE TABLE t AS SELECT 1 AS x"), (Codes{"W0206"}));
  EXPECT_EQ(judged("SELECT 1 AS x; SELECT 2 AS x"), (Codes{"W0204"}));
  EXPECT_EQ(judged("SELECT 1 AS x; SET timezone = 'UTC'"), (Codes{"W0205"}));
  EXPECT_EQ(judged("SELECT 1 AS x; INSERT INTO t VALUES (1)"), (Codes{"W0205"}));
  EXPECT_EQ(judged("INSERT INTO t VALUES (1); SELECT 1 AS x"), (Codes{"W0206"}));
  EXPECT_EQ(judged("ATTACH 'ducklake' AS a; SET timezone = 'UTC'; SELECT 1 AS x"), Codes{});
  EXPECT_EQ(judged("CREATE OR REPLACE TEMPORARY VIEW v AS SELECT 1 AS x; FROM v"), Codes{});
  EXPECT_EQ(judged("SET memory_limit = '1GB'; SELECT 1 AS x"), (Codes{"W0207"}));
  EXPECT_EQ(judged("SET GLOBAL timezone = 'UTC'; SELECT 1 AS x"), (Codes{"W0207"}));
  EXPECT_EQ(judged("LOAD spatial; SELECT 1 AS x"), (Codes{"W0215"}));
  EXPECT_EQ(judged("INSTALL httpfs; LOAD httpfs; SELECT 1 AS x"), (Codes{"W0216"}));
}

TEST_F(Loading, TheNumberOfQueriesAndTheStartOfAStatementAreSaid) {
  put("models/m.sql", "SELECT 1 AS x; SELECT 2 AS x; SELECT 3 AS x");
  EXPECT_NE(load().diagnostics[0].message.find("3 queries"), std::string::npos);
  put("models/m.sql", "INSERT  INTO\n  t_of_a_name_that_is_rather_long_indeed VALUES (1); SELECT 1 AS x");
  EXPECT_NE(load().diagnostics[0].message.find("`INSERT INTO t_of_a_name_that_is_rather_l…`"), std::string::npos)
      << load().diagnostics[0].message;
}

TEST_F(Loading, OddBytesAreNamed) {
  put("models/m.sql", "SELECT '\xff' AS x");
  EXPECT_NE(load().diagnostics[0].message.find("byte 8"), std::string::npos);
  EXPECT_EQ(judged(std::string("SELECT 1 AS x\0 ", 15)), (Codes{"W0209"}));
  EXPECT_EQ(judged("\xef\xbb\xbfSELECT 1 AS x\r\nFROM range(2)\r\n"), Codes{});
  EXPECT_EQ(judged("SELECT 1 AS x -- " + std::string(1U << 20U, 'x')), Codes{});
}

TEST_F(Loading, TheGateRefusesWhatActsOnLakes) {
  EXPECT_EQ(judged("CALL ducklake_delete_orphaned_files('x'); SELECT 1 AS x"), (Codes{"W0206", "W0302"}));
  EXPECT_EQ(judged("FROM ducklake_add_data_files('l', 't', 'f')"), (Codes{"W0302"}));
  EXPECT_EQ(judged("FROM duckdb_databases()"), (Codes{"W0303"}));
  EXPECT_EQ(judged("FROM (SHOW ALL TABLES)"), (Codes{"W0303"}));
  EXPECT_EQ(judged("FROM query('DROP ' || 'x')"), (Codes{"W0308"}));
  EXPECT_EQ(judged("ATTACH 'lake/main.sqlite' AS a (READ_ONLY); SELECT 1 AS x"), (Codes{"W0304"}));
  EXPECT_EQ(judged("ATTACH './models/../lake/main.sqlite' AS a (READ_ONLY); SELECT 1 AS x"), (Codes{"W0304"}));
  EXPECT_EQ(judged("ATTACH 'ducklake:lake/main.sqlite' AS a (READ_ONLY); SELECT 1 AS x"), (Codes{"W0304"}));
  EXPECT_EQ(judged("ATTACH 'x.db' AS a; SELECT 1 AS x"), (Codes{"W0304"}));
  EXPECT_EQ(judged("ATTACH 'x.db' AS a (READ_ONLY); ATTACH ':memory:' AS b; SELECT 1 AS x"), Codes{});
  EXPECT_EQ(judged("FROM _weir_read_main.main.t"), (Codes{"W0305"}));
}

TEST_F(Loading, AliasesLeadToLakes) {
  put("models/m.sql",
      "ATTACH 'ducklake://Other' AS dl; USE dl; SELECT dl.orders.id, dl.main.c.x, o.y FROM dl.orders JOIN dl.main.c "
      "USING (id) JOIN s.o AS o USING (id) JOIN t USING (id)");
  const Project project = load();
  ASSERT_EQ(project.models.size(), 1U) << project.diagnostics[0].message;
  std::vector<std::string> uris;
  for (const Reference& one : project.models[0].references)
    uris.push_back(one.asset.uri() + (one.alias.empty() ? "" : " as " + one.alias));
  EXPECT_EQ(uris, (std::vector<std::string>{"ducklake://other/main.orders as orders", "ducklake://other/main.c as c",
                                            "ducklake://other/s.o", "ducklake://other/main.t as t"}));
  std::vector<std::string> cuts;
  for (const QualifierCut& cut : project.models[0].cuts)
    cuts.push_back(project.models[0].source->text.substr(cut.span.begin, cut.span.size()) + ">" + cut.alias);
  EXPECT_EQ(cuts, (std::vector<std::string>{"dl.orders>orders", "dl.main.c>c"}));
}

TEST_F(Loading, AnUnknownLakeListsTheConfiguredOnes) {
  put("models/m.sql", "ATTACH 'ducklake://othr' AS dl; FROM dl.t");
  const Project project = load();
  ASSERT_EQ(project.diagnostics.size(), 1U);
  EXPECT_EQ(project.diagnostics[0].code, Code::W0301);
  EXPECT_NE(project.diagnostics[0].message.find("main, other"), std::string::npos);
  EXPECT_NE(project.diagnostics[0].hint.find("ducklake://other"), std::string::npos);
}

TEST_F(Loading, APivotWithoutInIsRefusedBesideAliases) {
  EXPECT_EQ(judged("ATTACH 'ducklake' AS dl; PIVOT dl.t ON x USING sum(y)"), (Codes{"W0306"}));
  EXPECT_EQ(judged("ATTACH 'ducklake' AS dl; PIVOT dl.t ON x IN (1) USING sum(y)"), Codes{});
}

TEST_F(Loading, AnUndeclaredParameterHasItsPlace) {
  put("models/m.sql", "SELECT $cutoff AS x");
  const Project project = load();
  ASSERT_EQ(project.diagnostics.size(), 1U);
  EXPECT_EQ(project.diagnostics[0].code, Code::W0210);
  EXPECT_EQ(project.diagnostics[0].span, (Span{7, 14}));
}

TEST_F(Loading, AFileThatReadsTheTargetIsATestWhereverItLies) {
  put("models/m.sql", "SELECT 1 AS x");
  put("models/check_m.sql", "SELECT * FROM weir_target.m WHERE x < 0;");
  put("tests/two.sql", "SELECT * FROM _WM_TARGET.m; SELECT 2");
  const Project project = load();
  ASSERT_EQ(project.models.size(), 1U);
  EXPECT_EQ(project.custom_tests.size(), 2U);
  ASSERT_EQ(project.diagnostics.size(), 1U);
  EXPECT_EQ(project.diagnostics[0].code, Code::W0217);
}

TEST_F(Loading, ModelsAreFoundByPathOrShortName) {
  put("models/a/x.sql", "SELECT 1 AS x");
  put("models/b/x.sql", "SELECT 1 AS x");
  put("models/b/orders.sql", "SELECT 1 AS x");
  const Project project = load();
  EXPECT_EQ((*find_model(project, "orders"))->path, "b/orders");
  EXPECT_EQ((*find_model(project, "a/x"))->path, "a/x");
  EXPECT_EQ(find_model(project, "x").error().front().code, Code::W2011);
  EXPECT_NE(find_model(project, "ordrs").error().front().hint.find("orders"), std::string::npos);
}

TEST_F(Loading, OpenTextsStandForTheirFilesAndLeaveTheCacheOnDiskAlone) {
  put("models/a.sql", "SELECT 1 AS x");
  put("models/b.sql", "SELECT 2 AS x");
  ParseCache cache("");
  const OpenTexts open = {{"models/a.sql", "SELECT 1 AS x FROM FROM"},
                          {"models/new/c.sql", "-- materialize ducklake://main/c\nFROM b"},
                          {"models/_draft.sql", "SELECT FROM"}};
  const auto project = load_project(root_, parser_, open, cache);
  ASSERT_TRUE(project.has_value());
  ASSERT_EQ(project->diagnostics.size(), 1U);
  EXPECT_EQ(project->diagnostics[0].path, "models/a.sql");
  ASSERT_EQ(project->models.size(), 2U);
  EXPECT_EQ(project->models[0].path, "b");
  EXPECT_EQ(project->models[1].path, "new/c");
  EXPECT_EQ(project->models[1].references.at(0).asset.uri(), "ducklake://main/main.b");
  EXPECT_FALSE(io::exists(root_ + "/.weir/cache/parsed"));
  const auto other = load_project(root_, parser_, {{"weir.yaml", "strickt: true\n"}}, cache);
  ASSERT_FALSE(other.has_value());
  ASSERT_TRUE(other.error().front().fix);
  EXPECT_EQ(*other.error().front().fix, (Fix{{0, 7}, "strict"}));
}

TEST_F(Loading, ALongLivedCacheKeepsOnlyWhatTheProjectHolds) {
  put("models/a.sql", "SELECT 1 AS x");
  ParseCache cache("");
  ASSERT_TRUE(load_project(root_, parser_, {{"models/a.sql", "SELECT 2 AS x"}}, cache).has_value());
  cache.keep_touched();
  ASSERT_TRUE(load_project(root_, parser_, {}, cache).has_value());
  cache.keep_touched();
  const int asked = parser_.asked;
  ASSERT_TRUE(load_project(root_, parser_, {}, cache).has_value());
  EXPECT_EQ(parser_.asked, asked);
  ASSERT_TRUE(load_project(root_, parser_, {{"models/a.sql", "SELECT 2 AS x"}}, cache).has_value());
  EXPECT_EQ(parser_.asked, asked + 1);
}

TEST_F(Loading, ManyFilesAreParsedByTwoThreadsAsByOne) {
  OpenTexts texts;
  for (int i = 0; i < 350; ++i) {
    const std::string number = std::to_string(1000 + i);
    const std::string sql = i % 100 == 7 ? "SELEC " + number : "SELECT " + number + " AS x FROM t" + number;
    texts.emplace("models/m" + number + ".sql", sql);
  }
  put("models/a.sql", "SELECT 1 AS x");
  ParseCache cache("");
  const auto project = load_project(root_, parser_, texts, cache);
  ASSERT_TRUE(project.has_value());
  ASSERT_EQ(project->models.size(), 347U);
  for (const Model& model : project->models) {
    if (model.path == "a") continue;
    ASSERT_EQ(model.references.size(), 1U) << model.path;
    EXPECT_EQ("m" + model.references[0].asset.name.substr(1), model.path);
  }
  ASSERT_EQ(project->diagnostics.size(), 4U);
  EXPECT_EQ(project->diagnostics[2].path, "models/m1207.sql");
  EXPECT_GE(parser_.others, std::thread::hardware_concurrency() > 1 ? 1 : 0);
}

TEST_F(Loading, TheNearestNameIsAnEditOfTheSql) {
  const std::string sql =
      "-- $cutoff (date)\nATTACH 'ducklake://othr' AS a; SELECT 1 AS x WHERE $cutof > 1 AND $cutoff > 1";
  put("models/m.sql", sql);
  std::string cured = sql;
  Diagnostics found = load().diagnostics;
  ASSERT_EQ(found.size(), 2U);
  for (auto one = found.rbegin(); one != found.rend(); ++one) {
    ASSERT_TRUE(one->fix) << one->message;
    cured.replace(one->fix->span.begin, one->fix->span.size(), one->fix->replacement);
  }
  EXPECT_EQ(judged(cured), Codes{});
}

TEST_F(Loading, ASyntaxErrorNamesFileAndPlace) {
  put("models/m.sql", "SELECT 1 AS x,\nFROM FROM");
  const Project project = load();
  ASSERT_EQ(project.diagnostics.size(), 1U);
  EXPECT_EQ(project.diagnostics[0].path, "models/m.sql");
  EXPECT_EQ(project.diagnostics[0].span.begin, 20U);
}

}  // namespace
}  // namespace weir
