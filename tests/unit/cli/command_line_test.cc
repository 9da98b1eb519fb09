#include <gtest/gtest.h>

#include <sstream>

#include "cli/command.h"

namespace weir::cli {
namespace {

struct Said {
  Exit exit;
  std::string out;
  std::string err;
};

Said say(std::vector<const char*> words) {
  words.insert(words.begin(), "weir");
  std::ostringstream out, err;
  Streams streams{.out = out, .err = err, .out_is_terminal = false, .err_is_terminal = false};
  const Exit exit = run_command_line(static_cast<int>(words.size()), words.data(), streams);
  return {exit, out.str(), err.str()};
}

TEST(CommandLine, AnOptionWithAValueLeavesTheWordBehindItToTheCommand) {
  const Said plain = say({"explain", "W0001"});
  ASSERT_EQ(plain.exit, Exit::Done) << plain.err;
  const Said before = say({"explain", "--color", "never", "W0001"});
  EXPECT_EQ(before.exit, Exit::Done) << before.err;
  EXPECT_EQ(before.out, plain.out);
}

TEST(CommandLine, AnOptionWithAValueIsGivenOnce) {
  EXPECT_EQ(say({"explain", "--color", "never", "--color", "always", "W0001"}).exit, Exit::Misuse);
}

TEST(CommandLine, WhatIsUnknownIsMisuse) {
  EXPECT_EQ(say({"dance"}).exit, Exit::Misuse);
  EXPECT_EQ(say({"explain", "--loud", "W0001"}).exit, Exit::Misuse);
}

TEST(CommandLine, ASlipInANameIsAnsweredWithTheNearestOne) {
  EXPECT_NE(say({"rn"}).err.find("did you mean `run`?"), std::string::npos) << say({"rn"}).err;
  const Said option = say({"run", "--partitoin=2026-07-05"});
  EXPECT_EQ(option.exit, Exit::Misuse);
  EXPECT_NE(option.err.find("weir run has no option --partitoin"), std::string::npos) << option.err;
  EXPECT_NE(option.err.find("did you mean `--partition`?"), std::string::npos) << option.err;
}

TEST(CommandLine, OptionsOfEveryCommandMayStandBeforeIt) {
  const Said plain = say({"explain", "W0001"});
  const Said before = say({"-q", "--color", "never", "explain", "W0001"});
  EXPECT_EQ(before.exit, Exit::Done) << before.err;
  EXPECT_EQ(before.out, plain.out);
}

TEST(CommandLine, ANumberIsANumber) {
  const Said said = say({"run", "--jobs", "many"});
  EXPECT_EQ(said.exit, Exit::Misuse);
  EXPECT_NE(said.err.find("takes a whole number, not many"), std::string::npos) << said.err;
}

TEST(Explain, TakesACodeInAnyCaseAndWithoutItsLetter) {
  const Said plain = say({"explain", "W0107"});
  EXPECT_EQ(say({"explain", "w0107"}).out, plain.out);
  EXPECT_EQ(say({"explain", "107"}).out, plain.out);
  EXPECT_EQ(say({"explain", "W9999"}).exit, Exit::Misuse);
}

}  // namespace
}  // namespace weir::cli
