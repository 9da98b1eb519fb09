#include "ops/check.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "io/files.h"
#include "support/test_lake.h"

namespace weir::ops {
namespace {

/// Checks of one project, its files as old as they are in practice.
class CleanChecks : public ::testing::Test {
 protected:
  CleanChecks() {
    put("weir.yaml",
        "name: shop\nlakes:\n  main: {catalog: lake/main.sqlite, data: \"${WEIR_TEST_DATA:-lake/main}\"}\n");
    put("models/a.sql", "-- materialize ducklake://main/a\nSELECT 1 AS id\n");
    put("models/b.sql", kB + "SELECT id FROM a\n");
    put("tests/t.sql", "SELECT * FROM _wm_target.b WHERE id < 0\n");
  }
  void put(const std::string& name, const std::string& text) {
    const std::string path = folder_.path() + "/" + name;
    ASSERT_TRUE(io::write_file(path, text).has_value());
    hours_ += 1;
    std::filesystem::last_write_time(path,
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(100 - hours_));
  }
  /// True if the project was read: what was remembered did not do.
  bool reads(std::size_t faults = 0) {
    auto workspace = Workspace::open(folder_.path());
    const auto checked = check(*workspace);
    EXPECT_TRUE(checked.has_value());
    EXPECT_EQ(checked->diagnostics.size(), faults);
    EXPECT_TRUE(faults > 0 || checked->models == 2);
    return workspace->loaded() != nullptr;
  }
  const std::string kB = "-- materialize ducklake://main/b\n-- data_test tests/t\n";
  test::TemporaryFolder folder_;
  int hours_ = 0;
};

TEST_F(CleanChecks, AProjectThatDidNotChangeIsNotReadAgain) {
  EXPECT_TRUE(reads());
  EXPECT_FALSE(reads());
  EXPECT_FALSE(reads());
}

TEST_F(CleanChecks, AnyChangeOfAFileIsSeen) {
  EXPECT_TRUE(reads());
  put("models/b.sql", kB + "SELECT idd FROM a\n");
  EXPECT_TRUE(reads(1));
  EXPECT_TRUE(reads(1)) << "what has something to say is looked at each time";
  put("models/b.sql", kB + "SELECT id FROM a\n");
  EXPECT_FALSE(reads()) << "it is again what was found clean";
  put("tests/t.sql", "SELECT * FROM _wm_target.b WHERE id < 1\n");
  EXPECT_TRUE(reads());
  put("tests/u.yaml", "model: nowhere\n");
  EXPECT_TRUE(reads(2));
  std::filesystem::remove(folder_.path() + "/tests/u.yaml");
  EXPECT_FALSE(reads());
}

TEST_F(CleanChecks, AnEditThatOthersDoNotSeeCostsItselfAlone) {
  EXPECT_TRUE(reads());
  put("models/b.sql", kB + "SELECT id + 1 AS id FROM a WHERE id > 0\n");
  EXPECT_FALSE(reads());
  EXPECT_FALSE(reads());
  put("models/a.sql", "-- materialize ducklake://main/a\nSELECT 2 AS id\n");
  put("models/b.sql", kB + "SELECT id + 2 AS id FROM a\n");
  EXPECT_FALSE(reads());
}

TEST_F(CleanChecks, AnEditThatOthersMaySeeCostsAll) {
  EXPECT_TRUE(reads());
  put("models/a.sql", "-- materialize ducklake://main/a\nSELECT 1 AS id, 2 AS more\n");
  EXPECT_TRUE(reads()) << "a column more";
  put("models/a.sql", "-- materialize ducklake://main/a\nSELECT 1 AS other\n");
  EXPECT_TRUE(reads(1)) << "a column that another reads is gone";
  put("models/a.sql", "-- materialize ducklake://main/a\nSELECT CAST(1 AS BIGINT) AS id\n");
  EXPECT_TRUE(reads()) << "a column of another type";
  put("models/a.sql", "-- materialize ducklake://main/a\n-- description the first\nSELECT CAST(1 AS BIGINT) AS id\n");
  EXPECT_TRUE(reads()) << "another header";
  put("models/a.sql", "-- materialize ducklake://main/a\n-- description the first\nSELECT id FROM b\n");
  EXPECT_TRUE(reads(1)) << "a circle";
}

TEST_F(CleanChecks, WhatAnEditSaysIsSaid) {
  EXPECT_TRUE(reads());
  put("models/b.sql", kB + "SELECT [id] AS id FROM a\n");
  EXPECT_TRUE(reads(1)) << "its test compares numbers";
  put("models/b.sql", kB + "SELECT id FROM a;\nSELECT id FROM a\n");
  EXPECT_TRUE(reads(1)) << "two queries";
  put("models/b.sql", kB + "SELEC id FROM a\n");
  EXPECT_TRUE(reads(1)) << "no SQL";
}

TEST_F(CleanChecks, DamagedBytesCostTimeAndNothingElse) {
  EXPECT_TRUE(reads());
  const std::string file = folder_.path() + "/.weir/cache/clean";
  const auto bytes = io::read_file(file);
  ASSERT_TRUE(bytes.has_value());
  std::string other = *bytes;
  other.back() = static_cast<char>(other.back() + 1);
  for (const std::string& damaged :
       {bytes->substr(0, bytes->size() - 1), other, "weir clean 1\n" + *bytes, std::string()}) {
    ASSERT_TRUE(io::write_file(file, damaged).has_value());
    EXPECT_TRUE(reads());
    EXPECT_FALSE(reads());
  }
}

TEST_F(CleanChecks, SoAreVariablesOfTheConfiguration) {
  EXPECT_TRUE(reads());
  EXPECT_FALSE(reads());
  ::setenv("WEIR_TEST_DATA", "lake/other", 1);
  EXPECT_TRUE(reads());
  ::unsetenv("WEIR_TEST_DATA");
}

TEST_F(CleanChecks, AFileThatWasJustWrittenMayBeWrittenAgainAtTheSameTime) {
  const auto just_now = std::filesystem::file_time_type::clock::now() + std::chrono::seconds(30);
  const auto put_now = [&](const std::string& text) {
    put("models/b.sql", text);
    std::filesystem::last_write_time(folder_.path() + "/models/b.sql", just_now);
  };
  put_now(kB + "SELECT id FROM a\n");
  EXPECT_TRUE(reads());
  EXPECT_FALSE(reads()) << "the text is the same";
  put_now(kB + "SELECT ix FROM a\n");
  EXPECT_TRUE(reads(1));
}

TEST_F(CleanChecks, FilesBesideTheProjectAreLookedAtEachTime) {
  put("x.csv", "id\n1\n");
  put("models/a.sql", "-- materialize ducklake://main/a\nSELECT id FROM read_csv('x.csv')\n");
  EXPECT_TRUE(reads());
  EXPECT_TRUE(reads());
}

}  // namespace
}  // namespace weir::ops
