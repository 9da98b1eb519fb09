#include "text/suggest.h"

#include <gtest/gtest.h>

namespace weir::text {
namespace {

const std::vector<std::string_view> kModes = {"warn", "ignore", "fail", "sync"};

TEST(Suggest, SwappedLettersAreOneEdit) {
  EXPECT_EQ(distance("fial", "fail"), 2u);
  EXPECT_EQ(nearest("fial", kModes), "fail");
}

TEST(Suggest, CaseIsTheSmallestDifference) {
  EXPECT_EQ(distance("Key", "key"), 1u);
  EXPECT_EQ(nearest("SYNC", kModes), "sync");
}

TEST(Suggest, AWordFarFromAllIsNoSlip) {
  EXPECT_EQ(nearest("overwrite", kModes), std::nullopt);
  EXPECT_EQ(nearest("x", std::vector<std::string_view>{"y"}), std::nullopt);
  EXPECT_EQ(nearest("", kModes), std::nullopt);
}

TEST(Suggest, TheNearestOfSeveralWins) {
  EXPECT_EQ(nearest("dayly", std::vector<std::string>{"hourly", "daily", "weekly"}), "daily");
}

}  // namespace
}  // namespace weir::text
