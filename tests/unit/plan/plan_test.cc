#include "plan/plan.h"

#include "plan/fingerprint.h"
#include "support/loaded_project.h"

namespace weir::plan {
namespace {

// src (outside) → a → b; the world says both were built at version 5 from src of version 4, and nothing moved since.
class Planning : public testing::Test {
 protected:
  void SetUp() override {
    project_.model("a", "-- materialize ducklake://main/a\nSELECT * FROM src");
    project_.model("b", "-- materialize ducklake://main/b\nSELECT * FROM a");
    link();
    World::LakeView& lake = world_.lakes["main"];
    lake.newest = 9;
    lake.since = 1;
    lake.made["ducklake://main/main.src"] = 2;
    for (const std::string path : {"a", "b"}) {
      lake.made["ducklake://main/main." + path] = 2;
      state::SliceRecord record;
      record.asset = "ducklake://main/main." + path;
      record.status = "materialized";
      record.fingerprint = prints_.at(path);
      record.snapshot_id = 5;
      record.inputs = {{path == "a" ? "ducklake://main/main.src" : "ducklake://main/main.a", path == "a" ? "4" : "5"}};
      world_.slices[{record.asset, ""}] = record;
    }
  }
  void link() {
    graph_ = std::make_unique<Graph>(project_.graph());
    prints_ = fingerprints(*graph_);
  }
  Plan planned() {
    auto plan = make_plan(*graph_, {"a", "b"}, prints_, world_, options_);
    if (plan.has_value()) return std::move(*plan);
    ADD_FAILURE() << plan.error().front().message;
    return {};
  }
  // "fresh" or the reason to build.
  std::string reason_of(const std::string& path) {
    const Plan plan = planned();
    for (const Step& step : plan.steps)
      if (step.model->path == path) return step.action == Action::Fresh ? "fresh" : step.reason;
    return "not in the plan";
  }
  state::SliceRecord& record(const std::string& path) { return world_.slices.at({"ducklake://main/main." + path, ""}); }

