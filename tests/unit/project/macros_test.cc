#include "project/macros.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "io/files.h"
#include "project/project.h"
#include "project/setup.h"
#include "support/loaded_project.h"
#include "text/line_index.h"

namespace weir {
namespace {

class Macros : public testing::Test, protected LoadedProject {
 protected:
  Macros() : LoadedProject("lakes: {main: {catalog: lake/main.sqlite, data: lake/main}}\n") {}
  const Project& load() { return project_ = LoadedProject::load(); }
  // "models/a.sql:2:8 W0221 text" of everything that is said.
  std::vector<std::string> said() {
    std::vector<std::string> lines;
    for (const Diagnostic& one : load().diagnostics) {
      const auto place = text::LineIndex(project_.source(one.path)->text).position(one.span.begin);
      lines.push_back(one.path + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + " " +
                      std::string(name_of(one.code)) + " " + one.message);
    }
    return lines;
  }
  const Model& model(const std::string& path) {
    const auto found = std::find_if(project_.models.begin(), project_.models.end(),
                                    [&path](const Model& one) { return one.path == path; });
    if (found != project_.models.end()) return *found;
    ADD_FAILURE() << path << " is no good model";
    static const Model none;
    return none;
  }
  // The statements before the result, each on a line.
  std::string setup(const std::string& path, SetupFor purpose = SetupFor::Result) {
    load();
    for (const Diagnostic& one : project_.diagnostics)
      EXPECT_NE(one.severity, Severity::Error) << one.path << ": " << one.message;
    std::string text;
    const auto where = [](const Reference& reference) { return "<" + reference.asset.name + ">"; };
    for (const SetupStatement& one : setup_statements(model(path), where, "2026-01-01", {}, purpose))
      text += one.sql.text() + "\n";
    return text;
  }

