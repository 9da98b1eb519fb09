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
    put("models/b.sql", "-- materialize ducklake://main/b\n-- data_test tests/t\nSELECT id FROM a\n");
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
    EXPECT_EQ(checked->models, 2U);
    return workspace->loaded() != nullptr;
  }
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
  put("models/b.sql", "-- materialize ducklake://main/b\n-- data_test tests/t\nSELECT idd FROM a\n");
  EXPECT_TRUE(reads(1));
  EXPECT_TRUE(reads(1)) << "what has something to say is looked at each time";
  put("models/b.sql", "-- materialize ducklake://main/b\n-- data_test tests/t\nSELECT id FROM a\n");
  EXPECT_TRUE(reads());
  EXPECT_FALSE(reads());
  put("tests/t.sql", "SELECT * FROM _wm_target.b WHERE id < 1\n");
  EXPECT_TRUE(reads());
  put("tests/u.yaml", "model: nowhere\n");
  EXPECT_TRUE(reads(2));
  std::filesystem::remove(folder_.path() + "/tests/u.yaml");
  EXPECT_FALSE(reads()) << "it is again what was found clean";
}

TEST_F(CleanChecks, SoAreVariablesOfTheConfiguration) {
  EXPECT_TRUE(reads());
  EXPECT_FALSE(reads());
  ::setenv("WEIR_TEST_DATA", "lake/other", 1);
  EXPECT_TRUE(reads());
  ::unsetenv("WEIR_TEST_DATA");
}

TEST_F(CleanChecks, AFileThatWasJustWrittenMayBeWrittenAgainAtTheSameTime) {
  put("models/a.sql", "-- materialize ducklake://main/a\nSELECT 2 AS id\n");
  std::filesystem::last_write_time(folder_.path() + "/models/a.sql", std::filesystem::file_time_type::clock::now());
  EXPECT_TRUE(reads());
  EXPECT_TRUE(reads());
}

TEST_F(CleanChecks, FilesBesideTheProjectAreLookedAtEachTime) {
  put("x.csv", "id\n1\n");
  put("models/a.sql", "-- materialize ducklake://main/a\nSELECT id FROM read_csv('x.csv')\n");
  EXPECT_TRUE(reads());
  EXPECT_TRUE(reads());
}

}  // namespace
}  // namespace weir::ops
