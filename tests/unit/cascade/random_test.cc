// Cascades of random graphs, with processes that die anywhere between their transactions: every write starts each of
// its subscribers once, and each dispatch is built once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "cascade/codec.h"
#include "cascade/decide.h"
#include "unit/state/store_fixture.h"

namespace weir::state {
namespace {

using cascade::Edges;
using cascade::Subscriber;
using Names = std::set<std::string>;

class RandomCascade : public StoreTest {
 protected:
  bool chance(double share) { return std::uniform_real_distribution<>(0, 1)(random_) < share; }
  std::size_t below(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_); }

  /// Models m0, m1, …; each may be fed by earlier ones, and a few by later ones, which makes cycles.
  void make_graph() {
    constexpr std::size_t kModels = 7;
    edges_ = {};
    models_.clear();
    for (std::size_t i = 0; i < kModels; ++i) models_.push_back("m" + std::to_string(i));
    for (std::size_t i = 0; i < kModels; ++i) {
      Subscriber one{.path = models_[i], .joins = chance(0.3)};
      for (std::size_t j = 0; j < kModels; ++j)
        if (j != i && chance(j < i ? 0.35 : 0.05)) one.feeds.push_back({.from = models_[j]});
      one.retries = 3;
      if (!one.feeds.empty()) edges_.subscribers.push_back(std::move(one));
    }
  }

  CascadeRun row_of(const std::string& run, const Names& selected) const {
    return {.run = run,
            .environment = "prod",
            .host = "h",
            .created = "t",
            .selection_json = cascade::to_json(std::vector<std::string>(selected.begin(), selected.end())),
            .carried_json = "{}",
            .decided = {}};
  }

  void record(Store& store, const std::string& run, const Names& written) {
    Store::Outcome outcome;
    for (const std::string& model : written)
      outcome.steps.push_back({.run = run, .model = model, .asset = model, .slice = {}, .status = "materialized"});
    ASSERT_TRUE(store.record(outcome).has_value());
  }

  /// What must come of a run, by the rules as they are written down: kept beside the decider.
  void expect(const std::string& run, const Names& written, const std::map<std::string, Names>& chains) {
    for (const Subscriber& one : edges_.subscribers) {
      if (written.contains(one.path)) continue;
      Names heard;
      for (const auto& feed : one.feeds)
        if (written.contains(feed.from) && !chains.at(feed.from).contains(one.path)) heard.insert(feed.from);
      if (heard.empty()) continue;
      bool starts = true;
      if (one.joins) {
        Names& arrived = arrived_[one.path];
        arrived.insert(heard.begin(), heard.end());
        starts = arrived.size() == one.feeds.size();
        if (starts) arrived.clear();
      }
      if (starts) expected_.insert({run, one.path});
    }
  }

  void decide(Store& store, const std::string& run) {
    const cascade::Question question{.edges = edges_, .now = *calendar::parse_instant("2026-07-05T10:00Z")};
    const auto decided = store.decide_cascade(run, [&](const CascadeView& view) -> Result<CascadeChange> {
      Names written;
      std::map<std::string, Names> chains;
      for (const StepRecord& step : view.steps) {
        written.insert(step.model);
        chains[step.model].insert(step.model);
        for (const DispatchRecord& served : view.served)
          if (served.subscriber == step.model)
            for (const auto& name : cascade::names_from(served.chain_json)) chains[step.model].insert(name);
      }
      expect(run, written, chains);
      return cascade::decide(question, view);
    });
    ASSERT_TRUE(decided.has_value()) << decided.error().front().message;
  }

  /// One process: a run of some models, and all that is open then; may die after any transaction.
  void command(Store& store, double dies, const Names& written) {
    const std::string root = new_run_id();
    ASSERT_TRUE(store.open_cascade(row_of(root, written), {}).has_value());
    if (chance(dies)) return;
    record(store, root, written);
    if (chance(dies)) return;
    decide(store, root);
    const auto left = store.undecided_cascades("prod");
    for (const CascadeRun& one : *left) decide(store, one.run);
    while (true) {
      if (chance(dies)) return;
      auto open = store.dispatches({.environment = "prod", .only_open = true});
      ASSERT_TRUE(open.has_value());
      std::erase_if(*open, [](const DispatchRecord& one) { return one.state != "pending"; });
      if (open->empty()) return;
      const DispatchRecord& first = (*open)[below(open->size())];
      std::vector<DispatchRecord> wanted;
      for (const DispatchRecord& one : *open)
        if (one.subscriber == first.subscriber && one.slice == first.slice) wanted.push_back(one);
      const std::string child = new_run_id();
      const auto started = store.open_cascade(row_of(child, {first.subscriber}), wanted);
      ASSERT_EQ(started->size(), wanted.size());
      // Another process wants the same, and the decision is asked for twice.
      EXPECT_TRUE(store.open_cascade(row_of(new_run_id(), {first.subscriber}), wanted)->empty());
      if (chance(dies)) return;
      record(store, child, {first.subscriber});
      for (const DispatchRecord& one : *started) ++built_[{one.run, one.subscriber}];
      if (chance(dies)) return;
      decide(store, child);
      decide(store, child);
    }
  }

