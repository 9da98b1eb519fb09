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

TEST(Step, RowsThatFailATestAreShownOnATerminalOnly) {
  std::ostringstream out, err;
  run::StepReport step{.model = "orders", .partition = "2026-07-05", .status = run::Status::Failed};
  step.error = "audit failed: 1 of 1 tests on orders; nothing was published\n  ✗ not_null(v) — 4 violating row(s)";
  step.tests.push_back({.test = "not_null(v)", .status = audit::Verdict::Status::Failed, .violating = 4});
  step.tests[0].sample_json = R"([{"id":1,"v":null},{"id":2,"v":null},{"id":3,"v":null},{"id":4,"v":null}])";
  const std::string hint = "hint: weir run orders --env dev --partition 2026-07-05 --json shows such rows";
  const std::string log = settled_line(step, Streams{.out = out, .err = err}, " --env dev");
  EXPECT_EQ(log.find("id: 1"), std::string::npos) << log;
  EXPECT_NE(log.find(hint), std::string::npos) << log;
  const Streams terminal{.out = out, .err = err, .err_is_terminal = true};
  const std::string shown = settled_line(step, terminal, " --env dev");
  EXPECT_NE(shown.find("violating row(s)\n          id: 1, v: NULL\n"), std::string::npos) << shown;
  EXPECT_EQ(shown.find("id: 4"), std::string::npos) << "three are enough: " << shown;
  EXPECT_NE(shown.find(hint), std::string::npos) << "there are more: " << shown;
  step.tests[0].sample_json = R"([{"name":"a\u001b[2J","v":")" + std::string(300, 'x') + R"("}])";
  step.tests[0].violating = 1;
  const std::string wide = settled_line(step, terminal, "");
  EXPECT_EQ(wide.find('\x1b'), std::string::npos) << "no value moves the cursor";
  EXPECT_EQ(wide.find(std::string(90, 'x')), std::string::npos) << "a row is one line of the terminal";
  EXPECT_EQ(wide.find("hint:"), std::string::npos) << "all rows are there: " << wide;
}

TEST(Text, TimesAreShownToTheSecond) {
  EXPECT_EQ(short_time("2026-07-05T08:00:01.999999Z"), "2026-07-05 08:00:01Z");
  EXPECT_EQ(short_time("2026-07-05T08:00:01Z"), "2026-07-05 08:00:01Z");
  EXPECT_EQ(short_time(""), "");
}

}  // namespace
}  // namespace weir::cli
