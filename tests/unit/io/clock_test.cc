#include "io/clock.h"

#include <gtest/gtest.h>
#include <stdlib.h>

namespace weir::io {
namespace {

using std::chrono::sys_days;
using std::chrono::year;

TEST(Clock, TheEnvironmentHoldsItStillOrMovesItBack) {
  ASSERT_EQ(setenv("WEIR_NOW", "2001-02-03T04:05:06Z", 1), 0);
  const auto expected =
      sys_days(year{2001} / 2 / 3) + std::chrono::hours(4) + std::chrono::minutes(5) + std::chrono::seconds(6);
  EXPECT_EQ(now(), expected);
  EXPECT_EQ(now(), expected);
  ASSERT_EQ(setenv("WEIR_NOW", "2001-02-03T04:05:06.25Z", 1), 0);
  EXPECT_EQ(now(), expected + std::chrono::milliseconds(250));
  ASSERT_EQ(setenv("WEIR_NOW", "2001-02-03T04:05:06.0000017", 1), 0);
  EXPECT_EQ(now(), expected + std::chrono::microseconds(1)) << "digits beyond microseconds are left out";
  ASSERT_EQ(unsetenv("WEIR_NOW"), 0);
  EXPECT_GT(now(), sys_days(year{2024} / 1 / 1));
}

}  // namespace
}  // namespace weir::io
