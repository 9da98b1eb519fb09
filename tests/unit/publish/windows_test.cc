// Windows: without a key the rows of the windows become the result's, in every type of time column; with one, a merge.
#include <fmt/format.h>

#include <random>

#include "publishing.h"

namespace weir::publish {
namespace {

class WindowsOfATable : public Publishing {
 protected:
  void SetUp() override {
    Publishing::SetUp();
    model.strategy = Strategy::IncrementalByTime;
    model.time_column = "T";
    model.interval = "1d";
  }
  std::optional<Effect> publish_windows(const std::string& select, const std::string& windows) {
    build::Stage staged = stage(select);
    staged.windows = windows;
    return publish(staged);
  }
};

TEST_F(WindowsOfATable, RowsOfTheWindowBecomeTheResultsAndOthersStay) {
  const std::string first = "SELECT DATE '2026-07-01' + i AS t, i AS v FROM (SELECT range::INTEGER AS i FROM range(5))";
  ASSERT_TRUE(publish_windows(first, "all"));
  const auto effect = publish_windows("SELECT DATE '2026-07-02' AS t, 20 AS v", "2026-07-02/2026-07-04");
  ASSERT_TRUE(effect);
  EXPECT_EQ(effect->counts.inserted, 1);
  EXPECT_EQ(effect->counts.deleted, 2);
  same_rows(
      "(VALUES (DATE '2026-07-01', 0), (DATE '2026-07-02', 20), (DATE '2026-07-04', 3), (DATE '2026-07-05', 4)) "
      "v(t, v)",
      table());
  EXPECT_FALSE(publish_windows("SELECT DATE '2026-07-02' AS t, 20 AS v", "2026-07-02/2026-07-04")->changes);
  EXPECT_FALSE(publish_windows("SELECT DATE '2026-07-02' AS t, 20 AS v LIMIT 0", "2026-08-01/2026-08-02")->changes);
}

// Only rows without a time are asked for then, and files say whether they have any.
TEST_F(WindowsOfATable, WhoReadsTheWindowsFromTheImageLeavesTheTableUnread) {
  ASSERT_TRUE(
      publish_windows("SELECT DATE '2026-07-01' + i AS t FROM (SELECT range::INTEGER AS i FROM range(5))", "all"));
  build::Stage staged = stage("SELECT DATE '2026-07-02' AS t");
  staged.windows = "2026-07-02/2026-07-04";
  PrepareRequest request = request_for(staged);
  const auto effect = prepared(request);
  ASSERT_TRUE(effect.has_value());
  const std::string plan = ask("EXPLAIN SELECT * FROM (FROM " + effect->table_image.text() +
                               ") WHERE t >= DATE '2026-07-02' AND t < DATE '2026-07-04'")
                               .text(0, 1);
  std::size_t scans = 0;
  for (std::size_t at = plan.find("DUCKLAKE_SCAN"); at != std::string::npos; at = plan.find("DUCKLAKE_SCAN", at + 1))
    ++scans;
  EXPECT_EQ(scans, 1) << plan;
}

TEST_F(WindowsOfATable, AnEmptySourceMakesAnEmptyTable) {
  const auto effect = publish_windows("SELECT DATE '2026-07-01' AS t LIMIT 0", "all");
  ASSERT_TRUE(effect && effect->changes);
  EXPECT_EQ(number("SELECT count(*) FROM " + table()), 0);
}

TEST_F(WindowsOfATable, TheLastMomentOfAWindowBelongsToItInEveryType) {
  int tables = 0;
  const std::map<std::string, std::string> last = {{"TIMESTAMP", "2026-07-01 23:59:59.999999"},
                                                   {"TIMESTAMP_S", "2026-07-01 23:59:59"},
                                                   {"TIMESTAMP_MS", "2026-07-01 23:59:59.999"},
                                                   {"TIMESTAMP_NS", "2026-07-01 23:59:59.999999999"},
                                                   {"TIMESTAMP WITH TIME ZONE", "2026-07-01 23:59:59.999999+00"},
                                                   {"DATE", "2026-07-01"}};
  for (const auto& [type, moment] : last) {
    model.target->name = "t" + std::to_string(++tables);
    const std::string rows = fmt::format(
        "SELECT CAST(t AS {}) AS t, v FROM (VALUES ('{}', 1), ('2026-07-02 00:00:00', 2)) v(t, v)", type, moment);
    ASSERT_TRUE(publish_windows(rows, "all")) << type;
    const auto effect = publish_windows("SELECT * FROM (" + rows + ") LIMIT 0", "2026-07-01/2026-07-02");
    ASSERT_TRUE(effect) << type;
    EXPECT_EQ(effect->counts.deleted, 1) << type;
    EXPECT_EQ(number("SELECT v FROM " + table()), 2) << type;
  }
}

TEST_F(WindowsOfATable, OnInstantsTheZonesMidnightCounts) {
  model.tz = "Europe/Paris";
  const std::string rows =
      "SELECT t::TIMESTAMPTZ AS t, v FROM (VALUES ('2026-07-01 21:59:59+00', 1), ('2026-07-01 22:00:00+00', 2)) v(t, "
      "v)";
  ASSERT_TRUE(publish_windows(rows, "all"));
  ASSERT_TRUE(publish_windows("SELECT * FROM (" + rows + ") LIMIT 0", "2026-07-01/2026-07-02"));
  EXPECT_EQ(number("SELECT v FROM " + table()), 2);
}

TEST_F(WindowsOfATable, WithAKeyRowsThatTheResultLacksStay) {
  model.key = {"id"};
  ASSERT_TRUE(publish_windows("SELECT 1 AS id, DATE '2026-07-01' AS t UNION ALL SELECT 2, DATE '2026-07-01'", "all"));
  ASSERT_TRUE(publish_windows("SELECT 2 AS id, DATE '2026-07-02' AS t", "2026-07-01/2026-07-03"));
  same_rows("(VALUES (1, DATE '2026-07-01'), (2, DATE '2026-07-02')) v(id, t)", table());
}

TEST_F(WindowsOfATable, ATableWithoutTheTimeColumnIsRefused) {
  model.strategy = Strategy::Replace;
  ASSERT_TRUE(publish("SELECT 1 AS id"));
  model.strategy = Strategy::IncrementalByTime;
  EXPECT_FALSE(publish_windows("SELECT 1 AS id, DATE '2026-07-01' AS t", "all"));
  EXPECT_TRUE(failed_with(Code::W0162));
}

// Windows of any shape written in any order, over a source that changes, leave what the source holds in each.
TEST_F(WindowsOfATable, AnyOrderOfWindowsEndsInTheWholeQuery) {
  std::mt19937 random(3);
  for (int round = 0; round < 2; ++round) {
    model.target->name = "order" + std::to_string(round);
    const auto source = [&](int generation) {
      return fmt::format(
          "SELECT TIMESTAMP '2026-07-01' + INTERVAL (i * 7) HOUR AS t, hash(i, {}) % 3 AS v FROM range(60) r(i) WHERE "
          "hash(i, {}) % 4 > 0",
          generation, generation);
    };
    ASSERT_TRUE(publish_windows(source(0), "all"));
    // Days 1 to 18, each in some write, two neighbours or apart.
    std::vector<int> days(18);
    for (int i = 0; i < 18; ++i) days[i] = i + 1;
    std::shuffle(days.begin(), days.end(), random);
    for (int i = 0; i < 18; i += 3) {
      std::string windows;
      std::string condition = "false";
      std::sort(days.begin() + i, days.begin() + i + 3);
      for (int k = i; k < i + 3; ++k) {
        windows += fmt::format("{}2026-07-{:02}/2026-07-{:02}", windows.empty() ? "" : ",", days[k], days[k] + 1);
        condition += fmt::format(" OR CAST(t AS DATE) = DATE '2026-07-{:02}'", days[k]);
      }
      ASSERT_TRUE(publish_windows("SELECT * FROM (" + source(1) + ") WHERE " + condition, windows));
    }
    same_rows("(" + source(1) + ")", table());
  }
}

}  // namespace
}  // namespace weir::publish
