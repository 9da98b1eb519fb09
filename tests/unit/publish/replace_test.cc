#include "publishing.h"

namespace weir::publish {
namespace {

class Replace : public Publishing {};

TEST_F(Replace, MakesTheTableWithTheQuerysColumns) {
  const auto effect = publish("SELECT 1 AS id, 'a' AS name");
  ASSERT_TRUE(effect);
  EXPECT_EQ(effect->counts.inserted, 1);
  EXPECT_EQ(effect->counts.deleted, 0);
  same_rows("(SELECT 1 AS id, 'a' AS name)", table());
}

TEST_F(Replace, SecondRunWithOtherColumnsFollowsTheQuery) {
  ASSERT_TRUE(publish("SELECT 1 AS id, 'a' AS name"));
  ASSERT_TRUE(publish("SELECT DATE '2024-01-01' AS day, 2::BIGINT AS id"));
  same_rows("(SELECT DATE '2024-01-01' AS day, 2::BIGINT AS id)", table());
}

TEST_F(Replace, EqualRowsWriteNothingInAnyOrder) {
  ASSERT_TRUE(publish("SELECT i AS id, i / 3 AS x FROM range(50) t(i)"));
  const auto effect = publish("SELECT i AS id, i / 3 AS x FROM range(50) t(i) ORDER BY i DESC");
  ASSERT_TRUE(effect);
  EXPECT_FALSE(effect->changes);
}

TEST_F(Replace, ValuesSwappedBetweenRowsAreAChange) {
  ASSERT_TRUE(publish("SELECT * FROM (VALUES (1, 'a'), (2, 'b')) v(id, name)"));
  const auto effect = publish("SELECT * FROM (VALUES (1, 'b'), (2, 'a')) v(id, name)");
  ASSERT_TRUE(effect);
  EXPECT_TRUE(effect->changes);
}

TEST_F(Replace, ARowTwiceInsteadOfOnceIsAChange) {
  ASSERT_TRUE(publish("SELECT * FROM (VALUES (1), (1), (2)) v(id)"));
  EXPECT_TRUE(publish("SELECT * FROM (VALUES (1), (2), (2)) v(id)")->changes);
}

TEST_F(Replace, NegativeZeroIsAChange) {
  ASSERT_TRUE(publish("SELECT 0.0::DOUBLE AS x"));
  EXPECT_TRUE(publish("SELECT -0.0::DOUBLE AS x")->changes);
}

TEST_F(Replace, RecordedSumsDecideWithoutReadingTheTable) {
  ASSERT_TRUE(publish("SELECT 1 AS id"));
  recorded = publish("SELECT 1 AS id")->content;
  ASSERT_TRUE(recorded && !recorded->sum.empty());
  EXPECT_FALSE(publish("SELECT 1 AS id")->changes);
  recorded->sum += "1";
  EXPECT_TRUE(publish("SELECT 1 AS id")->changes);
}

TEST_F(Replace, SpellingsThatTheLakeMergesAreNoDifference) {
  compares_images = false;
  const std::string rows =
      "SELECT i AS id, [0.0, -0.0][i % 2 + 1]::DOUBLE AS x, [INTERVAL 30 DAY, INTERVAL 1 MONTH][i % 2 + 1] AS gap, "
      "{'a': "
      "[x]} AS s FROM range(60) t(i)";
  ASSERT_TRUE(publish(rows));
  EXPECT_FALSE(publish(rows)->changes);
  EXPECT_TRUE(publish("SELECT * REPLACE (x + 1 AS x) FROM (" + rows + ")")->changes);
}

TEST_F(Replace, AlwaysCommitWritesEqualRows) {
  ASSERT_TRUE(publish("SELECT 1 AS id"));
  always_commit = true;
  EXPECT_TRUE(publish("SELECT 1 AS id")->changes);
}

TEST_F(Replace, EmptyResultEmptiesTheTable) {
  ASSERT_TRUE(publish("SELECT 1 AS id"));
  ASSERT_TRUE(publish("SELECT 1 AS id WHERE false"));
  EXPECT_EQ(number("SELECT count(*) FROM " + table()), 0);
  EXPECT_FALSE(publish("SELECT 1 AS id WHERE false")->changes);
}

TEST_F(Replace, SmallTableKeepsItsIdentityWhenAlone) {
  ASSERT_TRUE(publish("SELECT 1 AS id"));
  const auto id = [&] { return state().table_id; };
  const auto before = id();
  ASSERT_TRUE(publish("SELECT 2 AS id"));
  EXPECT_EQ(id(), before);
  alone = false;
  ASSERT_TRUE(publish("SELECT 3 AS id"));
  EXPECT_NE(id(), before);
}

TEST_F(Replace, MadeAnewItKeepsCommentsDefaultsOrderAndNotNull) {
  alone = false;
  ASSERT_TRUE(publish("SELECT 1 AS id, 'a' AS name"));
  run("COMMENT ON TABLE " + target() + " IS 'it''s mine'");
  run("COMMENT ON COLUMN " + target() + ".name IS 'called'");
  run("ALTER TABLE " + target() + " ALTER COLUMN name SET DEFAULT 'x''y'");
  run("ALTER TABLE " + target() + " ALTER COLUMN id SET NOT NULL");
  run("ALTER TABLE " + target() + " SET PARTITIONED BY (name)");
  run("ALTER TABLE " + target() + " SET SORTED BY (id)");
  const auto before = state();
  ASSERT_TRUE(publish("SELECT 2 AS id, 'b' AS name, 3 AS more"));
  const auto after = state();
  EXPECT_NE(after.table_id, before.table_id);
  EXPECT_EQ(after.comment, std::optional<std::string>("it's mine"));
  EXPECT_EQ(after.columns[0], before.columns[0]);
  EXPECT_FALSE(after.columns[0].nullable);
  EXPECT_EQ(after.columns[1], before.columns[1]);
  EXPECT_EQ(after.partitioned_by, before.partitioned_by);
  EXPECT_EQ(after.sorted_by, before.sorted_by);
}

TEST_F(Replace, NullInANotNullColumnIsRefusedBeforeTheWrite) {
  ASSERT_TRUE(publish("SELECT 1 AS id"));
  run("ALTER TABLE " + target() + " ALTER COLUMN id SET NOT NULL");
  EXPECT_FALSE(publish("SELECT NULL::INTEGER AS id"));
  EXPECT_TRUE(failed_with(Code::W6017));
}

TEST_F(Replace, AViewIsNotOverwritten) {
  run("CREATE VIEW " + target() + " AS SELECT 1 AS id");
  EXPECT_FALSE(publish("SELECT 1 AS id"));
  EXPECT_TRUE(failed_with(Code::W6015));
}

TEST_F(Replace, PartitionBecomesTheRowsAndOthersStay) {
  partitioned();
  ASSERT_TRUE(publish("SELECT i AS id FROM range(3) t(i)", "p1"));
  ASSERT_TRUE(publish("SELECT i AS id FROM range(5) t(i)", "p'2"));
  const auto effect = publish("SELECT 9::BIGINT AS id", "p1");
  ASSERT_TRUE(effect);
  EXPECT_EQ(effect->counts.inserted, 1);
  EXPECT_EQ(effect->counts.deleted, 3);
  same_rows("(SELECT 9 AS id, 'p1' AS _wm_partition UNION ALL SELECT i, 'p''2' FROM range(5) t(i))", table());
  same_rows("(SELECT 9 AS id, 'p1' AS _wm_partition)", "oracle.slice_image");
  EXPECT_FALSE(publish("SELECT 9::BIGINT AS id", "p1")->changes);
}

TEST_F(Replace, EmptyPartitionStaysEmptyWithoutACommit) {
  partitioned();
  ASSERT_TRUE(publish("SELECT 1 AS id", "p1"));
  const auto effect = publish("SELECT 1 AS id WHERE false", "p2");
  ASSERT_TRUE(effect);
  EXPECT_FALSE(effect->changes);
  EXPECT_EQ(effect->rows, 0);
}

TEST_F(Replace, PartitioningThatDiffersIsSaidAndRebuiltOnDemand) {
  ASSERT_TRUE(publish("SELECT 1 AS id"));
  partitioned();
  EXPECT_FALSE(publish("SELECT 1 AS id", "p1"));
  EXPECT_TRUE(failed_with(Code::W6016));
  rebuild = true;
  ASSERT_TRUE(publish("SELECT 1 AS id", "p1"));
  rebuild = false;
  model.partitioning.reset();
  EXPECT_FALSE(publish("SELECT 1 AS id"));
  EXPECT_TRUE(failed_with(Code::W6016));
}

TEST_F(Replace, FilesOfTheStageBecomeTheTables) {
  build::Stage staged = stage("SELECT i AS id, 'n' || i AS name FROM range(10) t(i)");
  const auto fill = [&](const std::string& where) {
    const std::string folder = state().folder;
    const std::string file = folder + "weir-run-" + where + ".parquet";
    std::filesystem::create_directories(folder);
    ask(duck::Sql("COPY (SELECT * FROM {}) TO {}", duck::Sql("{}", staged.table), duck::Literal(file)));
    staged.relation = duck::Sql("read_parquet({})", duck::Literal(file));
    staged.files = {file};
  };
  fill("a");
  const auto effect = publish(staged);
  ASSERT_TRUE(effect);
  EXPECT_TRUE(effect->takes_files);
  same_rows("(SELECT i AS id, 'n' || i AS name FROM range(10) t(i))", table());
  fill("b");
  EXPECT_FALSE(publish(staged)->changes);
  model.strategy = Strategy::Append;
  EXPECT_TRUE(publish(staged)->takes_files);
  EXPECT_EQ(number("SELECT count(*) FROM " + table()), 20);
}

TEST_F(Replace, OddNamesAreWritten) {
  model.target = Asset{AssetKind::Lake, "main", "my schema", "t \"1\""};
  ASSERT_TRUE(publish("SELECT 1 AS \"a b\", 2 AS \"select\""));
  ASSERT_TRUE(publish("SELECT 2 AS \"a b\", 2 AS \"select\""));
  same_rows("(SELECT 2 AS \"a b\", 2 AS \"select\")", table());
}

TEST_F(Replace, MadeAnewItSaysWhatSettingsAreLost) {
  alone = false;
  ASSERT_TRUE(publish("SELECT 1 AS id, 'a' AS name, DATE '2024-01-01' AS day"));
  run("ALTER TABLE " + target() + " SET PARTITIONED BY (name)");
  run("ALTER TABLE " + target() + " SET SORTED BY (day)");
  const auto effect = publish("SELECT 2 AS id");
  ASSERT_TRUE(effect);
  ASSERT_EQ(effect->warnings.size(), 2U);
  for (const Diagnostic& warning : effect->warnings) EXPECT_EQ(warning.code, Code::W6023);
}

TEST_F(Replace, AWriteThatFailsIsSaidAndLeavesTheTable) {
  ASSERT_TRUE(publish("SELECT 1 AS id"));
  const build::Stage staged = stage("SELECT 2 AS id");
  PrepareRequest request = request_for(staged);
  auto effect = prepared(request);
  ASSERT_TRUE(effect.has_value());
  run("DROP TABLE " + target());
  auto transaction = duck::Transaction::begin(clean());
  CommitGroup group{.alone = true};
  const auto written = write(clean(), request, *effect, group);
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().front().code, Code::W6020);
}

}  // namespace
}  // namespace weir::publish
