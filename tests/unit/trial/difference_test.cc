#include "trial/difference.h"

#include <gtest/gtest.h>

namespace weir::trial {
namespace {

using Rows = std::vector<UnitCells>;

// "-1 b", "+3 c", "~2 b>2 x", "2:~…" with the position before.
std::vector<std::string> told(const Rows& expected, const Rows& actual, const std::vector<std::size_t>& key = {},
                              bool is_ordered = false) {
  const auto text = [](const UnitCells& cells) {
    std::string all;
    for (const auto& cell : cells) all += (all.empty() ? "" : " ") + cell.value_or("NULL");
    return all;
  };
  std::vector<std::string> lines;
  for (const RowDifference& one : compare_rows(expected, actual, key, is_ordered)) {
    std::string line = one.position > 0 ? std::to_string(one.position) + ":" : "";
    if (one.kind == RowDifference::Kind::Missing) line += "-" + text(one.expected);
    if (one.kind == RowDifference::Kind::Unexpected) line += "+" + text(one.actual);
    if (one.kind == RowDifference::Kind::Changed) line += "~" + text(one.expected) + ">" + text(one.actual);
    lines.push_back(line);
  }
  return lines;
}
using Lines = std::vector<std::string>;

TEST(UnitDiff, BagsAreComparedWithTheirRepetitions) {
  EXPECT_EQ(told({{"1"}, {"2"}, {"2"}}, {{"2"}, {"1"}, {"2"}}), Lines{});
  EXPECT_EQ(told({{"1"}, {"2"}, {"2"}}, {{"2"}, {"1"}}), Lines{"-2"});
  EXPECT_EQ(told({{"1"}}, {{"1"}, {"1"}}), Lines{"+1"});
}

TEST(UnitDiff, NullIsAValueOfItsOwn) {
  EXPECT_EQ(told({{"1", std::nullopt}}, {{"1", std::nullopt}}), Lines{});
  EXPECT_EQ(told({{"1", std::nullopt}}, {{"1", ""}}), Lines{"~1 NULL>1 "});
}

TEST(UnitDiff, RowsOfOneKeyAreOneChangedRow) {
  EXPECT_EQ(told({{"1", "a", "x"}, {"2", "b", "y"}}, {{"2", "c", "z"}, {"3", "a", "x"}}, {0}),
            (Lines{"-1 a x", "+3 a x", "~2 b y>2 c z"}));
}

TEST(UnitDiff, WithoutAKeyRowsThatAgreeInHalfOfTheirCellsAreOne) {
  EXPECT_EQ(told({{"1", "a", "x", "p"}}, {{"9", "a", "x", "q"}, {"1", "a", "x", "q"}}),
            (Lines{"+9 a x q", "~1 a x p>1 a x q"}));
  EXPECT_EQ(told({{"1", "a", "x", "p"}}, {{"1", "b", "y", "q"}}), (Lines{"-1 a x p", "+1 b y q"}));
}

TEST(UnitDiff, WhereTheOrderMattersRowsAreComparedByPlace) {
  EXPECT_EQ(told({{"1"}, {"2"}, {"3"}}, {{"2"}, {"1"}, {"3"}}, {0}, true), (Lines{"1:~1>2", "2:~2>1"}));
  EXPECT_EQ(told({{"1"}}, {}, {}, true), Lines{"1:-1"});
  EXPECT_EQ(told({}, {{"1"}}, {}, true), Lines{"1:+1"});
}

}  // namespace
}  // namespace weir::trial
