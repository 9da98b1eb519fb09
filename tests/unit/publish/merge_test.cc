#include <random>

#include "publishing.h"

namespace weir::publish {
namespace {

class Merge : public Publishing {
 protected:
  void SetUp() override {
    Publishing::SetUp();
    model.strategy = Strategy::Merge;
    model.key = {"id"};
  }
};

TEST_F(Merge, UpdatesInsertsAndLeavesTheRest) {
  ASSERT_TRUE(publish("SELECT * FROM (VALUES (1, 'a'), (2, 'b'), (3, 'c')) v(id, name)"));
  const auto effect = publish("SELECT * FROM (VALUES (2, 'b'), (3, 'C'), (4, 'd')) v(id, name)");
  ASSERT_TRUE(effect);
  EXPECT_EQ(effect->counts.inserted, 1);
  EXPECT_EQ(effect->counts.updated, 1);
  EXPECT_EQ(effect->counts.unchanged, 1);
  EXPECT_EQ(effect->rows, 4);
  same_rows("(SELECT * FROM (VALUES (1, 'a'), (2, 'b'), (3, 'C'), (4, 'd')) v(id, name))", table());
  EXPECT_FALSE(publish("SELECT * FROM (VALUES (2, 'b'), (3, 'C'), (4, 'd')) v(id, name)")->changes);
}

TEST_F(Merge, NullKeysMatchThemselves) {
  model.key = {"id", "Part"};
  ASSERT_TRUE(publish("SELECT * FROM (VALUES (NULL::INTEGER, 'x', 1), (1, NULL, 2), (NULL, NULL, 3)) v(id, part, n)"));
  const auto effect = publish("SELECT * FROM (VALUES (NULL::INTEGER, NULL::VARCHAR, 4)) v(id, part, n)");
  EXPECT_EQ(effect->counts.updated, 1);
  EXPECT_EQ(number("SELECT count(*) FROM " + table()), 3);
  EXPECT_EQ(number("SELECT n FROM " + table() + " WHERE id IS NULL AND part IS NULL"), 4);
}

TEST_F(Merge, WithinItsPartitionOnly) {
  partitioned();
  ASSERT_TRUE(publish("SELECT 1 AS id, 'one' AS name", "p1"));
  ASSERT_TRUE(publish("SELECT 1 AS id, 'two' AS name", "p2"));
  ASSERT_TRUE(publish("SELECT 1 AS id, 'new' AS name", "p2"));
  same_rows("(SELECT * FROM (VALUES (1, 'one', 'p1'), (1, 'new', 'p2')) v(id, name, _wm_partition))", table());
  same_rows("(SELECT 1 AS id, 'new' AS name, 'p2' AS _wm_partition)", "oracle.slice_image");
}

TEST_F(Merge, KeepsAllRowsOfADuplicateKeyAndSaysSo) {
  const auto first = publish("SELECT * FROM (VALUES (5, 'a'), (5, 'b'), (6, 'c')) v(id, name)");
  ASSERT_TRUE(first);
  ASSERT_EQ(first->warnings.size(), 1U);
  EXPECT_EQ(first->warnings[0].code, Code::W6021);
  EXPECT_NE(first->warnings[0].message.find("(5) ×2"), std::string::npos);
  EXPECT_FALSE(publish("SELECT * FROM (VALUES (5, 'b'), (5, 'a')) v(id, name)")->changes);
  ASSERT_TRUE(publish("SELECT 5 AS id, 'a' AS name"));
  EXPECT_EQ(number("SELECT count(*) FROM " + table() + " WHERE id = 5"), 1);
}

TEST_F(Merge, OneRowInsteadOfTwoEqualOnesIsAChange) {
  ASSERT_TRUE(publish("SELECT * FROM (VALUES (5, 'a'), (5, 'a')) v(id, name)"));
  const auto effect = publish("SELECT 5 AS id, 'a' AS name");
  EXPECT_TRUE(effect->changes);
  EXPECT_EQ(number("SELECT count(*) FROM " + table()), 1);
}

TEST_F(Merge, DuplicatesFailNamesTheKeys) {
  model.duplicates = Duplicates::Fail;
  EXPECT_FALSE(publish("SELECT * FROM (VALUES (5, 'a'), (5, 'b')) v(id, name)"));
  ASSERT_TRUE(failed_with(Code::W6010));
  EXPECT_NE(failure[0].message.find("(5) ×2"), std::string::npos);
}

TEST_F(Merge, FirstAndLastTakeOneRowByOrder) {
  model.order = {"AT_"};
  const std::string rows = "SELECT * FROM (VALUES (5, 'a', 1), (5, 'b', 2), (5, 'n', NULL)) v(id, name, at_)";
  model.duplicates = Duplicates::First;
  ASSERT_TRUE(publish(rows));
  EXPECT_EQ(text("SELECT name FROM " + table()), "a");
  model.duplicates = Duplicates::Last;
  ASSERT_TRUE(publish(rows));
  EXPECT_EQ(text("SELECT name FROM " + table()), "b");
}

TEST_F(Merge, ATieUnderLastFails) {
  model.order = {"AT_"};
  model.duplicates = Duplicates::Last;
  EXPECT_FALSE(publish("SELECT * FROM (VALUES (5, 'a', 2), (5, 'b', 2)) v(id, name, at_)"));
  EXPECT_TRUE(failed_with(Code::W6010));
}

TEST_F(Merge, AKeyThatTheQueryLacksIsNamed) {
  model.key = {"nothing"};
  EXPECT_FALSE(publish("SELECT 1 AS id"));
  ASSERT_TRUE(failed_with(Code::W6011));
  EXPECT_NE(failure[0].message.find("nothing"), std::string::npos);
}

TEST_F(Merge, ARowidColumnIsRefused) {
  EXPECT_FALSE(publish("SELECT 1 AS id, 2 AS RowId"));
  EXPECT_TRUE(failed_with(Code::W6024));
}

TEST_F(Merge, IntervalsAndZerosCompareAsSpelled) {
  ASSERT_TRUE(
      publish("SELECT 1 AS id, INTERVAL 30 DAY AS i, 0.0::DOUBLE AS x, {'a': 0.0::DOUBLE} AS s, 'nan'::FLOAT AS f"));
  EXPECT_FALSE(
      publish("SELECT 1 AS id, INTERVAL 30 DAY AS i, 0.0::DOUBLE AS x, {'a': 0.0::DOUBLE} AS s, 'nan'::FLOAT AS f")
          ->changes);
  EXPECT_TRUE(
      publish("SELECT 1 AS id, INTERVAL 1 MONTH AS i, 0.0::DOUBLE AS x, {'a': 0.0::DOUBLE} AS s, 'nan'::FLOAT AS f")
          ->changes);
  EXPECT_TRUE(
      publish("SELECT 1 AS id, INTERVAL 1 MONTH AS i, -0.0::DOUBLE AS x, {'a': 0.0::DOUBLE} AS s, 'nan'::FLOAT AS f")
          ->changes);
  EXPECT_TRUE(
      publish("SELECT 1 AS id, INTERVAL 1 MONTH AS i, -0.0::DOUBLE AS x, {'a': -0.0::DOUBLE} AS s, 'nan'::FLOAT AS f")
          ->changes);
}

// Rows enough for a dictionary, in which the lake's files hold 0.0 and -0.0, and 30 days, 1 month and 720 hours, as
// one.
constexpr const char* kSpellings =
    "SELECT i AS id, [0.0, -0.0, 1.0][i % 3 + 1]::DOUBLE AS x, [INTERVAL 30 DAY, INTERVAL 1 MONTH, INTERVAL 720 "
    "HOUR][i "
    "% 3 + 1] AS gap, [x] AS list, {'a': x::FLOAT} AS s FROM range(60) t(i)";

TEST_F(Merge, SpellingsThatTheLakeMergesAreNoDifference) {
  compares_images = false;
  ASSERT_TRUE(publish(kSpellings));
  ASSERT_EQ(number("SELECT count(DISTINCT CAST(gap AS VARCHAR)) FROM " + table()), 1)
      << "the lake keeps spellings apart now: then compare them";
  EXPECT_FALSE(publish(kSpellings)->changes);
  const auto effect =
      publish(std::string("SELECT * REPLACE (CASE id WHEN 4 THEN 9 ELSE x END AS x) FROM (") + kSpellings + ")");
  EXPECT_EQ(effect->counts.updated, 1) << "a value that differs is still seen";
  EXPECT_EQ(number("SELECT x FROM " + table() + " WHERE id = 4"), 9);
}

TEST_F(Merge, AlwaysCommitMakesAVersionOfNothing) {
  ASSERT_TRUE(publish("SELECT 1 AS id"));
  always_commit = true;
  EXPECT_TRUE(publish("SELECT 1 AS id")->changes);
}

// Random tables and edits against the naive statement: delete the keys of the result, insert the result.
TEST_F(Merge, EqualsDeleteByKeyAndInsertOnRandomData) {
  model.key = {"Key \"1\"", "select"};
  for (const bool by_partition : {false, true}) {
    model.target->name = by_partition ? "by_partition" : "whole";
    if (by_partition) partitioned();
    run("DROP TABLE IF EXISTS oracle.expected");
    for (int round = 0; round < 8; ++round) {
      const std::string partition = by_partition ? (round % 3 == 0 ? "a'" : "b") : "";
      const std::string random = "hash(i * 1009 + " + std::to_string(round * 7919) + " + ";
      std::string columns[] = {
          "CASE " + random + "1) % 6 WHEN 5 THEN NULL ELSE (" + random + "1) % 6)::INTEGER END AS \"key \"\"1\"\"\"",
          "CASE " + random + "2) % 4 WHEN 3 THEN NULL WHEN 2 THEN '' ELSE 'k' || (" + random +
              "2) % 4) END AS \"select\"",
          "CASE " + random +
              "3) % 5 WHEN 0 THEN NULL WHEN 1 THEN 'nan'::DOUBLE WHEN 2 THEN -0.0::DOUBLE WHEN 3 THEN 2.5 ELSE 1.5 END "
              "AS x",
          "CASE " + random + "4) % 3 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE 'n' END AS name",
          "CASE " + random + "5) % 2 WHEN 0 THEN INTERVAL 1 MONTH ELSE INTERVAL 40 DAY END AS gap",
          "CASE " + random + "6) % 3 WHEN 0 THEN NULL WHEN 1 THEN [NULL]::INTEGER[] ELSE [1] END AS list"};
      std::mt19937 generator(static_cast<unsigned>(round));
      std::shuffle(std::begin(columns), std::end(columns), generator);
      std::string select = "SELECT ";
      for (const std::string& column : columns) select += column + ", ";
      select.resize(select.size() - 2);
      select += " FROM range(" + std::to_string(generator() % 30) + ") t(i)";
      const build::Stage staged = stage(select, partition);
      if (round == 0) {
        run("CREATE OR REPLACE TABLE oracle.expected AS SELECT * FROM " + staged.relation.text());
      } else {
        run("DELETE FROM oracle.expected AS e WHERE EXISTS (SELECT 1 FROM " + staged.relation.text() +
            " s WHERE s.\"key \"\"1\"\"\" IS NOT DISTINCT FROM e.\"key \"\"1\"\"\" AND s.\"select\" IS NOT DISTINCT "
            "FROM e.\"select\"" +
            (by_partition ? " AND s._wm_partition = e._wm_partition)" : ")"));
        run("INSERT INTO oracle.expected BY NAME SELECT * FROM " + staged.relation.text());
      }
      ASSERT_TRUE(publish(staged)) << failure.front().message;
      same_rows("oracle.expected", table());
      EXPECT_FALSE(publish(staged)->changes && staged.content.rows > 0) << "a second run of the same rows wrote";
    }
  }
}

TEST_F(Merge, AFullMergeDeletesWhatTheResultLacks) {
  model.strategy = Strategy::FullMerge;
  ASSERT_TRUE(publish("SELECT * FROM (VALUES (1, 'a'), (2, 'b'), (NULL, 'n'), (4, 'd')) v(id, name)"));
  const auto effect = publish("SELECT * FROM (VALUES (2, 'B'), (4, 'd'), (5, 'e')) v(id, name)");
  ASSERT_TRUE(effect);
  EXPECT_EQ(effect->counts.inserted, 1);
  EXPECT_EQ(effect->counts.updated, 1);
  EXPECT_EQ(effect->counts.deleted, 2);
  EXPECT_EQ(effect->counts.unchanged, 1);
  EXPECT_EQ(effect->rows, 3);
  same_rows("(SELECT * FROM (VALUES (2, 'B'), (4, 'd'), (5, 'e')) v(id, name))", table());
  EXPECT_FALSE(publish("SELECT * FROM (VALUES (5, 'e'), (2, 'B'), (4, 'd')) v(id, name)")->changes);
  EXPECT_EQ(publish("SELECT 1 AS id, 'x' AS name WHERE false")->counts.deleted, 3);
  EXPECT_EQ(number("SELECT count(*) FROM " + table()), 0);
}

TEST_F(Merge, AFullMergeThatReplacesEveryKeyDeletesTheOthersAllTheSame) {
  model.strategy = Strategy::FullMerge;
  ASSERT_TRUE(publish("SELECT * FROM (VALUES (1, 'a'), (2, 'b')) v(id, name)"));
  ASSERT_TRUE(publish("SELECT * FROM (VALUES (3, 'c'), (4, 'd')) v(id, name)"));
  same_rows("(SELECT * FROM (VALUES (3, 'c'), (4, 'd')) v(id, name))", table());
}

TEST_F(Merge, TheHashOfARowTellsNullFromEmptyAndSeparatorsFromValues) {
  model.plane = Plane::Virtual;
  model.strategy = Strategy::HashMerge;
  model.keep_hash = true;
  ASSERT_TRUE(
      publish("SELECT * FROM (VALUES (1, NULL, ''), (2, '', NULL), (3, 'a||b', 'c'), (4, 'a', 'b||c'), "
              "(5, 'a\",\"b', 'c'), (6, 'a', 'b\",\"c')) v(id, x, y)"));
  EXPECT_EQ(number("SELECT count(DISTINCT _hash) FROM " + table()), 6);
  EXPECT_FALSE(publish("SELECT 1 AS id, NULL::VARCHAR AS x, '' AS y")->changes);
  const auto effect = publish("SELECT * FROM (VALUES (1, '', ''), (7, 'n', 'n')) v(id, x, y)");
  EXPECT_EQ(effect->counts.inserted, 1);
  EXPECT_EQ(effect->counts.updated, 1);
}

}  // namespace
}  // namespace weir::publish
