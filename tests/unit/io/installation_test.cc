#include "io/installation.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

namespace weir::io {
namespace {

TEST(Installation, TheEnvironmentNamesTheExtensionsFirst) {
  ASSERT_EQ(setenv("WEIR_EXTENSIONS", "/elsewhere", 1), 0);
  EXPECT_EQ(extension_folder(), "/elsewhere");
  ASSERT_EQ(setenv("WEIR_EXTENSIONS", "", 1), 0);
  EXPECT_EQ(extension_folder(), WEIR_EXTENSION_FOLDER);
  ASSERT_EQ(unsetenv("WEIR_EXTENSIONS"), 0);
}

TEST(Installation, ExtensionsBesideTheProgramComeBeforeThoseOfTheBuild) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  const auto beside = program.parent_path().parent_path() / "lib/weir/extensions";
  ASSERT_EQ(extension_folder(), WEIR_EXTENSION_FOLDER);
  std::filesystem::create_directories(beside);
  EXPECT_EQ(extension_folder(), beside.string());
  std::filesystem::remove_all(program.parent_path().parent_path() / "lib");
  EXPECT_EQ(extension_folder(), WEIR_EXTENSION_FOLDER);
}

}  // namespace
}  // namespace weir::io
