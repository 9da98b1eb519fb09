#include "publishing.h"

namespace weir::publish {
namespace {

class SchemaChanges : public Publishing {
 protected:
  void SetUp() override {
    Publishing::SetUp();
    model.strategy = Strategy::Append;
  }
};

TEST_F(SchemaChanges, AppendGainsRowsByNameNotByPosition) {
  ASSERT_TRUE(publish("SELECT 1 AS a, 2 AS b"));
  const auto effect = publish("SELECT 20 AS B, 10 AS A");
  ASSERT_TRUE(effect);
  EXPECT_EQ(effect->counts.inserted, 1);
  EXPECT_EQ(effect->rows, 2);
  same_rows("(SELECT * FROM (VALUES (1, 2), (10, 20)) v(a, b))", table());
  EXPECT_FALSE(publish("SELECT 1 AS a, 2 AS b WHERE false")->changes);
}

TEST_F(SchemaChanges, AppendWithinAPartition) {
  partitioned();
  ASSERT_TRUE(publish("SELECT 1 AS a", "p"));
  ASSERT_TRUE(publish("SELECT 1 AS a", "q"));
  EXPECT_EQ(publish("SELECT 1 AS a", "p")->rows, 2);
  same_rows("(SELECT * FROM (VALUES (1, 'p'), (1, 'p'), (1, 'q')) v(a, _wm_partition))", table());
}

TEST_F(SchemaChanges, WarnAddsKeepsAndWidens) {
  for (const auto mode : {SchemaChange::Warn, SchemaChange::Ignore}) {
    model.on_schema_change = mode;
    model.target->name = std::string(name_of(mode));
    ASSERT_TRUE(publish("SELECT 1::INTEGER AS a, 2 AS b"));
    ASSERT_TRUE(publish("SELECT 5000000000::BIGINT AS a, 'c' AS c")) << failure.front().message;
    same_rows("(SELECT * FROM (VALUES (1::BIGINT, 2, NULL), (5000000000, NULL, 'c')) v(a, b, c))", table());
  }
}

TEST_F(SchemaChanges, SyncAddsAndDrops) {
  model.on_schema_change = SchemaChange::Sync;
  ASSERT_TRUE(publish("SELECT 1 AS a, 2 AS b"));
  ASSERT_TRUE(publish("SELECT 'c' AS c, 3 AS d")) << failure.front().message;
  same_rows("(SELECT * FROM (VALUES (NULL, NULL), ('c', 3)) v(c, d))", table());
}

TEST_F(SchemaChanges, FailWritesNothingAndListsTheColumns) {
  model.on_schema_change = SchemaChange::Fail;
  ASSERT_TRUE(publish("SELECT 1 AS a, 2 AS b"));
  EXPECT_FALSE(publish("SELECT 1 AS a, 2 AS c"));
  ASSERT_TRUE(failed_with(Code::W4201));
  EXPECT_NE(failure[0].message.find("added: c"), std::string::npos);
  EXPECT_NE(failure[0].message.find("removed: b"), std::string::npos);
  EXPECT_TRUE(publish("SELECT 2 AS b, 1 AS a")) << "reordering is no drift";
}

TEST_F(SchemaChanges, PartitionReplaceAndMergeFollowTheSameRules) {
  partitioned();
  for (const auto strategy : {Strategy::Replace, Strategy::Merge}) {
    model.strategy = strategy;
    model.key = {"a"};
    model.target->name = std::string(name_of(strategy));
    ASSERT_TRUE(publish("SELECT 1 AS a, 2 AS b", "p"));
    ASSERT_TRUE(publish("SELECT 1 AS a, 2 AS b", "q"));
    ASSERT_TRUE(publish("SELECT 'c' AS c, 1 AS a", "q")) << failure.front().message;
    same_rows("(SELECT * FROM (VALUES (1, 2, 'p', NULL), (1, NULL, 'q', 'c')) v(a, b, _wm_partition, c))", table());
    EXPECT_FALSE(strategy == Strategy::Merge && publish("SELECT 'c' AS c, 1 AS a", "q")->changes);
  }
}

TEST_F(SchemaChanges, MergeLeavesUnchangedRowsTheColumnTheQueryNoLongerReturns) {
  model.strategy = Strategy::Merge;
  model.key = {"a"};
  ASSERT_TRUE(publish("SELECT * FROM (VALUES (1, 'x', 5), (2, 'y', 6)) v(a, name, old)"));
  ASSERT_TRUE(publish("SELECT * FROM (VALUES (1, 'x'), (2, 'Y')) v(a, name)"));
  same_rows("(SELECT * FROM (VALUES (1, 'x', 5), (2, 'Y', NULL)) v(a, name, old))", table());
}

TEST_F(SchemaChanges, ATypeThatSomebodyChangedMeanwhileStopsTheWrite) {
  ASSERT_TRUE(publish("SELECT 'a' AS a"));
  EXPECT_FALSE(publish("SELECT 1 AS a"));
  EXPECT_TRUE(failed_with(Code::W6019));
}

TEST_F(SchemaChanges, ANewTypeThatHoldsTheStagesIsMet) {
  ASSERT_TRUE(publish("SELECT 1::BIGINT AS a"));
  ASSERT_TRUE(publish("SELECT 2::INTEGER AS a"));
  same_rows("(SELECT * FROM (VALUES (1::BIGINT), (2)) v(a))", table());
}

TEST_F(SchemaChanges, SyncDropsNoColumnThatTheTableIsLaidOutBy) {
  model.on_schema_change = SchemaChange::Sync;
  ASSERT_TRUE(publish("SELECT 1 AS a, 2 AS b, DATE '2024-01-01' AS day"));
  run("ALTER TABLE " + target() + " SET PARTITIONED BY (year(day))");
  run("ALTER TABLE " + target() + " SET SORTED BY (b + 1 DESC)");
  EXPECT_FALSE(publish("SELECT 1 AS a, 2 AS b"));
  EXPECT_TRUE(failed_with(Code::W6027));
  EXPECT_FALSE(publish("SELECT 1 AS a, DATE '2024-01-01' AS day"));
  EXPECT_TRUE(failed_with(Code::W6027));
  ASSERT_TRUE(publish("SELECT 2 AS b, DATE '2024-01-01' AS day")) << failure.front().message;
}

}  // namespace
}  // namespace weir::publish
