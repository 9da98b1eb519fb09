// Which windows a run builds: the rule against its examples, and against rows that arrive late in random order.
#include "plan/windows.h"

#include <random>

#include "plan/fingerprint.h"
#include "support/loaded_project.h"

namespace weir::plan {
namespace {

class Windowed : public testing::Test {
 protected:
  void model(const std::string& options) {
    project_.model("daily",
                   "/* weir: {strategy: incremental_by_time, time_column: day" + options + "} */\nSELECT * FROM src");
    graph_ = std::make_unique<Graph>(project_.graph());
    prints_ = fingerprints(*graph_);
    World::LakeView& lake = world_.lakes["main"];
    lake.newest = 9;
    lake.made["ducklake://main/main.src"] = 2;
    lake.made["ducklake://main/main.daily"] = 2;
  }
  Step planned(std::string_view at) {
    options_.at = *calendar::parse_instant(at);
    auto plan = make_plan(*graph_, {"daily"}, prints_, world_, options_);
    if (plan.has_value() && plan->steps.size() == 1) return plan->steps.front();
    ADD_FAILURE() << "no plan";
    return {};
  }
  // The slice that is built, or "fresh".
  std::string built(std::string_view at) {
    const Step step = planned(at);
    return step.action == Action::Fresh ? "fresh" : step.slice;
  }
  void record(const Step& step, const std::string& status = "materialized") {
    state::SliceRecord record;
    record.asset = step.model->target->key();
    record.slice = step.slice;
    record.status = status;
    record.fingerprint = step.fingerprint;
    record.snapshot_id = 5;
    record.updated = "2026-" + std::to_string(1000 + ++written_);
    record.inputs = {{"ducklake://main/main.src", "4"}, {std::string(kTimeInput), step.at}};
    world_.slices[{record.asset, record.slice}] = record;
  }
  // What is built, which succeeds.
  std::string run(std::string_view at) {
    const Step step = planned(at);
    if (step.action == Action::Fresh) return "fresh";
    record(step);
    return step.slice;
  }
  void source_changes() { world_.lakes["main"].changed["ducklake://main/main.src"] = 7; }

