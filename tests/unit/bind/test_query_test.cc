#include "bound_project.h"

namespace weir::bind {
namespace {

/// Custom tests and queries in the header, bound like models.
class QueriesOfTests : public BoundProject {
 protected:
  void SetUp() override {
    BoundProject::SetUp();
    source("customers", {{"id", "BIGINT"}, {"name", "VARCHAR"}});
    model("orders", "SELECT 1 AS id, 'x' AS status, DATE '2026-07-05' AS day", "\n-- data_test tests/sane");
  }
  Lines with(const std::string& test) {
    put("tests/sane.sql", test);
    bind();
    for (const Diagnostic& one : project_.diagnostics) ADD_FAILURE() << name_of(one.code) << " " << one.message;
    return said();
  }
  std::vector<std::string> producers(const std::string& path) {
    std::vector<std::string> paths;
    for (const std::size_t one : graph_->producers_of(graph_->index_of(path)))
      paths.push_back(graph_->models()[one].path);
    return paths;
  }
};

TEST_F(QueriesOfTests, AreBoundOverWhatTheModelReturns) {
  EXPECT_EQ(with("SELECT * FROM _wm_target.orders o\nWHERE o.id < 0 AND day > current_date"), Lines{});
  EXPECT_EQ(with("SELECT *\nFROM _wm_target.orders\nWHERE statsu = 'y'"),
            (Lines{"W2130 tests/sane.sql:3:7 the model orders returns no column `statsu` | did you mean `status`?"}));
  EXPECT_EQ(with("SELECT * FROM weir_target.orders WHERE weir_target.orders.idd = 1"),
            (Lines{"W2130 tests/sane.sql:1:40 the model orders returns no column `idd` | did you mean `id`?"}));
  const Lines types = with("SELECT * FROM _wm_target.orders\nWHERE day + [1] > day");
  ASSERT_EQ(types.size(), 1U);
  EXPECT_TRUE(types[0].starts_with("W2103 tests/sane.sql:2:")) << types[0];
}

TEST_F(QueriesOfTests, WhatTheyReadMakesEdgesAndIsBoundToo) {
  model("dim", "SELECT 1 AS id, 'x' AS region");
  EXPECT_EQ(with("SELECT * FROM _wm_target.orders WHERE id NOT IN (SELECT id FROM dim)"), Lines{});
  EXPECT_EQ(producers("orders"), Lines{"dim"});
  EXPECT_EQ(with("SELECT * FROM _wm_target.orders WHERE id NOT IN (SELECT dim.nr FROM dim)"),
            (Lines{"W2110 tests/sane.sql:1:57 ducklake://main/main.dim has no column `nr`: models/dim.sql returns id, "
                   "region | there are id, region"}));
  // A producer that changes is seen, though neither the model nor its test did.
  EXPECT_EQ(with("SELECT * FROM _wm_target.orders WHERE id NOT IN (SELECT dim.id FROM dim)"), Lines{});
  model("dim", "SELECT 1 AS ident, 'x' AS region");
  bind();
  ASSERT_EQ(said().size(), 1U);
  EXPECT_TRUE(said()[0].starts_with("W2110 tests/sane.sql:1:57 ")) << said()[0];
}

TEST_F(QueriesOfTests, ACircleThroughATestIsPlacedAtItsRead) {
  model("dim", "SELECT id FROM orders");
  put("tests/sane.sql", "SELECT * FROM _wm_target.orders\nWHERE id NOT IN (SELECT id FROM dim)");
  auto project = load_project(root_, parser_);
  ASSERT_TRUE(project.has_value());
  const auto graph = Graph::link(project->models);
  ASSERT_FALSE(graph.has_value());
  const Diagnostic& circle = graph.error().front();
  EXPECT_EQ(circle.code, Code::W2003);
  // Either member may be blamed.
  EXPECT_TRUE(circle.path == "models/dim.sql" || circle.path == "tests/sane.sql") << circle.path;
  EXPECT_FALSE(circle.span.empty());
}

TEST_F(QueriesOfTests, AreBlockedByWhatTheyRead) {
  model("dim", "SELECT nope AS id");
  const Lines lines = with("SELECT * FROM _wm_target.orders WHERE id NOT IN (SELECT id FROM dim)");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0].starts_with("W2101 models/dim.sql")) << lines[0];
  using Blocked = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(bound("orders").blocked_tests, (Blocked{{"custom(tests/sane)", "dim"}}));
  EXPECT_EQ(bound("orders").state, BoundModel::State::Bound);
}

TEST_F(QueriesOfTests, SeeTheModelsAliasesMacrosAndTemporaryObjects) {
  model("orders",
        "ATTACH 'ducklake://main' AS dl;\nCREATE TEMP TABLE allowed AS SELECT id FROM dl.customers;\n"
        "CREATE TEMP MACRO is_odd(x) AS x % 2 = 1;\nSELECT id FROM allowed",
        "\n-- data_test tests/sane");
  EXPECT_EQ(with("SELECT * FROM _wm_target.orders o WHERE is_odd(o.id) AND o.id NOT IN (SELECT id FROM allowed)\n"
                 "  OR NOT EXISTS (FROM dl.customers WHERE dl.customers.id = o.id)"),
            Lines{});
  const Lines lines = with("SELECT * FROM _wm_target.orders WHERE is_odd(id)\n  AND id IN (SELECT idd FROM allowed)");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0].starts_with("W2101 tests/sane.sql:2:") || lines[0].starts_with("W2130 tests/sane.sql:2:"))
      << lines[0];
}

TEST_F(QueriesOfTests, ThatDoNotBlockAreWarnedOf) {
  model("orders", "SELECT 1 AS id", "\n-- data_test tests/sane severity=warn");
  put("tests/sane.sql", "SELECT * FROM _wm_target.orders WHERE nope = 1");
  bind();
  ASSERT_EQ(bound_.diagnostics.size(), 1U);
  EXPECT_EQ(bound_.diagnostics.front().severity, Severity::Warning);
}

TEST_F(QueriesOfTests, OfTheHeaderArePlacedThere) {
  put("models/orders.sql",
      "/*\nweir:\n  materialize: managed\n  target: ducklake://main/orders\n  checks:\n    - sql: |\n"
      "        SELECT * FROM _wm_target.orders\n        WHERE statsu = 'x'\n*/\nSELECT 1 AS id, 'x' AS status");
  bind();
  for (const Diagnostic& one : project_.diagnostics) ADD_FAILURE() << name_of(one.code) << " " << one.message;
  EXPECT_EQ(
      said(),
      (Lines{"W2130 models/orders.sql:8:15 the model orders returns no column `statsu` | did you mean `status`?"}));
}

TEST_F(QueriesOfTests, AreRememberedWithTheirModel) {
  with("SELECT * FROM _wm_target.orders WHERE id < 0");
  bind();
  EXPECT_EQ(binder_->asked(), 0U);
  put("tests/sane.sql", "SELECT * FROM _wm_target.orders WHERE id < 1");
  bind();
  EXPECT_EQ(binder_->asked(), 1U);
}

TEST_F(QueriesOfTests, APredicateOnTheirRowsIsBound) {
  model("orders", "SELECT 1 AS id", "\n-- data_test tests/sane where=\"nope = 1\"");
  put("tests/sane.sql", "SELECT id AS nr FROM _wm_target.orders");
  bind();
  ASSERT_EQ(said().size(), 1U);
  EXPECT_TRUE(said()[0].starts_with("W2132 models/orders.sql:2:")) << said()[0];
}

}  // namespace
}  // namespace weir::bind
