// A backfill, by whatever route, leaves the rows that runs of each partition alone leave.
#include "ops/backfill.h"

#include <gtest/gtest.h>

#include <random>

#include "io/files.h"
#include "ops/data.h"
#include "support/test_lake.h"

namespace weir::ops {
namespace {

const std::vector<std::string> kDays{"2026-02-28", "2026-03-01", "2026-03-02", "2026-03-03"};

class Backfill : public ::testing::Test {
 protected:
  Backfill() {
    write("weir.yaml", "name: shop\nthreads: 1\nlakes:\n  main: {catalog: lake/main.sqlite, data: lake/main}\n");
    for (const std::string strategy : {"", " key=id", " append"}) {
      const std::string name = strategy.empty() ? "replaced" : strategy == " append" ? "appended" : "merged";
      for (const std::string route : {"alone", "ordered", "beside", "at_once"})
        write("models/" + name + "_" + route + ".sql",
              "-- materialize ducklake://main/" + name + "_" + route + strategy + "\n-- partitioned daily\n" +
                  "-- data_test not_null id\n"
                  "SELECT id, max(note) AS note, sum(amount) AS amount FROM read_csv('rows.csv', types = {'amount': "
                  "'INTEGER', 'note': 'VARCHAR'}) WHERE wm_partition(ts) = {partition} GROUP BY id\n" +
                  (route == "beside" ? "EXCEPT ALL SELECT NULL, NULL, NULL\n" : ""));
    }
  }
  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(io::write_file(folder_.path() + "/" + name, text).has_value());
  }
  /// The second day has no row; some rows have no time.
  void write_rows(std::mt19937& random) const {
    const auto number = [&random](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
    std::string text = "id,note,amount,ts\n";
    for (int i = 0; i < 40; ++i) {
      const std::string day = kDays[std::vector<int>{0, 2, 3}[number(3)]];
      text += std::to_string(number(9)) + "," + (number(3) == 0 ? "" : "n" + std::to_string(number(4))) + "," +
              (number(4) == 0 ? "" : std::to_string(number(100))) + "," +
              (number(8) == 0 ? "" : day + " 0" + std::to_string(number(9)) + ":00:00") + "\n";
    }
    write("rows.csv", text);
  }
  Workspace open() const { return std::move(*Workspace::open(folder_.path())); }

  run::RunReport ran(RunRequest request, Workspace& workspace) const {
    run::Listener quiet;
    std::atomic<bool> stop{false};
    auto outcome = ops::run(workspace, request, quiet, stop);
    if (outcome) return std::move(outcome->report);
    ADD_FAILURE() << outcome.error().front().message;
    return {};
  }
  /// How many partitions were built.
  std::size_t backfilled(const std::string& model, bool all, int jobs = 0) const {
    Workspace workspace = open();
    BackfillRequest request{.run = {}, .model = model, .from = kDays.front(), .to = kDays.back(), .all = all};
    request.run.options.jobs = jobs;
    const auto resolved = run_of(workspace, request);
    EXPECT_TRUE(resolved.has_value());
    const run::RunReport report = ran(*resolved, workspace);
    EXPECT_EQ(report.status, "done") << model;
    return report.steps.size();
  }
  void run_alone(const std::string& model) const {
    for (const std::string& day : kDays) {
      Workspace workspace = open();
      RunRequest request;
      request.select = {model};
      request.partition = day;
      request.options.force = true;
      EXPECT_EQ(ran(request, workspace).status, "done");
    }
  }
  std::string rows(const std::string& table) const {
    Workspace workspace = open();
    const auto result = query(workspace, {.sql = "SELECT COLUMNS(*)::VARCHAR FROM " + table + " ORDER BY ALL"});
    if (!result) {
      ADD_FAILURE() << result.error().front().message;
      return {};
    }
    std::string text;
    for (const auto& row : result->rows) {
      for (const auto& value : row) text += value.value_or("NULL") + "|";
      text += "\n";
    }
    return text;
  }
  std::string way_of(const std::string& model) const {
    Workspace workspace = open();
    const auto request =
        run_of(workspace, {.run = {}, .model = model, .from = kDays.front(), .to = kDays.back(), .all = true});
    const auto dry = dry_run(workspace, *request);
    const auto routes = routes_of(workspace, *dry);
    return routes ? std::string(name_of(routes->front().way)) : routes.error().front().message;
  }

  test::TemporaryFolder folder_;
};

TEST_F(Backfill, ByAnyRouteLeavesTheRowsOfEachPartitionAlone) {
  std::mt19937 random(7);
  write_rows(random);
  EXPECT_EQ(way_of("replaced_at_once"), "one query");
  EXPECT_EQ(way_of("replaced_beside"), "side by side");
  for (const bool again : {false, true}) {
    if (again) write_rows(random);
    for (const std::string name : {"replaced", "merged", "appended"}) {
      if (again && name == "appended") continue;
      run_alone(name + "_alone");
      EXPECT_EQ(backfilled(name + "_ordered", again, 1), kDays.size());
      EXPECT_EQ(backfilled(name + "_beside", again), kDays.size());
      EXPECT_EQ(backfilled(name + "_at_once", again), kDays.size());
      const std::string expected = rows(name + "_alone");
      EXPECT_NE(expected.find("NULL"), std::string::npos);
      for (const std::string route : {"_ordered", "_beside", "_at_once"})
        EXPECT_EQ(rows(name + route), expected) << name << route << again;
    }
  }
  EXPECT_EQ(backfilled("replaced_at_once", false), 1U) << "nothing is missing: one line says so";
}

}  // namespace
}  // namespace weir::ops
