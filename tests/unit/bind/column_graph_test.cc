// Walks over the columns of a project: a → b → c, where c also reads a column of a that b only filters by.
#include "bind/column_graph.h"

#include <gtest/gtest.h>

#include "support/loaded_project.h"

namespace weir::bind {
namespace {

class ColumnWalk : public ::testing::Test {
 protected:
  void SetUp() override {
    project_.model("a", "-- materialize ducklake://main/a\nSELECT 1 AS x, 2 AS y");
    project_.model("b", "-- materialize ducklake://main/b\nSELECT x FROM a");
    project_.model("c", "-- materialize ducklake://main/c\nSELECT x FROM b");
    project_.model("d",
                   "-- materialize manual ducklake://main/d\nATTACH 'ducklake://main' AS m;\n"
                   "INSERT INTO m.d SELECT x FROM m.b");
    graph_ = std::make_unique<Graph>(project_.graph());
    bound_.models.resize(graph_->models().size());
    model("a").columns = {{"x", "INTEGER", {}}, {"y", "INTEGER", {}}};
    model("b").columns = {{"x", "INTEGER", {{of("a", "x"), ValueKind::Expression, false}}}};
    model("b").rows = {{of("a", "y"), RowRole::Where}};
    model("c").columns = {{"X", "INTEGER", {{of("b", "x"), ValueKind::Copy, false}}}};
    model("d").state = BoundModel::State::Opaque;
    columns_ = std::make_unique<ColumnGraph>(*graph_, bound_);
  }
  BoundModel& model(const std::string& path) { return bound_.models[graph_->index_of(path)]; }
  static AssetColumn of(const std::string& table, const std::string& column) {
    return {"ducklake://main/main." + table, column};
  }

  LoadedProject project_;
  std::unique_ptr<Graph> graph_;
  Bound bound_;
  std::unique_ptr<ColumnGraph> columns_;
};

constexpr std::size_t kAll = static_cast<std::size_t>(-1);

TEST_F(ColumnWalk, GoesUpWithTheStrongestKindOfTheWay) {
  const auto steps = walk(*columns_, {of("c", "x")}, Direction::Up, kAll);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(columns_->edge(steps[0].edge).from, of("b", "x"));
  EXPECT_EQ(steps[0].kind, ValueKind::Copy);
  EXPECT_EQ(columns_->edge(steps[1].edge).from, of("a", "x"));
  EXPECT_EQ(steps[1].kind, ValueKind::Expression);
  EXPECT_EQ(steps[1].distance, 2U);
}

TEST_F(ColumnWalk, GoesNoFurtherThanTheDepth) {
  EXPECT_EQ(walk(*columns_, {of("c", "x")}, Direction::Up, 1).size(), 1U);
  EXPECT_EQ(walk(*columns_, {of("a", "x")}, Direction::Down, 0).size(), 0U);
}

TEST_F(ColumnWalk, FollowsDeclaredLinesInsteadOfWhatWasInferred) {
  model("c").columns[0].from.push_back({of("a", "y"), ValueKind::Expression, true});
  const ColumnGraph columns(*graph_, bound_);
  const auto steps = walk(columns, {of("c", "x")}, Direction::Up, kAll);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(columns.edge(steps[0].edge).from, of("a", "y"));
  EXPECT_EQ(columns.into(of("c", "x")).size(), 2U);
}

TEST_F(ColumnWalk, ImpactReachesValuesAndNamesWhatIsNotKnown) {
  const Impact impact = impact_of(*columns_, of("A", "X"));
  ASSERT_EQ(impact.values.size(), 2U);
  EXPECT_EQ(impact.values[0].column, of("b", "x"));
  EXPECT_EQ(impact.values[1].distance, 2U);
  EXPECT_EQ(impact.values[1].kind, ValueKind::Expression);
  EXPECT_TRUE(impact.rows.empty());
  EXPECT_EQ(impact.unknown, (std::vector<std::size_t>{graph_->index_of("d")}));
}

TEST_F(ColumnWalk, ImpactOnRowsGoesOnToTheReaders) {
  const Impact impact = impact_of(*columns_, of("a", "y"));
  EXPECT_TRUE(impact.values.empty());
  ASSERT_EQ(impact.rows.size(), 2U);
  EXPECT_EQ(impact.rows[0].model, graph_->index_of("b"));
  EXPECT_EQ(impact.rows[0].roles, (std::vector<RowRole>{RowRole::Where}));
  EXPECT_EQ(impact.rows[1].model, graph_->index_of("c"));
  EXPECT_EQ(impact.rows[1].through, graph_->index_of("b"));
}

TEST_F(ColumnWalk, EndsInACircle) {
  model("a").columns[0].from.push_back({of("c", "x"), ValueKind::Window, false});
  const ColumnGraph columns(*graph_, bound_);
  EXPECT_EQ(walk(columns, {of("c", "x")}, Direction::Up, kAll).size(), 3U);
}

}  // namespace
}  // namespace weir::bind