  Project project_;
};
using Lines = std::vector<std::string>;

TEST_F(Macros, AModelTakesWhatItCallsAndWhatThatCallsInDependencyOrderTiesByName) {
  put("models/lib/money.sql",
      "-- macros\nCREATE MACRO net(x) AS rate(zeta(x)) + alpha(x);\nCREATE OR REPLACE TEMP FUNCTION rate(x) AS x * 2;\n"
      "CREATE MACRO zeta(x) AS x;\nCREATE MACRO alpha(x) AS x;\nCREATE MACRO unused(x) AS x;");
  put("models/m.sql", "SELECT NET(1) AS n");
  EXPECT_EQ(setup("m"),
            "CREATE OR REPLACE TEMP MACRO alpha(x) AS x\nCREATE OR REPLACE TEMP MACRO rate(x) AS x * 2\n"
            "CREATE OR REPLACE TEMP MACRO zeta(x) AS x\n"
            "CREATE OR REPLACE TEMP MACRO net(x) AS rate(zeta(x)) + alpha(x)\n");
}

TEST_F(Macros, CallsAreFoundInTheTreeNotInTheText) {
  put("models/lib.sql", "-- macros\nCREATE MACRO f(x) AS x;");
  put("models/m.sql", "SELECT 'f(1)' AS a, \"f(2)\" AS b, t.x AS f -- f(3)\nFROM (SELECT 1 AS \"f(2)\", 2 AS x) AS t");
  EXPECT_EQ(setup("m"), "");
  put("models/m.sql", "SELECT \"F\" (x) AS a FROM range(3) AS t(x) WHERE x IN (SELECT f(1))");
  EXPECT_EQ(setup("m"), "CREATE OR REPLACE TEMP MACRO f(x) AS x\n");
  put("models/m.sql", "SELECT x.f() AS a FROM range(3) AS t(x)");
  EXPECT_EQ(setup("m"), "CREATE OR REPLACE TEMP MACRO f(x) AS x\n");
}

TEST_F(Macros, OverloadsAndTableMacrosComeWhole) {
  put("models/lib.sql",
      "-- macros\nCREATE MACRO f(a) AS a, (a, b) AS a + b;\nCREATE MACRO f(n) AS TABLE SELECT * FROM range(n);");
  put("models/m.sql", "SELECT f(1, 2) AS a FROM f(3)");
  EXPECT_EQ(setup("m"),
            "CREATE OR REPLACE TEMP MACRO f(a) AS a, (a, b) AS a + b\n"
            "CREATE OR REPLACE TEMP MACRO f(n) AS TABLE SELECT * FROM range(n)\n");
  ASSERT_EQ(project_.libraries.size(), 1U);
  ASSERT_EQ(project_.libraries[0].macros.size(), 2U);
  EXPECT_EQ(project_.libraries[0].macros[0].forms.size(), 2U);
  EXPECT_TRUE(project_.libraries[0].macros[1].is_table);
  const auto& source = project_.libraries[0].source->text;
  const auto& form = project_.libraries[0].macros[0].forms[1];
  EXPECT_EQ(source.substr(form.parameters.begin, form.parameters.size()), "(a, b)");
  EXPECT_EQ(source.substr(form.body.begin, form.body.size()), "a + b");
}

TEST_F(Macros, TheModelsOwnDefinitionWins) {
  put("models/lib.sql", "-- macros\nCREATE MACRO f(x) AS 1;\nCREATE MACRO g(x) AS f(x);");
  put("models/m.sql", "CREATE TEMP MACRO f(x) AS 2; SELECT g(1) AS a");
  EXPECT_EQ(setup("m"), "CREATE TEMP MACRO f(x) AS 2\nCREATE OR REPLACE TEMP MACRO g(x) AS f(x)\n");
}

TEST_F(Macros, MacrosRunBehindTheSetupThatTheyNeedAndBeforeTheMacroThatCallsThem) {
  put("models/lib.sql", "-- macros\nCREATE MACRO f(x) AS x + (SELECT max(r) FROM rates);\nCREATE MACRO g(x) AS x;");
  put("models/m.sql",
      "CREATE TEMP TABLE rates AS SELECT 1 AS r; CREATE TEMP MACRO own(x) AS g(f(x)); SELECT own(1) AS a");
  EXPECT_EQ(setup("m"),
            "CREATE TEMP TABLE rates AS SELECT 1 AS r\n"
            "CREATE OR REPLACE TEMP MACRO f(x) AS x + (SELECT max(r) FROM rates)\n"
            "CREATE OR REPLACE TEMP MACRO g(x) AS x\nCREATE TEMP MACRO own(x) AS g(f(x))\n");
}

TEST_F(Macros, AContradictoryOrderIsAnErrorAtTheCall) {
  put("models/lib.sql", "-- macros\nCREATE MACRO f(x) AS own(x);");
  put("models/m.sql", "CREATE TEMP MACRO a(x) AS f(x);\nCREATE TEMP MACRO own(x) AS x;\nSELECT a(1) AS a");
  EXPECT_EQ(said(), Lines{"models/m.sql:1:27 W0227 `f` of lib needs `own`, which this model makes only in line 2"});
}

TEST_F(Macros, MacrosReadThroughTheNamesOfTheirCaller) {
  put("models/lib.sql", "-- macros\nCREATE MACRO f() AS (SELECT max(dl.orders.id) FROM dl.orders);");
  put("models/m.sql", "ATTACH 'ducklake://main' AS dl; SELECT f() AS a");
  EXPECT_EQ(setup("m"),
            "CREATE OR REPLACE TEMP MACRO f() AS (SELECT max(\"orders\".id) FROM <orders> AS \"orders\")\n");
  ASSERT_EQ(model("m").references.size(), 1U);
  EXPECT_EQ(model("m").references[0].asset.uri(), "ducklake://main/main.orders");
}

TEST_F(Macros, UseForcesAWholeLibraryWithItsSetupTransitively) {
  put("models/lib/base.sql", "-- macros\nSET VARIABLE a = 1;\nCREATE MACRO z() AS getvariable('a');");
  put("models/lib/more.sql",
      "-- macros\n-- use lib/base\nSET VARIABLE a = 1;\nSET VARIABLE b = 2;\nCREATE MACRO f() AS z();");
  put("models/m.sql", "-- use lib/more\nSELECT 1 AS a");
  EXPECT_EQ(setup("m"),
            "SET VARIABLE a = 1\nSET VARIABLE b = 2\nCREATE OR REPLACE TEMP MACRO z() AS getvariable('a')\n"
            "CREATE OR REPLACE TEMP MACRO f() AS z()\n");
  put("models/m.sql", "SELECT f() AS a");
  EXPECT_EQ(setup("m"),
            "CREATE OR REPLACE TEMP MACRO z() AS getvariable('a')\nCREATE OR REPLACE TEMP MACRO f() AS z()\n");
  const auto lines = said();
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                          [](const std::string& line) { return line.find("W0228") != std::string::npos; }),
            2);
}

TEST_F(Macros, ANameOfSeveralLibrariesNeedsAChoice) {
  put("models/one/a.sql", "-- macros\nCREATE MACRO f(x) AS 1;");
  put("models/two/b.sql", "-- macros\nCREATE MACRO f(x) AS 2;");
  put("models/m.sql", "SELECT f(1) AS a");
  EXPECT_EQ(said(), Lines{"models/m.sql:1:8 W0226 several libraries define the macro `f`: one/a, two/b"});
  put("models/m.sql", "-- use two/b\nSELECT f(1) AS a");
  EXPECT_EQ(setup("m"), "CREATE OR REPLACE TEMP MACRO f(x) AS 2\n");
  put("models/m.sql", "-- use two/b\n-- use one/a\nSELECT f(1) AS a");
  EXPECT_EQ(said(), Lines{"models/m.sql:2:8 W0226 both two/b and one/a, which this line brings, define `f`"});
  put("models/m.sql", "CREATE TEMP MACRO f(x) AS 3; SELECT f(1) AS a");
  EXPECT_EQ(setup("m"), "CREATE TEMP MACRO f(x) AS 3\n");
}

