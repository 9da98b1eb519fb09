#include "bound_project.h"

namespace weir::bind {
namespace {

using State = BoundModel::State;

class Binding : public BoundProject {
 protected:
  void SetUp() override {
    BoundProject::SetUp();
    source("orders", {{"id", "INTEGER"}, {"customer", "INTEGER"}, {"amount", "DECIMAL(10,2)"}, {"note", "VARCHAR"}});
    source("customers", {{"id", "INTEGER"}, {"name", "VARCHAR"}});
  }
  /// "output: asset.column kind, …" for one column.
  std::string origins(const std::string& path, const std::string& name) const {
    std::string all;
    for (const BoundColumn& column : bound(path).columns) {
      if (column.name != name) continue;
      for (const ColumnOrigin& one : column.from)
        all += (all.empty() ? "" : ", ") + one.from.asset + "." + one.from.column + " " +
               std::string(name_of(one.kind)) + (one.is_declared ? " declared" : "");
    }
    return all;
  }
};

TEST_F(Binding, TypesFlowFromSourcesThroughModels) {
  model("a", "SELECT id, amount * 2 AS twice FROM orders");
  model("b", "SELECT *, sum(twice) OVER () AS total FROM a");
  bind();
  EXPECT_EQ(said(), Lines{});
  EXPECT_EQ(columns("a"), "id INTEGER, twice DECIMAL(18,2)");
  EXPECT_EQ(columns("b"), "id INTEGER, twice DECIMAL(18,2), total DECIMAL(38,2)");
  EXPECT_EQ(origins("b", "total"), "ducklake://main/main.a.twice window");
}

TEST_F(Binding, ANameBehindUseLeadsToItsAsset) {
  model("a", "ATTACH 'ducklake://main' AS dl;\nUSE dl;\nSELECT amount AS revenue FROM orders");
  bind();
  EXPECT_EQ(said(), Lines{});
  EXPECT_EQ(origins("a", "revenue"), "ducklake://main/main.orders.amount copy");
}

TEST_F(Binding, AnUnknownColumnOfTheQueryIsAnErrorAtItsPlaceWithTheNearestName) {
  model("a", "WITH c AS (SELECT id, note FROM orders)\nSELECT id, nte FROM c");
  bind();
  EXPECT_EQ(said(), (Lines{"W2101 models/a.sql:3:12 there is no column `nte` here | did you mean `note`?"}));
}

TEST_F(Binding, AColumnThatAnAssetLacksIsAContractWarningAndDownstreamIsBlocked) {
  model("a", "SELECT id, amout FROM orders");
  model("b", "SELECT * FROM a");
  bind();
  EXPECT_EQ(said(), (Lines{"W2110 models/a.sql:2:12 ducklake://main/main.orders has no column `amout`: the lake has "
                           "id, customer, amount, note | did you mean `amount`?"}));
  EXPECT_EQ(bound_.diagnostics.at(0).severity, Severity::Warning);
  EXPECT_EQ(bound_.diagnostics.at(0).fix, (Fix{{44, 49}, "amount"}));
  EXPECT_EQ(bound("a").state, State::Failed);
  EXPECT_EQ(bound("b").state, State::Blocked);
  EXPECT_EQ(bound("b").blocked_by, "a");
}

TEST_F(Binding, DownstreamOfAFailedModelIsBoundAgainstItsLastCapture) {
  captured("a", {{"id", "INTEGER"}, {"amout", "INTEGER"}});
  model("a", "SELECT id, nofn(id) AS amout FROM orders");
  model("b", "SELECT amout + 1 AS more FROM a");
  bind();
  EXPECT_EQ(said(), (Lines{"W2104 models/a.sql:2:12 there is no function `nofn`"}));
  EXPECT_EQ(columns("a"), "id INTEGER, amout INTEGER");
  EXPECT_EQ(columns("b"), "more INTEGER");
}

TEST_F(Binding, AllFaultsOfAQueryAreFound) {
  model("a",
        "SELECT nofn(o.id) AS a,\n  o.amnt,\n  sum(note) AS s,\n  c.nme\nFROM orders o JOIN customers c ON c.id = "
        "o.customer");
  bind();
  Lines codes;
  for (const std::string& line : said()) codes.push_back(line.substr(0, line.find(' ', 6)));
  EXPECT_EQ(codes, (Lines{"W2104 models/a.sql:2:8", "W2110 models/a.sql:3:3", "W2103 models/a.sql:4:3",
                          "W2110 models/a.sql:5:3"}));
}

TEST_F(Binding, AMissingColumnIsLaidToTheTableOfItsQualifier) {
  model("a", "SELECT o.id, c.amount FROM orders o JOIN customers c ON c.id = o.customer");
  bind();
  EXPECT_EQ(said(), (Lines{"W2110 models/a.sql:2:14 ducklake://main/main.customers has no column `amount`: the lake "
                           "has id, name | there are id, name"}));
}

TEST_F(Binding, AMissingColumnThatSeveralTablesCouldHaveIsLaidToNoneOfThem) {
  model("a", "SELECT region FROM orders o JOIN customers c ON c.id = o.customer");
  bind();
  ASSERT_EQ(bound_.diagnostics.size(), 1U);
  EXPECT_EQ(bound_.diagnostics[0].message,
            "neither ducklake://main/main.orders nor ducklake://main/main.customers has a column `region`");
}

TEST_F(Binding, AnAmbiguousNameIsSaidWithItsQualifiers) {
  model("a", "SELECT id FROM orders o JOIN customers c ON c.id = o.customer");
  bind();
  EXPECT_EQ(said(), (Lines{"W2102 models/a.sql:2:8 several tables here have a column `id` | write `o.id` or `c.id`"}));
}

TEST_F(Binding, SidesOfASetOperationMustMatchAndTheOperationIsMarked) {
  model("a", "SELECT id FROM orders\nUNION ALL SELECT id FROM customers\nUNION ALL SELECT id, name FROM customers");
  bind();
  ASSERT_EQ(said().size(), 1U);
  EXPECT_TRUE(said()[0].starts_with("W2105 models/a.sql:4:1 ")) << said()[0];
}

TEST_F(Binding, TypesThatCannotBeComparedAreAnErrorAtTheOperator) {
  model("a", "SELECT id FROM orders WHERE note > id");
  model("b", "SELECT id FROM orders WHERE note BETWEEN id AND id");
  bind();
  ASSERT_EQ(said().size(), 2U);
  EXPECT_TRUE(said()[0].starts_with("W2103 models/a.sql:2:34 ")) << said()[0];
  EXPECT_TRUE(said()[1].starts_with("W2103 models/b.sql:2:34 ")) << said()[1];
}

TEST_F(Binding, ColumnsInListsHavePlacesThoughTheEngineGivesNone) {
  model("a", "SELECT * EXCLUDE (amnt) FROM orders");
  model("b", "SELECT * FROM orders JOIN customers USING (cust)");
  bind();
  ASSERT_EQ(said().size(), 3U);
  EXPECT_TRUE(said()[0].starts_with("W2110 models/a.sql:2:19 ")) << said()[0];
  EXPECT_TRUE(said()[1].starts_with("W2110 models/b.sql:2:44 ")) << said()[1];
}

TEST_F(Binding, AnUngroupedColumnIsAnError) {
  model("a", "SELECT id, count(*) AS n FROM orders");
  bind();
  ASSERT_EQ(said().size(), 1U);
  EXPECT_TRUE(said()[0].starts_with("W2106 models/a.sql:2:8 ")) << said()[0];
}

TEST_F(Binding, AnEditThatRemovesAColumnInUseIsSaidBeforeItLands) {
  captured("a", {{"id", "INTEGER"}, {"amount", "DECIMAL(10,2)"}}, 3);
  model("a", "SELECT id FROM orders");
  model("b", "SELECT id,\n  amount\nFROM a");
  bind();
  EXPECT_EQ(said(),
            (Lines{"W2115 models/a.sql:2:1 this edit removes `amount`, which b line 3 reads | keep the column, or "
                   "change its readers first",
                   "W2110 models/b.sql:3:3 `amount` is about to go from ducklake://main/main.a: models/a.sql no longer "
                   "returns it (version 3, captured 2026-11-30T10:00:00Z, has id, amount) | there are id"}));
}

TEST_F(Binding, AProducerThatMutesItsContractIsNotedOnce) {
  model("a", "SELECT id FROM orders", " append on_schema_change=ignore");
  model("b", "SELECT x, y FROM a");
  bind();
  ASSERT_EQ(said().size(), 1U);
  EXPECT_TRUE(said()[0].starts_with("W2114 models/b.sql:2:8 ")) << said()[0];
  EXPECT_EQ(bound_.diagnostics[0].severity, Severity::Hint);
}

TEST_F(Binding, CapturesAreNotAskedForWhileEverythingBinds) {
  model("a", "SELECT id FROM orders");
  bind();
  EXPECT_EQ(captures_asked_, 0);
}

TEST_F(Binding, PartitionAndValidityColumnsAreSeenByReaders) {
  model("p", "SELECT id, note FROM orders", "\n-- partitioned dynamic key=note");
  model("h", "SELECT id, note FROM orders", " key=id history");
  model("r", "SELECT p._wm_partition, h.valid_from, c.is_current FROM p JOIN h USING (id) JOIN h_current c USING (id)");
  bind();
  EXPECT_EQ(said(), Lines{});
  EXPECT_EQ(columns("r"), "_wm_partition VARCHAR, valid_from TIMESTAMP, is_current BOOLEAN");
  EXPECT_EQ(origins("r", "is_current"), "ducklake://main/main.h.is_current copy");
}

TEST_F(Binding, SetupIsRunWithoutDataAndLineageLeadsThroughIt) {
  model("a",
        "CREATE TEMP TABLE t AS SELECT id, amount AS x FROM orders WHERE note = 'a';\n"
        "CREATE TEMP MACRO twice(v) AS v * 2;\n"
        "SELECT id, twice(sum(x)) AS total FROM t GROUP BY id");
  bind();
  EXPECT_EQ(said(), Lines{});
  EXPECT_EQ(origins("a", "id"), "ducklake://main/main.orders.id copy");
  EXPECT_EQ(origins("a", "total"), "ducklake://main/main.orders.amount aggregate");
  bool filters = false;
  for (const RowOrigin& row : bound("a").rows)
    filters = filters || (row.from.column == "note" && row.role == RowRole::Where);
  EXPECT_TRUE(filters);
}

TEST_F(Binding, AFaultInSetupIsPlacedThere) {
  model("a", "CREATE TEMP TABLE t AS\nSELECT nope FROM orders;\nSELECT * FROM t");
  bind();
  ASSERT_EQ(said().size(), 1U);
  EXPECT_TRUE(said()[0].starts_with("W2110 models/a.sql:3:8 ")) << said()[0];
}

TEST_F(Binding, FilesAreDescribedAndAreAssetsOfTheirOwn) {
  put("in/orders.csv", "id,amount\n1,2.5\n");
  model("a", "SELECT id, amount * 2 AS twice FROM read_csv('in/orders.csv')");
  model("b", "SELECT orders.id FROM 'in/orders.csv'");
  bind();
  EXPECT_EQ(said(), Lines{});
  EXPECT_EQ(columns("a"), "id BIGINT, twice DOUBLE");
  EXPECT_EQ(origins("a", "twice"), "file:in/orders.csv.amount expression");
  EXPECT_EQ(columns("b"), "id BIGINT");
}

TEST_F(Binding, AColumnThatAFileLacksIsAnErrorOfTheQuery) {
  put("in/orders.csv", "id,amount\n1,2.5\n");
  model("a", "SELECT id, amuont FROM read_csv('in/orders.csv', header = true) AS o");
  bind();
  EXPECT_EQ(said(), (Lines{"W2101 models/a.sql:2:12 file:in/orders.csv has no column `amuont` | did you mean "
                           "`amount`?"}));
}

TEST_F(Binding, AMissingFileIsAWarningAndReadersAreBlocked) {
  model("a", "SELECT * FROM read_csv('in/none.csv')");
  model("b", "SELECT * FROM a");
  bind();
  ASSERT_EQ(said().size(), 1U);
  EXPECT_TRUE(said()[0].starts_with("W2121 models/a.sql:2:15 ")) << said()[0];
  EXPECT_EQ(bound_.diagnostics[0].severity, Severity::Warning);
  EXPECT_EQ(bound("a").state, State::Opaque);
  EXPECT_EQ(bound("b").blocked_by, "a");
}

TEST_F(Binding, DeclaredLineageComesFirstAndDifferencesAreHinted) {
  put("models/a.sql",
      "-- materialize ducklake://main/a\n-- column total <- ducklake://main/customers.id\n"
      "-- column gone <- ducklake://main/orders.id\nSELECT sum(amount) AS total FROM orders");
  bind();
  EXPECT_EQ(origins("a", "total"),
            "ducklake://main/main.customers.id expression declared, ducklake://main/main.orders.amount aggregate");
  Lines codes;
  for (const std::string& line : said()) codes.push_back(line.substr(0, line.find(' ', 6)));
  EXPECT_EQ(codes, (Lines{"W2140 models/a.sql:2:11", "W2141 models/a.sql:3:11"}));
}

TEST_F(Binding, DeclaredLineageFromAColumnThatIsNotThereIsAContractWarning) {
  put("models/a.sql",
      "-- materialize ducklake://main/a\n-- column total <- ducklake://main/orders.amuont\n"
      "SELECT sum(amount) AS total FROM orders");
  bind();
  EXPECT_TRUE(said().at(0).starts_with("W2111 models/a.sql:2:43 ") ||
              said().at(1).starts_with("W2111 models/a.sql:2:43 "))
      << said().at(0);
}

TEST_F(Binding, CancellingStopsIt) {
  model("a", "SELECT id FROM orders");
  bind();
  const std::atomic<bool> cancelled = true;
  const auto again = binder_->bind(project_, *graph_, surroundings_, &cancelled);
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().front().code, Code::W7010);
}

TEST_F(Binding, ExpressionsAreBoundOverTheColumnsOfATable) {
  const auto bound = binder_->bind_expressions(
      {{"a", "INTEGER"}, {"b", "VARCHAR"}}, {"sum(a)", "a + 1", "nope + 1", "a > 1", "row_number() OVER (ORDER BY b)"});
  ASSERT_TRUE(bound.has_value());
  EXPECT_TRUE((*bound)[0].has_aggregate);
  EXPECT_EQ((*bound)[0].type, "HUGEINT");
  EXPECT_EQ((*bound)[1].columns, (Lines{"a"}));
  EXPECT_FALSE((*bound)[1].has_aggregate);
  ASSERT_TRUE((*bound)[2].failure);
  EXPECT_EQ((*bound)[2].missing_name, "nope");
  EXPECT_EQ((*bound)[2].failure->position, 0U);
  EXPECT_EQ((*bound)[3].type, "BOOLEAN");
  EXPECT_TRUE((*bound)[4].has_window);
}

}  // namespace
}  // namespace weir::bind
