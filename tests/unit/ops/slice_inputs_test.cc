// What a slice depends on, query by query: where nothing is proven any row may count.
#include "ops/slice_inputs.h"

#include "support/loaded_project.h"
#include "support/test_lake.h"

namespace weir::ops {
namespace {

class SliceInputsTest : public testing::Test {
 protected:
  SliceInputsTest() {
    duck::Connection connection = lake_.connect();
    const duck::Sql columns("(day DATE, ts TIMESTAMP, tz TIMESTAMP WITH TIME ZONE, v INTEGER, _wm_partition VARCHAR)");
    for (const char* name : {"src", "other"})
      lake_.run(connection, {"CREATE TABLE {} {}", lake_.main().writable("main", name), columns});
  }
  // "src.day", by input; "+bounds" where windows computed together depend on one another.
  std::string proven(const std::string& header, const std::string& query) {
    project_.model("m", "/* weir: {" + header + "} */\n" + query);
    const Graph graph = project_.graph();
    const auto inputs = slice_inputs(lake_.lakes(), graph.models().front());
    if (!inputs) return "failed";
    std::string text;
    for (const auto& [key, column] : inputs->columns)
      text += key.substr(key.rfind('.') + 1) + "." + column.column + " ";
    return text + (inputs->names_bounds ? "+bounds" : "");
  }
  std::string windows(const std::string& query, const std::string& more = "") {
    return proven("strategy: incremental_by_time, time_column: day" + more, query);
  }
  std::string days(const std::string& query) {
    project_.model("m", "-- materialize ducklake://main/m\n-- partitioned daily tz=Europe/Paris\n" + query);
    const Graph graph = project_.graph();
    const auto inputs = slice_inputs(lake_.lakes(), graph.models().front());
    std::string text;
    if (!inputs) return "failed";
    for (const auto& [key, column] : inputs->columns)
      text += key.substr(key.rfind('.') + 1) + "." + column.column + " ";
    return text;
  }

  test::TestLake lake_;
  LoadedProject project_;
};

TEST_F(SliceInputsTest, AWindowDependsOnTheRowsToWhichItsBordersAreMoved) {
  EXPECT_EQ(windows("SELECT day, sum(v) AS v FROM src GROUP BY day"), "src.day ");
  EXPECT_EQ(windows("SELECT CAST(ts AS DATE) AS day, count(*) AS n FROM src GROUP BY 1"), "src.ts ");
  EXPECT_EQ(windows("SELECT date_trunc('day', ts) AS day, v FROM src"), "src.ts ");
  EXPECT_EQ(windows("SELECT tz AS day, v FROM src", ", tz: Europe/Paris"), "src.tz ");
  EXPECT_EQ(windows("SELECT day, sum(v) OVER (PARTITION BY day) AS v FROM src"), "src.day ");
  EXPECT_EQ(windows("SELECT day, v FROM src UNION ALL SELECT day, 0 FROM other"), "other.day src.day ");
  EXPECT_EQ(windows("SELECT a.day, b.v FROM src AS a JOIN other AS b USING (v)"), "src.day ");
  EXPECT_EQ(windows("SELECT ts AS day, v FROM src WHERE ts >= {window_start} AND ts < {window_end}"), "src.ts +bounds");
}

TEST_F(SliceInputsTest, WhatReadsAcrossWindowsDependsOnEverything) {
  EXPECT_EQ(windows("SELECT day, sum(v) OVER (ORDER BY day) AS v FROM src"), "");
  EXPECT_EQ(windows("SELECT day, v FROM src ORDER BY v LIMIT 5"), "");
  EXPECT_EQ(windows("SELECT a.day, b.v FROM src AS a JOIN src AS b USING (v)"), "");
  EXPECT_EQ(windows("SELECT day, v FROM src WHERE v < (SELECT max(v) FROM src)"), "");
  EXPECT_EQ(windows("SELECT day + 1 AS day, v FROM src"), "");
  EXPECT_EQ(windows("SELECT CAST(tz AS DATE) AS day, v FROM src"), "");
  EXPECT_EQ(windows("SELECT day, v FROM src WHERE day >= DATE '2020-01-01' OR v IN (SELECT v FROM src)"), "");
}

TEST_F(SliceInputsTest, APartitionDependsOnThoseThatItsTokenIsComparedWith) {
  EXPECT_EQ(days("SELECT v FROM src WHERE _wm_partition = {partition}"), "src._wm_partition ");
  EXPECT_EQ(days("SELECT v FROM src WHERE wm_partition(ts) = {partition}"), "src.ts ");
  EXPECT_EQ(days("SELECT v FROM src WHERE day = DATE '{partition}'"), "src.day ");
  EXPECT_EQ(days("SELECT a.v FROM src AS a JOIN other AS b USING (v) WHERE a._wm_partition = {partition}"),
            "src._wm_partition ");
  EXPECT_EQ(days("SELECT v FROM src WHERE _wm_partition <= {partition}"), "");
  EXPECT_EQ(days("SELECT v FROM src WHERE _wm_partition = {partition} OR v = 1"), "");
  EXPECT_EQ(days("SELECT count(*) AS n FROM src UNION ALL SELECT v FROM src WHERE _wm_partition = {partition}"), "");
}

}  // namespace
}  // namespace weir::ops