  std::mt19937 random_;
  Edges edges_;
  std::vector<std::string> models_;
  std::map<std::string, Names> arrived_;
  std::set<std::pair<std::string, std::string>> expected_;
  std::map<std::pair<std::string, std::string>, int> built_;
};

INSTANTIATE_TEST_SUITE_P(On, RandomCascade, testing::Values(Database::Sqlite, Database::Postgres), name_of_database);

TEST_P(RandomCascade, EveryWriteStartsItsSubscribersOnceWhoeverDies) {
  const char* given = std::getenv("WEIR_TEST_SEED");
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::atoi(given)) : std::random_device{}();
  std::printf("seed %u (WEIR_TEST_SEED repeats it)\n", seed);
  random_.seed(seed);
  const int graphs = GetParam() == Database::Sqlite ? 12 : 3;
  std::size_t dispatched = 0;
  for (int graph = 0; graph < graphs; ++graph) {
    auto store = opened();
    // Joins of the last graph are over.
    execute_in_store("DELETE FROM join_pending_input");
    make_graph();
    arrived_.clear();
    for (int commands = 0; commands < 5; ++commands) {
      Names written;
      for (const std::string& model : models_)
        if (chance(0.3)) written.insert(model);
      command(*store, commands < 4 ? 0.15 : 0, written);
    }
    ASSERT_TRUE(store->dispatches({.environment = "prod", .only_open = true})->empty());
    std::set<std::pair<std::string, std::string>> found;
    const auto decisions = store->dispatches({.environment = "prod"});
    for (const DispatchRecord& one : *decisions) {
      if (one.outcome != "dispatched") continue;
      EXPECT_TRUE(found.insert({one.run, one.subscriber}).second);
      EXPECT_EQ(one.state, "done");
      EXPECT_EQ((built_[{one.run, one.subscriber}]), 1) << one.run << " " << one.subscriber;
    }
    EXPECT_EQ(found, expected_);
    dispatched = found.size();
    if (HasFailure()) return;
  }
  EXPECT_GT(dispatched, 0U);
}

TEST_P(RandomCascade, FiveInputsOfAJoinThatArriveAtOnceStartItOnce) {
  Subscriber join{.path = "join", .joins = true};
  for (const char* name : {"m0", "m1", "m2", "m3", "m4"}) join.feeds.push_back({.from = name});
  edges_.subscribers = {join};
  std::vector<std::thread> arrivals;
  for (const cascade::Feed& feed : join.feeds) {
    arrivals.emplace_back([this, &feed] {
      const auto store = opened();
      const std::string run = new_run_id();
      EXPECT_TRUE(store->open_cascade(row_of(run, {feed.from}), {}).has_value());
      record(*store, run, {feed.from});
      const cascade::Question question{.edges = edges_, .now = *calendar::parse_instant("2026-07-05T10:00Z")};
      EXPECT_TRUE(store
                      ->decide_cascade(run,
                                       [&](const CascadeView& view) -> Result<CascadeChange> {
                                         return cascade::decide(question, view);
                                       })
                      .has_value());
    });
  }
  for (std::thread& one : arrivals) one.join();
  const auto store = opened();
  const auto all = store->dispatches({.environment = "prod", .subscriber = "join"});
  ASSERT_EQ(all->size(), 5U);
  EXPECT_EQ(std::count_if(all->begin(), all->end(), [](const auto& one) { return one.outcome == "dispatched"; }), 1);
  EXPECT_EQ(store->dispatches({.environment = "prod", .only_open = true})->size(), 1U);
  // The slot is empty: the next round needs all again.
  Names again{"m0"};
  const std::string run = new_run_id();
  ASSERT_TRUE(store->open_cascade(row_of(run, again), {}).has_value());
  record(*store, run, again);
  decide(*store, run);
  EXPECT_EQ(store->dispatches({.environment = "prod", .since = run})->front().reason,
            "1 of 5 inputs arrived; it waits for m1, m2, m3, m4");
}

}  // namespace
}  // namespace weir::state
