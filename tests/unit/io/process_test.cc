#include "io/process.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace weir::io {
namespace {

TEST(Process, PassesInputAndTakesOutputOfAnySize) {
  const auto cat = find_program("cat");
  ASSERT_TRUE(cat.has_value());
  // More than a pipe holds.
  const std::string text(1 << 20, 'x');
  const auto done = run_program({*cat}, text);
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->code, 0);
  EXPECT_EQ(done->out, text);
  EXPECT_EQ(done->err, "");
}

TEST(Process, ReportsCodeErrorsAndSignals) {
  const auto shell = find_program("sh");
  ASSERT_TRUE(shell.has_value());
  const auto failed = run_program({*shell, "-c", "echo no >&2; exit 3"}, "");
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->code, 3);
  EXPECT_EQ(failed->err, "no\n");
  const auto killed = run_program({*shell, "-c", "kill -9 $$"}, "");
  ASSERT_TRUE(killed.has_value());
  EXPECT_EQ(killed->code, 128 + 9);
}

TEST(Process, ThatIsNotThereIsNotFoundOrStarted) {
  EXPECT_FALSE(find_program("no-such-program-here").has_value());
  EXPECT_FALSE(run_program({"/no/such/program"}, "").has_value());
}

}  // namespace
}  // namespace weir::io