  LoadedProject project_;
  std::unique_ptr<Graph> graph_;
  std::map<std::string, std::string> prints_;
  World world_;
  Options options_;
  int written_ = 0;
};

TEST_F(Windowed, AFirstBuildTakesWhatBackfillSays) {
  model("");
  EXPECT_EQ(built("2026-07-05T12:00Z"), "all");
  model(", backfill: none");
  EXPECT_EQ(built("2026-07-05T12:00Z"), "2026-07-04/2026-07-05");
  model(", backfill: 2026-06-30");
  EXPECT_EQ(built("2026-07-05T12:00Z"), "2026-06-30/2026-07-05");
  model(", backfill: 2027-01-01");
  const Step step = planned("2026-07-05T12:00Z");
  EXPECT_EQ(step.action, Action::Skip);
  EXPECT_EQ(step.reason, "no window of it is over yet");
}

TEST_F(Windowed, AWindowIsBuiltOnceItIsOver) {
  model("");
  EXPECT_EQ(run("2026-07-05T12:00Z"), "all");
  EXPECT_EQ(run("2026-07-05T23:59Z"), "fresh");
  // The fifth was computed before it was over.
  source_changes();
  EXPECT_EQ(run("2026-07-06T00:00Z"), "2026-07-05/2026-07-06");
  EXPECT_EQ(run("2026-07-06T12:00Z"), "fresh");
  EXPECT_EQ(run("2026-07-09T12:00Z"), "2026-07-06/2026-07-09");
}

TEST_F(Windowed, SettlingAloneNeedsAChangedInput) {
  model(", lookback: 2d");
  run("2026-07-05T12:00Z");
  EXPECT_EQ(built("2026-07-06T12:00Z"), "fresh");
  source_changes();
  EXPECT_EQ(run("2026-07-06T12:00Z"), "2026-07-03/2026-07-06");
}

TEST_F(Windowed, WhatFailedIsMissing) {
  model("");
  run("2026-07-05T00:00Z");
  source_changes();
  record(planned("2026-07-06T00:00Z"), "failed");
  EXPECT_EQ(run("2026-07-07T00:00Z"), "2026-07-05/2026-07-07");
}

TEST_F(Windowed, WhatAnEarlierDefinitionWroteIsBuiltAgainWhereThatIsAskedFor) {
  model("");
  run("2026-07-05T00:00Z");
  prints_["daily"] = "another";
  options_.ranges["daily"] = {.from = "2026-07-02", .to = "2026-07-03"};
  EXPECT_EQ(planned("2026-07-05T00:00Z").reason, "its windows are there as an earlier definition wrote them");
  options_.ranges["daily"].outdated = true;
  EXPECT_EQ(built("2026-07-05T00:00Z"), "2026-07-02/2026-07-04");
}

TEST_F(Windowed, AnotherDefinitionOrALostTableCoversNothing) {
  model("");
  run("2026-07-05T00:00Z");
  world_.lakes["main"].made["ducklake://main/main.daily"] = 6;
  EXPECT_EQ(built("2026-07-05T00:00Z"), "all");
  world_.lakes["main"].made["ducklake://main/main.daily"] = 2;
  prints_["daily"] = "another";
  EXPECT_EQ(built("2026-07-05T00:00Z"), "all");
}

TEST_F(Windowed, ARangeFillsGapsAndARestatementTakesAll) {
  model(", backfill: none");
  run("2026-07-03T00:00Z");
  options_.ranges["daily"] = {.from = "2026-07-01", .to = "2026-07-09", .all = false};
  EXPECT_EQ(built("2026-07-05T12:00Z"), "2026-07-01/2026-07-02,2026-07-03/2026-07-05");
  options_.ranges["daily"].all = true;
  EXPECT_EQ(built("2026-07-05T12:00Z"), "2026-07-01/2026-07-05");
}

TEST_F(Windowed, ForceTakesTheNewestWindowAgain) {
  model(", lookback: 1d");
  run("2026-07-05T00:00Z");
  run("2026-07-09T00:00Z");
  source_changes();
  run("2026-07-09T12:00Z");
  options_.force = true;
  EXPECT_EQ(built("2026-07-20T00:00Z"), "2026-07-08/2026-07-20");
  run("2026-07-20T00:00Z");
  run("2026-07-21T12:00Z");
  EXPECT_EQ(built("2026-07-21T12:00Z"), "2026-07-20/2026-07-21");
}

TEST_F(Windowed, GapsAreWhatIsOverAndNotWritten) {
  model(", backfill: none");
  run("2026-07-03T00:00Z");
  options_.ranges["daily"] = {.from = "2026-07-05", .to = "2026-07-05", .all = false};
  run("2026-07-08T12:00Z");
  const Model& model = graph_->models().front();
  const auto coverage = *coverage_of(model, prints_.at("daily"), world_);
  EXPECT_EQ(coverage.written.name(), "2026-07-02/2026-07-03,2026-07-05/2026-07-06");
  EXPECT_EQ(gaps_of(model, coverage, options_.at)->name(), "2026-07-03/2026-07-05,2026-07-06/2026-07-08");
}

// Rows arrive up to the lookback after the end of their window, in any order; runs come at random times, some fail.
// What the table holds once all has settled is what one computation over everything gives.
TEST_F(Windowed, LateRowsWithinTheLookbackAreAllThereInTheEnd) {
  std::mt19937 random(5);
  using std::chrono::hours;
  for (int round = 0; round < 20; ++round) {
    model(round % 2 == 0 ? ", interval: 6h, lookback: 2d, tz: America/New_York" : ", interval: 1d, lookback: 30h");
    world_.slices.clear();
    const auto windows = *calendar::WindowCalendar::make(round % 2 == 0 ? "6h" : "1d", round % 2 == 0 ? "2d" : "30h",
                                                         round % 2 == 0 ? "America/New_York" : "");
    const int lookback = round % 2 == 0 ? 48 : 30;
    const calendar::Instant begin = *calendar::parse_instant("2026-10-25");
    struct Row {
      calendar::Wall time;
      calendar::Instant arrives;
      bool is_in_table = false;
    };
    std::vector<Row> rows(200);
    for (Row& row : rows) {
      const calendar::Instant happens = begin + hours(random() % 600);
      row.time = windows.wall_of(happens);
      const auto over = windows.instant_of(windows.next(windows.floor(row.time)));
      row.arrives =
          happens + hours(random() % (std::chrono::duration_cast<hours>(over - happens).count() + lookback - 1));
    }
    calendar::Instant now = begin + hours(random() % 100);
    const calendar::Instant end = begin + hours(800);
    while (true) {
      source_changes();
      const Step step = planned(calendar::format_instant(now));
      const bool fails = now < end && random() % 4 == 0;
      if (step.action == Action::Build) {
        record(step, fails ? "failed" : "materialized");
        const auto slice = *calendar::Windows::parse(step.slice);
        for (Row& row : rows)
          for (const calendar::Window& part : slice.parts())
            if (!fails && row.time >= part.begin && row.time < part.end) row.is_in_table = row.arrives <= now;
      }
      if (now >= end) break;
      now = std::min(end, now + hours(1 + random() % 120));
    }
    for (const Row& row : rows) EXPECT_TRUE(row.is_in_table) << round << " " << calendar::timestamp_text(row.time);
  }
}

}  // namespace
}  // namespace weir::plan