  LoadedProject project_;
  std::unique_ptr<Graph> graph_;
  std::map<std::string, std::string> prints_;
  World world_;
  Options options_;
};

TEST_F(Planning, NothingChangedIsFreshWithItsReason) {
  const Plan plan = planned();
  ASSERT_EQ(plan.steps.size(), 2U);
  for (const Step& step : plan.steps) {
    EXPECT_EQ(step.action, Action::Fresh);
    EXPECT_EQ(step.reason, "nothing that it depends on has changed");
  }
  EXPECT_EQ(plan.steps[1].reads, (std::vector<std::size_t>{0}));
}

TEST_F(Planning, AChangeOfAnInputIsSaidWithItsVersionAndPassesOn) {
  world_.lakes["main"].changed["ducklake://main/main.src"] = 7;
  EXPECT_EQ(reason_of("a"), "ducklake://main/main.src changed in version 7");
  EXPECT_EQ(reason_of("b"), "a is built in this run");
}

TEST_F(Planning, AnInputThatChangedBeforeItWasReadIsNoReason) {
  world_.lakes["main"].changed["ducklake://main/main.src"] = 4;
  EXPECT_EQ(reason_of("a"), "fresh");
}

TEST_F(Planning, TheLedgerSaysWhyASliceIsBuilt) {
  record("a").status = "failed";
  EXPECT_EQ(reason_of("a"), "the last run failed");
  record("a").status = "running";
  EXPECT_EQ(reason_of("a"), "the last run did not finish");
  record("a").status = "materialized";
  record("a").fingerprint = "0123456789abcdef";
  EXPECT_EQ(reason_of("a"), "its definition changed");
  world_.slices.erase({"ducklake://main/main.a", ""});
  EXPECT_EQ(reason_of("a"), "first build");
}

TEST_F(Planning, AnInputThatIsGoneCountsAsChangedThoughNoVersionTellsSo) {
  world_.lakes["main"].made.erase("ducklake://main/main.src");
  EXPECT_EQ(reason_of("a"), "ducklake://main/main.src is gone");
}

TEST_F(Planning, RowsThatARestorePutBackAndNoRunVouchesForAreBuilt) {
  record("b").fingerprint.clear();
  record("b").rows = 3;
  EXPECT_EQ(reason_of("b"), "a restore put back rows that no run vouches for");
  record("b").rows = 0;
  EXPECT_EQ(reason_of("b"), "a restore put back a version without it");
}

TEST_F(Planning, ATableThatIsGoneMadeAnewOrWrittenByOthersIsBuilt) {
  world_.lakes["main"].foreign["ducklake://main/main.b"] = 6;
  EXPECT_EQ(reason_of("b"), "somebody else wrote to it in version 6");
  world_.lakes["main"].made["ducklake://main/main.b"] = 8;
  EXPECT_EQ(reason_of("b"), "its table was made anew in version 8");
  world_.lakes["main"].made.erase("ducklake://main/main.b");
  EXPECT_EQ(reason_of("b"), "its table is gone");
}

TEST_F(Planning, AnInputWhoseVersionIsNoLongerKnownIsAReason) {
  world_.lakes["main"].since = 5;
  EXPECT_EQ(reason_of("a"), "the version of ducklake://main/main.src is not known");
}

TEST_F(Planning, ForceBuildsWhatIsFresh) {
  options_.force = true;
  EXPECT_EQ(reason_of("a"), "asked for with --force");
}

TEST_F(Planning, WhatMayChangeAtAnyTimeIsNeverFresh) {
  project_.model("a", "-- materialize ducklake://main/a\nSELECT now() AS t");
  link();
  record("a").fingerprint = prints_.at("a");
  EXPECT_EQ(reason_of("a"), "its query calls a function whose result may change at any time");
  project_.model("a", "-- materialize ducklake://main/a append\nSELECT 1 AS t");
  link();
  EXPECT_EQ(reason_of("a"), "append always runs");
}

TEST_F(Planning, FilesCountByTheirIdentity) {
  project_.model("a", "-- materialize ducklake://main/a\nSELECT * FROM read_csv('in.csv')");
  link();
  record("a").fingerprint = prints_.at("a");
  EXPECT_EQ(reason_of("a"), "the identity of file in.csv is not known");
  world_.files["in.csv"] = "10-1-1";
  EXPECT_EQ(reason_of("a"), "it did not read file in.csv before");
  record("a").inputs = {{"file:in.csv", "10-1-1"}};
  EXPECT_EQ(reason_of("a"), "fresh");
  world_.files["in.csv"] = "11-1-1";
  EXPECT_EQ(reason_of("a"), "file in.csv changed");
}

TEST_F(Planning, ArgumentsCountAndUnknownOnesAreRefused) {
  project_.model("a", "-- materialize ducklake://main/a\n-- $n (integer) = 1\nSELECT $n AS n FROM src");
  link();
  record("a").fingerprint = prints_.at("a");
  record("a").arguments_hash = planned().steps[0].arguments_hash;
  EXPECT_EQ(reason_of("a"), "fresh");
  options_.arguments[""]["n"] = "2";
  EXPECT_EQ(reason_of("a"), "its arguments changed");
  options_.arguments["a"]["n"] = "1";
  EXPECT_EQ(reason_of("a"), "fresh") << "the model's own value wins";
  options_.arguments[""]["m"] = "1";
  EXPECT_EQ(make_plan(*graph_, {"a"}, prints_, world_, options_).error().front().code, Code::W8004);
}

TEST_F(Planning, ASkippedPartitionSaysWhy) {
  options_.partitions["a"] = {"", "2026-01-01 is before start=2026-07-01"};
  const Plan plan = planned();
  EXPECT_EQ(plan.steps[0].action, Action::Skip);
  EXPECT_EQ(plan.steps[0].reason, "2026-01-01 is before start=2026-07-01");
}

TEST_F(Planning, TheSamePlanComesFromTheSameWorld) {
  world_.lakes["main"].changed["ducklake://main/main.src"] = 7;
  const Plan first = planned();
  const Plan second = planned();
  ASSERT_EQ(first.steps.size(), second.steps.size());
  for (std::size_t i = 0; i < first.steps.size(); ++i) {
    EXPECT_EQ(first.steps[i].reason, second.steps[i].reason);
    EXPECT_EQ(first.steps[i].reads, second.steps[i].reads);
  }
}

}  // namespace
}  // namespace weir::plan
