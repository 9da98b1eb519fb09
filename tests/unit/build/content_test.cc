#include <algorithm>
#include <random>

#include "build/content.h"
#include "slice.h"

namespace weir::build {
namespace {

class ContentSums : public Slice {
 protected:
  Content sums_of(const std::string& query) {
    auto stage = compute_now(query);
    EXPECT_TRUE(stage.has_value()) << query << (stage ? "" : stage.error()[0].message);
    if (!stage) return {};
    EXPECT_TRUE(add_hashes(*clean_, *stage).has_value());
    discard(*clean_, *stage, false);
    return stage->content;
  }
  bool differ(const std::string& one, const std::string& other) {
    const Content a = sums_of(one);
    const Content b = sums_of(other);
    return a.sum != b.sum && a.sum_of_hashes != b.sum_of_hashes;
  }
};

TEST_F(ContentSums, GoThroughJsonAndBack) {
  const Content content = sums_of("SELECT 1 AS a, 'x' AS b, NULL::DATE AS c");
  EXPECT_EQ(content_from_json(to_json(content)), content);
  EXPECT_FALSE(content_from_json("{\"rows\": 1}").has_value());
  EXPECT_FALSE(content_from_json("no").has_value());
}

TEST_F(ContentSums, TextsStayOut) {
  const Content content = sums_of("SELECT 'secret' AS a, 5 AS b");
  EXPECT_EQ(to_json(content).find("secret"), std::string::npos);
  const auto bounds = sum_up(*clean_, "(SELECT 'secret' AS a, 5 AS b)",
                             {{.name = "a", .type = "VARCHAR"}, {.name = "b", .type = "INTEGER"}}, Sums::Bounds);
  ASSERT_TRUE(bounds.has_value());
  EXPECT_FALSE(bounds->columns.at("a").minimum);
  EXPECT_EQ(bounds->columns.at("b").minimum, "5");
}

TEST_F(ContentSums, EmptyResultHasSumsToo) { EXPECT_EQ(sums_of("SELECT 1 AS a WHERE false").sum, "0"); }

TEST_F(ContentSums, CountedWithTheStageAreThoseCountedAfterwards) {
  for (const std::string query : {"SELECT range AS a, range / 3.0::DOUBLE AS b, 'x' AS _weir_hash FROM range(100)",
                                  "SELECT 1 AS a WHERE false", "SELECT INTERVAL 1 DAY AS a"}) {
    auto stage = compute_now(query);
    ASSERT_TRUE(stage.has_value()) << query;
    const Content counted = stage->content;
    EXPECT_FALSE(counted.sum.empty());
    ASSERT_TRUE(add_hashes(*clean_, *stage).has_value());
    EXPECT_EQ(counted, stage->content) << query;
  }
}

TEST_F(ContentSums, SwapBetweenRowsIsSeen) {
  EXPECT_TRUE(differ("FROM (VALUES (1, 'x'), (2, 'y')) AS t(a, b)", "FROM (VALUES (1, 'y'), (2, 'x')) AS t(a, b)"));
}

TEST_F(ContentSums, DuplicatesCount) {
  EXPECT_TRUE(differ("FROM (VALUES (1), (1), (2)) AS t(a)", "FROM (VALUES (1), (2), (2)) AS t(a)"));
  // What an xor would miss: pairs of equal rows.
  EXPECT_TRUE(differ("FROM (VALUES (1), (1)) AS t(a)", "FROM (VALUES (2), (2)) AS t(a)"));
}

TEST_F(ContentSums, ValuesThatCompareEqualButAreNotTheSameDiffer) {
  EXPECT_TRUE(differ("SELECT 0.0::DOUBLE AS a", "SELECT -0.0::DOUBLE AS a"));
  EXPECT_TRUE(differ("SELECT [0.0::DOUBLE] AS a", "SELECT [-0.0::DOUBLE] AS a"));
  EXPECT_TRUE(differ("SELECT INTERVAL '30 days' AS a", "SELECT INTERVAL '1 month' AS a"));
  EXPECT_TRUE(differ("SELECT NULL::VARCHAR AS a, '' AS b", "SELECT '' AS a, NULL::VARCHAR AS b"));
}

// Random tables: any permutation of the rows has the same sums, any change of one value has others.
TEST_F(ContentSums, AreThoseOfAMultisetOfRows) {
  std::mt19937 random(20260705);
  const auto pick = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  const std::vector<std::string> texts = {"NULL", "''", "'a'", "'b'", "'a''b'", "'|'", "'ä'"};
  for (int round = 0; round < 25; ++round) {
    SCOPED_TRACE(round);
    std::vector<std::vector<std::string>> rows(static_cast<std::size_t>(2 + pick(8)));
    for (auto& row : rows) {
      row = {pick(4) == 0 ? "NULL" : std::to_string(pick(3)), texts[static_cast<std::size_t>(pick(7))],
             pick(3) == 0 ? "NULL" : std::to_string(pick(3)) + ".5::DOUBLE", "[" + std::to_string(pick(3)) + "]"};
    }
    const auto query_of = [&](const auto& values) {
      std::string text = "SELECT a::INTEGER AS a, b::VARCHAR AS b, c::DOUBLE AS c, d FROM (VALUES ";
      for (std::size_t i = 0; i < values.size(); ++i)
        text += (i > 0 ? ", (" : "(") + values[i][0] + ", " + values[i][1] + ", " + values[i][2] + ", " + values[i][3] +
                ")";
      return text + ") AS t(a, b, c, d)";
    };
    const Content before = sums_of(query_of(rows));
    auto shuffled = rows;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    EXPECT_EQ(sums_of(query_of(shuffled)), before);
    auto changed = rows;
    const auto column = static_cast<std::size_t>(pick(2));
    auto& value = changed[static_cast<std::size_t>(pick(static_cast<int>(rows.size())))][column];
    value = value != "NULL" ? "NULL" : column == 0 ? "7" : "'7'";
    const Content after = sums_of(query_of(changed));
    EXPECT_NE(after.sum, before.sum);
    EXPECT_NE(after.sum_of_hashes, before.sum_of_hashes);
  }
}

}  // namespace
}  // namespace weir::build
