// Leases, fencing and liveness: one live holder a slice, numbers that only grow, and the dead noticed.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <set>
#include <thread>

#include "state/liveness.h"
#include "store_fixture.h"

namespace weir::state {
namespace {

using LeaseBoth = StoreTest;
INSTANTIATE_TEST_SUITE_P(On, LeaseBoth, testing::Values(Database::Sqlite, Database::Postgres), name_of_database);

Lease wanted(std::string asset, std::string run, std::string host = "here", std::string slice = "") {
  return {.asset = std::move(asset),
          .slice = std::move(slice),
          .run = std::move(run),
          .host = std::move(host),
          .pid = 1,
          .fence = 0,
          .heartbeat = ""};
}

TEST_P(LeaseBoth, FenceGrowsAndSurvivesRelease) {
  auto store = opened();
  EXPECT_EQ(store->claim({wanted("a", "r1")}, {})->front().fence, 1);
  ASSERT_TRUE(store->release("r1").has_value());
  EXPECT_TRUE(store->leases()->empty());
  EXPECT_EQ(store->claim({wanted("a", "r2")}, {})->front().fence, 2);
  EXPECT_EQ(store->claim({wanted("a", "r2")}, {})->front().fence, 3) << "the holder may claim again";
  EXPECT_EQ(store->claim({wanted("a", "r2", "here", "2026-01-01")}, {})->front().fence, 1)
      << "slices count on their own";
  EXPECT_EQ(store->leases()->size(), 2u);
}

TEST_P(LeaseBoth, HeldSliceIsRefusedAndNothingElseIsClaimed) {
  auto store = opened();
  ASSERT_TRUE(store->claim({wanted("b", "r1")}, {}).has_value());
  const auto refused = store->claim({wanted("a", "r2"), wanted("b", "r2"), wanted("c", "r2")}, {});
  ASSERT_EQ(code_of(refused), Code::W6101);
  EXPECT_NE(refused.error().front().message.find("r1"), std::string::npos);
  const auto held = *store->leases();
  ASSERT_EQ(held.size(), 1u);
  EXPECT_EQ(held[0].run, "r1");
}

TEST_P(LeaseBoth, ClaimAnswersInTheOrderAsked) {
  auto store = opened();
  std::vector<Lease> many;
  for (int i = 0; i < 300; ++i) many.push_back(wanted("asset" + std::to_string(i * 7 % 300), "r1"));
  ASSERT_TRUE(store->claim({wanted("asset5", "r0")}, {}).has_value());
  const auto got = *store->claim(many, {"r0"});
  ASSERT_EQ(got.size(), many.size());
  for (std::size_t i = 0; i < many.size(); ++i) {
    EXPECT_EQ(got[i].asset, many[i].asset);
    EXPECT_EQ(got[i].fence, many[i].asset == "asset5" ? 2 : 1);
  }
  EXPECT_TRUE(store->check(got).has_value());
}

TEST_P(LeaseBoth, DeadHolderIsTakenOverAndFencedOff) {
  auto store = opened();
  const auto old = *store->claim({wanted("a", "r1")}, {});
  ASSERT_TRUE(store->check(old).has_value());
  const auto fresh = *store->claim({wanted("a", "r2")}, {"r1"});
  EXPECT_GT(fresh.front().fence, old.front().fence);
  EXPECT_EQ(code_of(store->check(old)), Code::W6102);
  EXPECT_TRUE(store->check(fresh).has_value());
  ASSERT_TRUE(store->release("r1").has_value());
  EXPECT_TRUE(store->check(fresh).has_value()) << "a late release of the old holder frees nothing";
  ASSERT_TRUE(store->release("r2").has_value());
  EXPECT_EQ(code_of(store->check(fresh)), Code::W6102);
}

TEST_P(LeaseBoth, OnlyAnotherHostsSilenceExpires) {
  auto store = opened();
  ASSERT_TRUE(store->claim({wanted("a", "r1", "there"), wanted("b", "r1", "here")}, {}).has_value());
  EXPECT_EQ(code_of(store->claim({wanted("a", "r2", "here")}, {})), Code::W6101) << "a fresh heartbeat holds";
  execute_in_store("UPDATE lease SET heartbeat = '2020-01-01T00:00:00.000000Z'");
  EXPECT_EQ(store->claim({wanted("a", "r2", "here")}, {})->front().fence, 2);
  EXPECT_EQ(code_of(store->claim({wanted("b", "r2", "here")}, {})), Code::W6101)
      << "on its own host the lock file decides";
}

TEST_P(LeaseBoth, HeartbeatKeepsALeaseFromExpiring) {
  auto store = opened();
  ASSERT_TRUE(store->claim({wanted("a", "r1", "there")}, {}).has_value());
  execute_in_store("UPDATE lease SET heartbeat = '2020-01-01T00:00:00.000000Z'");
  {
    Heartbeat heart(*store, "r1", std::chrono::milliseconds(10));
    for (int i = 0; i < 500 && store->leases()->front().heartbeat.starts_with("2020"); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(heart.last_failure().empty());
  }
  EXPECT_FALSE(is_expired(store->leases()->front().heartbeat, *store->lease_time()));
  EXPECT_EQ(code_of(store->claim({wanted("a", "r2", "here")}, {})), Code::W6101);
}

TEST_P(LeaseBoth, OfManyWhoClaimAtOnceOneWins) {
  opened();
  std::atomic<int> won = 0, refused = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      auto store = open();
      if (!store.has_value()) return;
      const auto got =
          (*store)->claim({wanted("a", "run" + std::to_string(i)), wanted("b", "run" + std::to_string(i))}, {});
      if (got.has_value()) ++won;
      if (!got.has_value() && got.error().front().code == Code::W6101) ++refused;
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(won, 1);
  EXPECT_EQ(refused, 7);
}

TEST_P(LeaseBoth, FencesOfRacingProcessesAreAllDifferent) {
  opened();
  std::mutex mutex;
  std::vector<std::int64_t> fences;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      auto store = open();
      for (int round = 0; store.has_value() && round < 10; ++round) {
        const std::string run = std::to_string(i) + "-" + std::to_string(round);
        auto got = (*store)->claim({wanted("a", run)}, {});
        if (!got.has_value()) continue;
        const std::lock_guard guard(mutex);
        fences.push_back(got->front().fence);
        EXPECT_TRUE((*store)->release(run).has_value());
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_FALSE(fences.empty());
  EXPECT_EQ(std::set<std::int64_t>(fences.begin(), fences.end()).size(), fences.size());
}

class RunLockTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string form = (std::filesystem::temp_directory_path() / "weir_lock_XXXXXX").string();
    ASSERT_NE(mkdtemp(form.data()), nullptr);
    folder_ = std::filesystem::path(form) / "locks";
  }
  void TearDown() override { std::filesystem::remove_all(folder_.parent_path()); }
  std::filesystem::path folder_;
};

TEST_F(RunLockTest, SaysAliveWhileHeldAndIsGoneAfter) {
  EXPECT_EQ(liveness_of(folder_, "r1"), Liveness::Unknown);
  {
    auto lock = RunLock::take(folder_, "r1");
    ASSERT_TRUE(lock.has_value());
    EXPECT_TRUE(is_alive(folder_, "r1"));
    EXPECT_EQ(code_of(RunLock::take(folder_, "r1")), Code::W7006);
    auto moved = std::move(*lock);
    EXPECT_TRUE(is_alive(folder_, "r1"));
  }
  EXPECT_EQ(liveness_of(folder_, "r1"), Liveness::Unknown);
}

TEST_F(RunLockTest, IsNeverTakenForADeadRunsWhileItIsTaken) {
  std::atomic<bool> done = false;
  std::thread sweeper([&] {
    while (!done) forget_run(folder_, "r1");
  });
  for (int i = 0; i < 300; ++i) {
    const auto lock = RunLock::take(folder_, "r1");
    ASSERT_TRUE(lock.has_value());
    EXPECT_EQ(liveness_of(folder_, "r1"), Liveness::Alive);
  }
  done = true;
  sweeper.join();
}

TEST_F(RunLockTest, KilledProcessIsDeadAtOnce) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    auto lock = RunLock::take(folder_, "r1");
    const char byte = lock.has_value() ? 'y' : 'n';
    if (write(ready[1], &byte, 1) != 1) _exit(1);
    for (;;) pause();
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  EXPECT_EQ(liveness_of(folder_, "r1"), Liveness::Alive);
  forget_run(folder_, "r1");
  EXPECT_EQ(liveness_of(folder_, "r1"), Liveness::Alive) << "a live run is not forgotten";
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(liveness_of(folder_, "r1"), Liveness::Dead);
  EXPECT_EQ(
      dead_runs(folder_, {wanted("a", "r1", host_identity()), wanted("b", "r1", host_identity())}, machine_time_text()),
      std::vector<std::string>{"r1"});
  forget_run(folder_, "r1");
  EXPECT_EQ(liveness_of(folder_, "r1"), Liveness::Unknown);
  close(ready[0]);
  close(ready[1]);
}

TEST_F(RunLockTest, FolderThatCannotBeMadeIsSaid) {
  std::ofstream(folder_) << "a file stands in the way";
  EXPECT_EQ(code_of(RunLock::take(folder_, "r1")), Code::W7006);
}

TEST_F(RunLockTest, WithoutAFileTheHeartbeatDecides) {
  auto young = wanted("a", "young", host_identity());
  auto old = wanted("b", "old", host_identity());
  auto far = wanted("c", "far", "elsewhere");
  auto future = wanted("d", "future", "elsewhere");
  young.heartbeat = "2026-01-01T00:00:00.000000Z";
  old.heartbeat = far.heartbeat = "2025-12-31T23:59:40.000000Z";
  future.heartbeat = "2026-01-02T00:00:00.000000Z";
  EXPECT_EQ(dead_runs(folder_, {young, old, far, future}, "2026-01-01T00:00:11.000000Z"),
            (std::vector<std::string>{"far", "old"}));
}

}  // namespace
}  // namespace weir::state
