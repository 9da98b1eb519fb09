#include "bound_project.h"

namespace weir::bind {
namespace {

/// Faults within macros, said at their place in the library.
class MacroFaults : public BoundProject {
 protected:
  void library(const std::string& text) { put("models/lib/m.sql", "-- macros\n" + text); }
  Lines lines() {
    bind();
    for (const Diagnostic& one : project_.diagnostics) ADD_FAILURE() << name_of(one.code) << " " << one.message;
    return said();
  }
};

TEST_F(MacroFaults, AColumnThatAnAssetLacksIsAContractWarningInTheLibrary) {
  source("orders", {{"id", "INTEGER"}, {"amounts", "INTEGER"}});
  library("CREATE MACRO biggest() AS (SELECT max(amount) FROM orders);");
  model("a", "SELECT biggest() AS v");
  model("b", "SELECT biggest() + 1 AS v");
  const Lines said = lines();
  ASSERT_EQ(said.size(), 1U) << "the library's fault is told once";
  EXPECT_TRUE(said[0].starts_with("W2110 models/lib/m.sql:2:39 ducklake://main/main.orders has no column `amount`: "))
      << said[0];
  EXPECT_NE(said[0].find("did you mean `amounts`?; the model "), std::string::npos) << said[0];
  EXPECT_EQ(bound_.diagnostics.front().severity, Severity::Warning);
}

TEST_F(MacroFaults, OfATableMacroTooAndAllOfThem) {
  source("orders", {{"id", "INTEGER"}});
  library("CREATE MACRO rows_of(x) AS TABLE\n  SELECT id, nope, nothing FROM orders WHERE id = x;");
  model("a", "SELECT id FROM rows_of(1)");
  const Lines said = lines();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_TRUE(said[0].starts_with("W2110 models/lib/m.sql:3:14 ")) << said[0];
  EXPECT_TRUE(said[1].starts_with("W2110 models/lib/m.sql:3:20 ")) << said[1];
}

TEST_F(MacroFaults, AProducersEditIsWarnedOfBeforeItLands) {
  model("orders", "SELECT 1 AS id");
  captured("orders", {{"id", "INTEGER"}, {"amount", "INTEGER"}}, 3);
  library("CREATE MACRO total() AS TABLE SELECT sum(amount) AS v FROM orders;");
  model("a", "FROM total()");
  const Lines said = lines();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_TRUE(said[0].starts_with("W2110 models/lib/m.sql:2:42 `amount` is about to go")) << said[0];
  EXPECT_TRUE(
      said[1].starts_with("W2115 models/orders.sql:2:1 this edit removes `amount`, which models/lib/m.sql line 2 "
                          "reads"))
      << said[1];
}

TEST_F(MacroFaults, WhatIsWrongInTheMacroItselfIsAnErrorThere) {
  library("CREATE MACRO year_of(x) AS\n  strftime(x, '%Y');\nCREATE MACRO net(x) AS x / nope;");
  model("a", "SELECT year_of([1]) AS v");
  model("b", "SELECT 1 AS one, net(2) AS v");
  const Lines said = lines();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_TRUE(said[0].starts_with("W2103 models/lib/m.sql:3:3 ")) << said[0];
  EXPECT_TRUE(said[1].starts_with("W2101 models/lib/m.sql:4:28 ")) << said[1];
}

TEST_F(MacroFaults, WhatALibraryIsRefusedForIsNotSaidAgainOfThoseThatCallIt) {
  library("CREATE MACRO f(x) AS g(x) + 1;\nCREATE MACRO g(x) AS f(x) + 1;");
  model("a", "SELECT f(1) AS v");
  model("b", "SELECT v FROM a");
  bind();
  ASSERT_EQ(project_.diagnostics.size(), 1U);
  EXPECT_EQ(project_.diagnostics.front().code, Code::W0224);
  EXPECT_EQ(said(), Lines{});
  EXPECT_EQ(bound("a").blocked_by, "models/lib/m.sql");
  EXPECT_EQ(bound("b").blocked_by, "a");
}

TEST_F(MacroFaults, AFaultOfTheQueryBesideAMacroStaysThere) {
  source("orders", {{"id", "INTEGER"}});
  library("CREATE MACRO fine(x) AS x + 1;");
  model("a", "SELECT fine(id) AS v,\n  nope FROM orders");
  const Lines said = lines();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_TRUE(said[0].starts_with("W2110 models/a.sql:3:3 ")) << said[0];
}

TEST_F(MacroFaults, AModelsOwnMacroIsItsOwnText) {
  source("orders", {{"id", "INTEGER"}});
  model("a", "CREATE TEMP MACRO own() AS (SELECT max(nope) FROM orders);\nSELECT own() AS v");
  const Lines said = lines();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_TRUE(said[0].starts_with("W2110 models/a.sql:2:40 ")) << said[0];
}

}  // namespace
}  // namespace weir::bind
