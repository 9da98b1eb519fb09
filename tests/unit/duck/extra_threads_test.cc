#include <gtest/gtest.h>
#include <time.h>

#include <thread>

#include "duck/database.h"

namespace weir::duck {
namespace {

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// A table of many row groups: what threads share.
void make_large(Connection& connection) {
  ASSERT_TRUE(connection.execute({"CREATE TABLE large AS SELECT i FROM range({}) AS r (i)", 3'000'000}).has_value());
}

Sql large() { return "SELECT sum(hash(hash(i) + 1)) FROM large"; }

/// Share of the processor time of a large statement that was not its caller's.
double share_of_others(Connection& connection) {
  const double all = seconds(CLOCK_PROCESS_CPUTIME_ID);
  const double mine = seconds(CLOCK_THREAD_CPUTIME_ID);
  EXPECT_TRUE(connection.query(large()).has_value());
  const double spent = seconds(CLOCK_PROCESS_CPUTIME_ID) - all;
  return 1 - (seconds(CLOCK_THREAD_CPUTIME_ID) - mine) / spent;
}

TEST(ExtraThreads, JoinALongStatement) {
  auto database = Database::open({.threads = 2});
  ASSERT_TRUE(database.has_value());
  auto connection = (*database)->connect();
  ASSERT_TRUE(connection.has_value());
  make_large(*connection);
  double most = 0;
  for (int i = 0; i < 20 && most < 0.1; ++i) most = std::max(most, share_of_others(*connection));
  EXPECT_GE(most, 0.1);
}

TEST(ExtraThreads, GoHomeWithTheStatementAndWithTheInstance) {
  for (int round = 0; round < 20; ++round) {
    auto database = Database::open({.threads = 3});
    ASSERT_TRUE(database.has_value());
    const auto work = [&database](std::int64_t rows) {
      auto connection = (*database)->connect();
      for (int i = 0; i < 10; ++i)
        EXPECT_TRUE(connection->query({"SELECT sum(hash(i)) FROM range({}) AS r (i)", i % 3 == 0 ? rows : 10}));
    };
    const std::jthread one(work, 300'000);
    const std::jthread other(work, 800'000);
  }
}

}  // namespace
}  // namespace weir::duck
