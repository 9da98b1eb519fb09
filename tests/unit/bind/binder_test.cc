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
};

TEST_F(Binding, TypesFlowFromSourcesThroughModels) {
  model("a", "SELECT id, amount * 2 AS twice FROM orders");
  model("b", "SELECT *, sum(twice) OVER () AS total FROM a");
  bind();
  EXPECT_EQ(said(), Lines{});
  EXPECT_EQ(columns("a"), "id INTEGER, twice DECIMAL(18,2)");
  EXPECT_EQ(columns("b"), "id INTEGER, twice DECIMAL(18,2), total DECIMAL(38,2)");
  const ColumnOrigin& total = bound("b").columns[2].from.at(0);
  EXPECT_EQ(total.from, (AssetColumn{"ducklake://main/main.a", "twice"}));
  EXPECT_EQ(total.kind, ValueKind::Window);
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
  EXPECT_EQ(bound("a").state, State::Failed);
  EXPECT_EQ(bound("b").state, State::Blocked);
  EXPECT_EQ(bound("b").blocked_by, "a");
}

}  // namespace
}  // namespace weir::bind
