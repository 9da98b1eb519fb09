// What the writes of a run start, case by case.
#include "cascade/decide.h"

#include <gtest/gtest.h>

#include "cascade/codec.h"
#include "state/store.h"

namespace weir::cascade {
namespace {

const calendar::Partitioning kDaily{.format = "%Y-%m-%d"};

Feed feed(const std::string& from, bool is_partitioned = false, std::int64_t debounce = 0) {
  return {.from = from, .is_partitioned = is_partitioned, .debounce = debounce};
}

/// A state store in memory, moved by decisions.
struct World {
  Edges edges;
  state::CascadeView view;
  std::map<std::string, state::DispatchRecord> events;  // by "subscriber[slice]", of the last run
  std::string now = "2026-07-05T10:00:00.000000Z";
  int runs = 0;

  /// A run writes these ("m" or "m@partition"); `unchanged` ones begin with `=`.
  void run(const std::vector<std::string>& written, const std::vector<std::string>& selected = {},
           std::map<std::string, Ended> ended = {}) {
    view.run = {.run = "r" + std::to_string(++runs), .environment = "prod"};
    view.run.selection_json = to_json(selected);
    view.run.carried_json = to_json(Carried{.of = {}, .value = {}, .at = *calendar::parse_instant(now)});
    view.steps.clear();
    for (std::string name : written) {
      state::StepRecord step{.run = view.run.run, .status = "materialized"};
      if (name.starts_with('=')) {
        step.status = "unchanged";
        name.erase(0, 1);
      }
      const auto at = name.find('@');
      step.model = name.substr(0, at);
      if (at != std::string::npos) step.slice = name.substr(at + 1);
      view.steps.push_back(step);
    }
    const state::CascadeChange change =
        decide({.edges = edges, .now = *calendar::parse_instant(now), .ended = std::move(ended)}, view);
    take(change);
  }

  void take(const state::CascadeChange& change) {
    events.clear();
    for (const state::DispatchRecord& one : change.dispatches)
      events[one.subscriber + "[" + one.slice + "]" + (one.run == view.run.run ? "" : one.run)] = one;
    const auto same = [](const state::ArrivalRecord& a, const state::ArrivalRecord& b) {
      return a.subscriber == b.subscriber && a.slot == b.slot && a.input == b.input;
    };
    const auto forget = [&](const state::ArrivalRecord& gone) {
      std::erase_if(view.arrivals, [&](const auto& one) { return same(one, gone); });
    };
    for (const auto& one : change.used) forget(one);
    for (const auto& one : change.arrived) {
      forget(one);
      view.arrivals.push_back(one);
    }
  }

