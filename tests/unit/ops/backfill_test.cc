// A backfill, by whatever route, leaves the rows that runs of each partition alone leave.
#include "ops/backfill.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "io/files.h"
#include "ops/data.h"
#include "support/test_lake.h"

namespace weir::ops {
namespace {

/// Partitions of one kind, and times (or, of a dynamic kind, values) whose rows lie in them.
struct Calendar {
  std::string name;
  std::string annotation;
  std::string condition;
  std::vector<std::string> partitions;
  std::vector<std::string> values;
};

const Calendar kDaily{"daily",
                      "daily",
                      "wm_partition(ts) = {partition}",
                      {"2024-02-28", "2024-02-29", "2024-03-01", "2024-03-02"},
                      // The second day has no row.
                      {"2024-02-28 23:59", "2024-03-01 00:00", "2024-03-01 12:30", "2024-03-02 08:00"}};
const Calendar kOwnFormat{"own_format",
                          "daily format=%d.%m.%Y",
                          "wm_partition(ts) = {partition}",
                          {"28.02.2024", "29.02.2024", "01.03.2024"},
                          {"2024-02-28 23:59", "2024-02-29 00:00", "2024-03-01 12:30"}};
// A year of 53 weeks.
const Calendar kWeekly{"weekly",
                       "weekly",
                       "wm_partition(ts) = {partition}",
                       {"2020-W52", "2020-W53", "2021-W01"},
                       {"2020-12-27 23:59", "2020-12-28 00:00", "2021-01-03 12:30", "2021-01-04 00:00"}};
// The clocks go back: the second hour is two. Times are UTC.
const Calendar kZonedHours{
    "zoned_hours",
    "hourly tz=America/Los_Angeles",
    "weir_partition(ts) = {partition}",
    {"2024-11-03T00", "2024-11-03T01", "2024-11-03T02", "2024-11-03T03"},
    {"2024-11-03 07:59:00+00", "2024-11-03 08:00:00+00", "2024-11-03 09:30:00+00", "2024-11-03 10:00:00+00"}};
const Calendar kDynamic{
    "dynamic", "dynamic key=g", "ts = {partition}", {"north", "it's", "south"}, {"north", "it's", "elsewhere"}};

class Backfill : public ::testing::TestWithParam<Calendar> {
 protected:
  Backfill() {
    write("weir.yaml", "name: shop\nthreads: 1\nlakes:\n  main: {catalog: lake/main.sqlite, data: lake/main}\n");
    const std::string type = GetParam().name == "dynamic"       ? "VARCHAR"
                             : GetParam().name == "zoned_hours" ? "TIMESTAMPTZ"
                                                                : "TIMESTAMP";
    for (const std::string strategy : {"", " key=id", " append"}) {
      const std::string name = strategy.empty() ? "replaced" : strategy == " append" ? "appended" : "merged";
      for (const std::string route : {"alone", "ordered", "beside", "at_once"})
        write("models/" + name + "_" + route + ".sql",
              "-- materialize ducklake://main/" + name + "_" + route + strategy + "\n-- partitioned " +
                  GetParam().annotation +
                  "\n-- data_test not_null id\n"
                  "SELECT id, max(note) AS note, sum(amount) AS amount FROM read_csv('rows.csv', types = {'amount': "
                  "'INTEGER', 'note': 'VARCHAR', 'ts': '" +
                  type + "'}) WHERE " + GetParam().condition + " GROUP BY id\n" +
                  (route == "beside" ? "EXCEPT ALL SELECT NULL, NULL, NULL\n" : ""));
    }
  }
  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(io::write_file(folder_.path() + "/" + name, text).has_value());
  }
  /// Some rows have no time.
  void write_rows(std::mt19937& random) const {
    const auto number = [&random](std::size_t below) { return random() % below; };
    std::string text = "id,note,amount,ts\n";
    for (int i = 0; i < 40; ++i) {
      text += std::to_string(number(9)) + "," + (number(3) == 0 ? "" : "n" + std::to_string(number(4))) + "," +
              (number(4) == 0 ? "" : std::to_string(number(100))) + "," +
              (number(8) == 0 ? "" : GetParam().values[number(GetParam().values.size())]) + "\n";
    }
    // A NULL in each aggregate, whatever chance says.
    write("rows.csv", text + "10,,," + GetParam().values.front() + "\n");
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
  static BackfillRequest whole(const std::string& model) {
    BackfillRequest request;
    request.model = model;
    const auto& partitions = GetParam().partitions;
    if (GetParam().name == "dynamic") {
      request.partitions = partitions;
    } else {
      request.from = partitions.front();
      request.to = partitions.back();
    }
    return request;
  }
  /// How many partitions were built.
  std::size_t backfilled(const std::string& model, bool all, int jobs = 0) const {
    Workspace workspace = open();
    BackfillRequest request = whole(model);
    request.all = all;
    request.run.options.jobs = jobs;
    const auto resolved = run_of(workspace, request);
    if (!resolved) {
      ADD_FAILURE() << resolved.error().front().message;
      return 0;
    }
    const run::RunReport report = ran(*resolved, workspace);
    EXPECT_EQ(report.status, "done") << model;
    return report.steps.size();
  }
  void run_alone(const std::string& model) const {
    for (const std::string& partition : GetParam().partitions) {
      Workspace workspace = open();
      RunRequest request;
      request.select = {model};
      request.partition = partition;
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
    BackfillRequest backfill = whole(model);
    backfill.all = true;
    const auto request = run_of(workspace, backfill);
    if (!request) return request.error().front().message;
    const auto dry = dry_run(workspace, *request);
    if (!dry) return dry.error().front().message;
    const auto routes = routes_of(workspace, *dry);
    return routes ? std::string(name_of(routes->front().way)) : routes.error().front().message;
  }

  test::TemporaryFolder folder_;
};

TEST_P(Backfill, ByAnyRouteLeavesTheRowsOfEachPartitionAlone) {
  const char* given = std::getenv("WEIR_TEST_SEED");
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::atoi(given)) : std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed) + " (WEIR_TEST_SEED repeats it)");
  std::mt19937 random(seed);
  write_rows(random);
  EXPECT_EQ(way_of("replaced_at_once"), "one query");
  EXPECT_EQ(way_of("replaced_beside"), "side by side");
  const std::size_t all = GetParam().partitions.size();
  // Built again, and appended, by days alone: the kinds differ in which rows belong to a partition, not in writing.
  const bool is_daily = GetParam().name == "daily";
  for (const bool again : is_daily ? std::vector<bool>{false, true} : std::vector<bool>{false}) {
    if (again) write_rows(random);
    for (const std::string name : {"replaced", "merged", "appended"}) {
      if (name == "appended" && (again || !is_daily)) continue;
      run_alone(name + "_alone");
      EXPECT_EQ(backfilled(name + "_ordered", again, 1), all);
      EXPECT_EQ(backfilled(name + "_beside", again), all);
      EXPECT_EQ(backfilled(name + "_at_once", again), all);
      const std::string expected = rows(name + "_alone");
      EXPECT_NE(expected.find("NULL"), std::string::npos);
      for (const std::string route : {"_ordered", "_beside", "_at_once"})
        EXPECT_EQ(rows(name + route), expected) << name << route << again;
    }
  }
  EXPECT_EQ(backfilled("replaced_at_once", false), 1U) << "nothing is missing: one line says so";
}

INSTANTIATE_TEST_SUITE_P(Calendars, Backfill, testing::Values(kDaily, kOwnFormat, kWeekly, kZonedHours, kDynamic),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace weir::ops
