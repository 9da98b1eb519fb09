#include "cli/output.h"

#include <gtest/gtest.h>

#include <sstream>

#include "cli/progress.h"

namespace weir::cli {
namespace {

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::ostringstream out, err;
  Streams streams{.out = out, .err = err};
  print_table(rows, streams);
  return out.str();
}

TEST(Table, NumbersStandAtTheRightAndTextAtTheLeft) {
  EXPECT_EQ(table({{"name", "rows", "note"}, {"a", "12,408", "x"}, {"bcdef", "7", "2026-07-05"}}),
            "name     rows  note\n"
            "a      12,408  x\n"
            "bcdef       7  2026-07-05\n");
}

TEST(Table, LinesEndWithoutBlanks) { EXPECT_EQ(table({{"a", "b"}, {"x", ""}, {"y", "text"}}), "a  b\nx\ny  text\n"); }

TEST(Table, WideLettersTakeTwoColumns) {
  EXPECT_EQ(table({{"t", "u"}, {"日本", "x"}, {"é", "y"}}), "t     u\n日本  x\né     y\n");
}

TEST(Table, NoValueCanMoveTheCursor) { EXPECT_EQ(table({{"t"}, {"a\nb\x1b[2J"}}), "t\na\\nb\\x1b[2J\n"); }

TEST(Text, NumbersAreCountedInWords) {
  EXPECT_EQ(counted(1, "row"), "1 row");
  EXPECT_EQ(counted(0, "row"), "0 rows");
  EXPECT_EQ(counted(12408, "row"), "12,408 rows");
}

TEST(Text, IsCutToTheColumnsOfATerminal) {
  EXPECT_EQ(cut_to("short", 5), "short");
  EXPECT_EQ(cut_to("longer", 5), "long…");
  EXPECT_EQ(cut_to("日本日本", 5), "日本…");
  EXPECT_EQ(cut_to("äöüäöü", 4), "äöü…");
}

TEST(Text, TheTimeLeftGoesByWhatEndedSinceTheBeginning) {
  using std::chrono::seconds;
  EXPECT_EQ(time_left(0, 2, 100, seconds(10)), "") << "two tell nothing";
  EXPECT_EQ(time_left(0, 10, 40, seconds(10)), "30 s left");
  EXPECT_EQ(time_left(90, 100, 220, seconds(10)), "2 min left") << "what was fresh took no time";
  EXPECT_EQ(time_left(0, 10, 10010, seconds(10)), "2.8 h left");
  EXPECT_EQ(time_left(0, 10, 10, seconds(10)), "");
}

TEST(Text, TimesAreShownToTheSecond) {
  EXPECT_EQ(short_time("2026-07-05T08:00:01.999999Z"), "2026-07-05 08:00:01Z");
  EXPECT_EQ(short_time("2026-07-05T08:00:01Z"), "2026-07-05 08:00:01Z");
  EXPECT_EQ(short_time(""), "");
}

}  // namespace
}  // namespace weir::cli