  const state::DispatchRecord& event(const std::string& key) {
    static const state::DispatchRecord none;
    const auto found = events.find(key);
    EXPECT_NE(found, events.end()) << key;
    return found == events.end() ? none : found->second;
  }
};

Subscriber subscriber(const std::string& path, std::vector<Feed> feeds) {
  return {.path = path, .feeds = std::move(feeds)};
}

TEST(Decide, OneDispatchOfARunAndSubscriberHoweverManyOfItsInputsWereWritten) {
  World world;
  world.edges.subscribers = {subscriber("c", {feed("a"), feed("b")})};
  world.run({"a", "b"});
  ASSERT_EQ(world.events.size(), 1U);
  EXPECT_EQ(world.event("c[]").outcome, "dispatched");
  EXPECT_EQ(world.event("c[]").state, "pending");
  EXPECT_EQ(world.event("c[]").reason, "a was written; b was written");
  EXPECT_EQ(names_from(world.event("c[]").inputs_json), (std::vector<std::string>{"a", "b"}));
}

TEST(Decide, WhatIsSelectedIsNotStartedAndAnUnchangedInputStartsAsAWrittenOneDoes) {
  World world;
  world.edges.subscribers = {subscriber("b", {feed("a")}), subscriber("c", {feed("a")}), subscriber("d", {feed("x")})};
  world.run({"=a"}, {"a", "b"});
  ASSERT_EQ(world.events.size(), 1U);
  EXPECT_EQ(world.event("c[]").outcome, "dispatched");
  EXPECT_EQ(world.event("c[]").reason, "a was computed again, unchanged");
}

TEST(Decide, ThePartitionOfTheProducerGoesOn) {
  World world;
  calendar::Partitioning monthly{.kind = calendar::PartitionKind::Monthly, .format = "%Y-%m"};
  calendar::Partitioning hourly{.kind = calendar::PartitionKind::Hourly, .format = "%Y-%m-%dT%H"};
  world.edges.partitionings = {{"a", kDaily}};
  world.edges.subscribers = {subscriber("same", {feed("a", true)}), subscriber("coarse", {feed("a", true)}),
                             subscriber("fine", {feed("a", true)}), subscriber("whole", {feed("a", true)})};
  world.edges.subscribers[0].partitioning = kDaily;
  world.edges.subscribers[1].partitioning = monthly;
  world.edges.subscribers[2].partitioning = hourly;
  world.run({"a@2026-07-04"});
  EXPECT_EQ(world.event("same[2026-07-04]").outcome, "dispatched");
  EXPECT_EQ(world.event("coarse[2026-07]").outcome, "dispatched");
  EXPECT_EQ(world.event("fine[]").outcome, "skipped");
  EXPECT_EQ(world.event("fine[]").reason, "no hourly partition contains the daily 2026-07-04");
  EXPECT_EQ(world.event("whole[]").outcome, "dispatched");
}

// A chain of four: each hop adds itself, and carries the partition on, also through a table without partitions.
TEST(Decide, AChainGrowsByOneModelAndKeepsItsPartition) {
  World world;
  world.edges.partitionings = {{"a", kDaily}, {"c", kDaily}};
  world.edges.subscribers = {subscriber("b", {feed("a", true)}), subscriber("c", {feed("b")}),
                             subscriber("d", {feed("c", true)})};
  world.edges.subscribers[1].partitioning = kDaily;
  world.edges.subscribers[2].partitioning = kDaily;
  world.run({"a@2026-07-01"});
  EXPECT_EQ(names_from(world.event("b[]").chain_json), (std::vector<std::string>{"a"}));
  world.view.served = {world.event("b[]")};
  world.run({"b"});
  EXPECT_EQ(world.event("b[]r1").state, "done");
  EXPECT_EQ(names_from(world.event("c[2026-07-01]").chain_json), (std::vector<std::string>{"a", "b"}));
  world.view.served = {world.event("c[2026-07-01]")};
  world.run({"c@2026-07-01"});
  EXPECT_EQ(names_from(world.event("d[2026-07-01]").chain_json), (std::vector<std::string>{"a", "b", "c"}));
}

TEST(Decide, ACycleAndAnOwnWriteAreSkippedAndOtherBranchesRun) {
  World world;
  world.edges.subscribers = {subscriber("a", {feed("b")}), subscriber("b", {feed("a")}), subscriber("c", {feed("b")})};
  world.edges.subscribers[1].feeds_itself = true;
  world.run({"a"});
  world.view.served = {world.event("b[]")};
  world.run({"b"});
  EXPECT_EQ(world.event("a[]").outcome, "skipped");
  EXPECT_EQ(world.event("a[]").reason, "a cycle: it led to the write of b itself (a → b)");
  EXPECT_EQ(world.event("b[]").reason, "it would be started by its own write");
  EXPECT_EQ(world.event("c[]").outcome, "dispatched");
}

TEST(Decide, AJoinRunsOnceForThePartitionThatAllInputsShare) {
  World world;
  world.edges.partitionings = {{"a", kDaily}, {"b", kDaily}};
  world.edges.subscribers = {subscriber("c", {feed("a", true), feed("b", true)})};
  world.edges.subscribers[0].partitioning = kDaily;
  world.edges.subscribers[0].joins = true;
  world.run({"a@2026-07-01"});
  EXPECT_EQ(world.event("c[2026-07-01]").outcome, "waiting");
  EXPECT_EQ(world.event("c[2026-07-01]").reason, "1 of 2 inputs arrived; it waits for b");
  world.run({"b@2026-07-02"});
  EXPECT_EQ(world.event("c[2026-07-02]").outcome, "waiting");
  world.run({"b@2026-07-01"});
  EXPECT_EQ(world.event("c[2026-07-01]").outcome, "dispatched");
  EXPECT_EQ(world.event("c[2026-07-01]").reason, "all 2 inputs arrived");
  world.run({"a@2026-07-01"});
  EXPECT_EQ(world.event("c[2026-07-01]").outcome, "waiting");
  EXPECT_EQ(world.event("c[2026-07-01]").reason, "1 of 2 inputs arrived; it waits for b");
}

TEST(Decide, AnInputWithoutPartitionsJoinsEverySlotAndIsUsedUp) {
  World world;
  world.edges.partitionings = {{"a", kDaily}};
  world.edges.subscribers = {subscriber("c", {feed("a", true), feed("dim")})};
  world.edges.subscribers[0].partitioning = kDaily;
  world.edges.subscribers[0].joins = true;
  world.run({"=dim"});
  EXPECT_EQ(world.event("c[2026-07-05]").outcome, "waiting") << "the day it is";
  world.view.arrivals.clear();
  world.run({"a@2026-07-01"});
  world.run({"a@2026-07-02"});
  EXPECT_EQ(world.event("c[2026-07-02]").reason, "1 of 2 inputs arrived; it waits for dim");
  world.run({"=dim"});
  EXPECT_EQ(world.event("c[2026-07-01]").outcome, "dispatched");
  EXPECT_EQ(world.event("c[2026-07-02]").outcome, "dispatched");
  EXPECT_TRUE(world.view.arrivals.empty());
  world.run({"a@2026-07-03"});
  EXPECT_EQ(world.event("c[2026-07-03]").outcome, "waiting");
}

TEST(Decide, AnArrivalThatTheSubscriberHasReadSinceDoesNotCount) {
  World world;
  world.edges.subscribers = {subscriber("c", {feed("a"), feed("b")})};
  world.edges.subscribers[0].joins = true;
  world.run({"a"});
  EXPECT_EQ(world.event("c[]").outcome, "waiting");
  world.view.last_runs[{"c", ""}] = {"manual", "2026-07-05T10:00:01.000000Z"};
  world.now = "2026-07-05T10:00:02.000000Z";
  world.run({"b"});
  EXPECT_EQ(world.event("c[]").reason, "1 of 2 inputs arrived; it waits for a");
  world.run({"a"});
  EXPECT_EQ(world.event("c[]").outcome, "dispatched");
}

TEST(Decide, ASlotIsGivenUpAfterSixtyIdleDays) {
  World world;
  world.edges.subscribers = {subscriber("c", {feed("a"), feed("b")})};
  world.edges.subscribers[0].joins = true;
  world.run({"a"});
  world.now = "2026-09-04T10:00:00.000000Z";
  world.run({"b"});
  EXPECT_EQ(world.event("c[]").reason, "1 of 2 inputs arrived; it waits for a");
}

TEST(Decide, AWholeTableJoinsByThePartitionOfItsInputsOrAsAWhole) {
  World world;
  world.edges.partitionings = {{"a", kDaily}, {"b", kDaily}};
  world.edges.subscribers = {subscriber("c", {feed("a", true), feed("b", true)})};
  world.edges.subscribers[0].joins = true;
  world.edges.subscribers[0].joins_by_partition = true;
  world.run({"a@2026-07-01"});
  world.run({"b@2026-07-02"});
  EXPECT_EQ(world.event("c[]").outcome, "waiting");
  world.run({"b@2026-07-01"});
  EXPECT_EQ(world.event("c[]").outcome, "dispatched");
  world.view.arrivals.clear();
  world.edges.subscribers[0].joins_by_partition = false;
  world.run({"a@2026-07-01"});
  world.run({"b@2026-07-02"});
  EXPECT_EQ(world.event("c[]").outcome, "dispatched");
}

TEST(Decide, WhatNoModelMakesIsWaitedForAndSaidSo) {
  World world;
  Feed outside = feed("ducklake://main/raw");
  outside.is_made = false;
  world.edges.subscribers = {subscriber("c", {feed("a"), outside})};
  world.edges.subscribers[0].joins = true;
  world.run({"a"});
  EXPECT_EQ(world.event("c[]").reason, "1 of 2 inputs arrived; it waits for ducklake://main/raw, which no model makes");
}

TEST(Decide, ADebouncedDispatchIsReplacedByANewerArrivalOfItsSlice) {
  World world;
  world.edges.subscribers = {subscriber("c", {feed("a", false, 60), feed("b")}), subscriber("d", {feed("b")})};
  world.run({"a"});
  EXPECT_EQ(world.event("c[]").not_before, "2026-07-05T10:01:00.000000Z");
  world.view.pending = {world.event("c[]")};
  world.now = "2026-07-05T10:00:30.000000Z";
  world.run({"a"});
  EXPECT_EQ(world.event("c[]r1").state, "replaced");
  EXPECT_EQ(world.event("c[]").not_before, "2026-07-05T10:01:30.000000Z");
  // The other edge fans out at once.
  world.view.pending = {world.event("c[]")};
  world.run({"b"});
  EXPECT_EQ(world.event("c[]").not_before, "");
  EXPECT_FALSE(world.events.contains("c[]r2"));
}

TEST(Decide, AFailedSubscriberIsTriedAgainAfterItsDelayAndThenGivenUp) {
  World world;
  world.edges.subscribers = {subscriber("b", {feed("a")}), subscriber("c", {feed("b")})};
  world.edges.subscribers[0].retries = 1;
  world.edges.subscribers[0].retry_delay = 5;
  world.run({"a"});
  const Ended failed{Ended::How::Failed, "it failed: no"};
  world.view.served = {world.event("b[]")};
  world.run({}, {"b"}, {{"b", failed}});
  EXPECT_EQ(world.event("b[]r1").state, "pending");
  EXPECT_EQ(world.event("b[]r1").not_before, "2026-07-05T10:00:05.000000Z");
  EXPECT_EQ(log_from(world.event("b[]r1").log_json).back().second,
            "it failed: no; retry 1 of 1 at 2026-07-05T10:00:05.000000Z");
  world.view.served = {world.event("b[]r1")};
  World recovered = world;
  world.run({}, {"b"}, {{"b", failed}});
  EXPECT_EQ(world.event("b[]r1").state, "failed");
  EXPECT_EQ(world.event("b[]r1").attempts, 2);
  // One that recovers starts its own subscribers.
  recovered.run({"b"}, {"b"});
  EXPECT_EQ(recovered.event("b[]r1").state, "done");
  EXPECT_EQ(recovered.event("c[]").outcome, "dispatched");
}

TEST(Decide, AnInterruptedOneStartsAgainAndCountsAsNoAttempt) {
  World world;
  world.edges.subscribers = {subscriber("b", {feed("a")})};
  world.run({"a"});
  world.view.served = {world.event("b[]")};
  world.run({}, {"b"});
  EXPECT_EQ(world.event("b[]r1").state, "pending");
  EXPECT_EQ(world.event("b[]r1").attempts, 0);
}

}  // namespace
}  // namespace weir::cascade