TEST_F(Macros, CirclesAreNamedWithTheirPlaces) {
  put("models/a.sql", "-- macros\nCREATE MACRO f(x) AS g(x);\nCREATE MACRO me(x) AS me(x);");
  put("models/b.sql", "-- macros\nCREATE MACRO g(x) AS 1 + f(x);");
  EXPECT_EQ(said(), (Lines{"models/a.sql:2:22 W0224 these macros call each other in a circle: f (models/a.sql:2:14) → "
                           "g (models/b.sql:2:14) → f",
                           "models/a.sql:3:23 W0224 this macro calls itself: me (models/a.sql:3:14) → me"}));
}

TEST_F(Macros, ALibraryHoldsMacrosAndSetupOnly) {
  put("models/a.sql",
      "-- macros\nATTACH 'ducklake://main' AS dl;\nCREATE MACRO \"a b\"(x) AS 1;\nCREATE MACRO s.f(x) AS 1;\n"
      "CREATE MACRO g(x) AS 1;\nCREATE MACRO G(x) AS 2;\nCREATE MACRO wm_partition(x) AS 1;\n"
      "CREATE MACRO IF NOT EXISTS h(x) AS 1;\nINSERT INTO t SELECT 1;\nCREATE MACRO p() AS $n;\n"
      "CREATE MACRO é(x) AS 1;\nSET memory_limit = '1GB';");
  EXPECT_EQ(
      said(),
      (Lines{"models/a.sql:2:1 W0222 a library attaches no lake", "models/a.sql:3:14 W0221 `\"a b\"` is no plain name",
             "models/a.sql:4:14 W0221 `s` is no plain name", "models/a.sql:6:14 W0223 `G` is defined above already",
             "models/a.sql:7:14 W0221 weir itself makes the macro wm_partition",
             "models/a.sql:8:1 W0220 a library's macro is always made: IF NOT EXISTS has no meaning",
             "models/a.sql:9:1 W0220 `INSERT INTO t SELECT 1` is no macro: a library holds CREATE MACRO "
             "statements and setup",
             "models/a.sql:10:21 W0210 a library takes no arguments", "models/a.sql:11:14 W0221 `é` is no plain name",
             "models/a.sql:12:1 W0207 the setting `memory_limit` reaches beyond this model's connection"}));
}

TEST_F(Macros, TheGateAppliesToBodies) {
  put("models/lib.sql",
      "-- macros\nCREATE MACRO f() AS TABLE FROM duckdb_tables();\nCREATE MACRO g() AS\n  "
      "ducklake_cleanup_old_files('x');");
  const auto lines = said();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(lines[0].starts_with("models/lib.sql:2:32 W0303")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("models/lib.sql:4:3 W0302")) << lines[1];
}

TEST_F(Macros, UseOfWhatIsNoLibraryNamesTheNearest) {
  put("models/shared/money.sql", "-- macros\nCREATE MACRO f() AS 1;");
  put("models/shared/empty.sql", "-- macros\nSET VARIABLE a = 1;");
  put("models/m.sql", "-- use shared/monye\nSELECT 1 AS a");
  EXPECT_EQ(said(), Lines{"models/m.sql:1:8 W0225 `shared/monye` is no library of macros"});
  EXPECT_EQ(project_.diagnostics[0].hint, "did you mean `shared/money`?");
  put("models/m.sql", "-- use shared/empty\nSELECT 1 AS a");
  EXPECT_EQ(said(), Lines{"models/m.sql:1:8 W0225 `shared/empty` is no library of macros"});
}

TEST_F(Macros, CustomTestsSeeMacrosThatTheirModelDoesNotCall) {
  put("models/lib.sql", "-- macros\nCREATE MACRO bad(x) AS x < 0;");
  put("models/m.sql", "-- materialize ducklake://main/m\n-- data_test tests/sane\nSELECT 1 AS a");
  put("tests/sane.sql", "SELECT * FROM _wm_target.m WHERE bad(a)");
  EXPECT_EQ(setup("m"), "");
  EXPECT_EQ(setup("m", SetupFor::Tests), "CREATE OR REPLACE TEMP MACRO bad(x) AS x < 0\n");
}

TEST_F(Macros, AVolatileBodyMakesItsCallerVolatile) {
  put("models/lib.sql", "-- macros\nCREATE MACRO age_of(x) AS now() - x;");
  put("models/m.sql", "SELECT age_of(TIMESTAMPTZ '2026-01-01') AS a");
  put("models/n.sql", "SELECT 1 AS a");
  load();
  EXPECT_TRUE(model("m").is_volatile);
  EXPECT_FALSE(model("n").is_volatile);
}

TEST_F(Macros, TablesThatALibrarysSetupMakesAreNoAssets) {
  put("models/lib/rates.sql",
      "-- macros\nCREATE TEMP TABLE rates AS SELECT 1 AS r;\nCREATE MACRO f() AS (SELECT max(r) FROM rates);");
  put("models/m.sql", "-- use lib/rates\nSELECT f() AS a, r FROM rates");
  EXPECT_EQ(
      setup("m"),
      "CREATE TEMP TABLE rates AS SELECT 1 AS r\nCREATE OR REPLACE TEMP MACRO f() AS (SELECT max(r) FROM rates)\n");
  EXPECT_TRUE(model("m").references.empty());
}

}  // namespace
}  // namespace weir
