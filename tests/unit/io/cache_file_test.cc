#include "io/cache_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "io/files.h"

namespace weir::io {
namespace {

TEST(CacheFile, GivesBackWhatWasKeptAndNothingOfWhatWasDamaged) {
  std::string folder = "/tmp/weir-cache-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/below/cache";
  EXPECT_FALSE(read_cache(path, "format 1\n").has_value());
  write_cache(path, "format 1\n", std::string_view("a\0b", 3));
  EXPECT_EQ(read_cache(path, "format 1\n"), std::string("a\0b", 3));
  EXPECT_FALSE(read_cache(path, "format 2\n").has_value()) << "of an older weir";
  const std::string whole = *read_file(path);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    ASSERT_TRUE(write_file(path, damaged).has_value());
    EXPECT_FALSE(read_cache(path, "format 1\n").has_value()) << i;
    ASSERT_TRUE(write_file(path, whole.substr(0, i)).has_value());
    EXPECT_FALSE(read_cache(path, "format 1\n").has_value()) << i;
  }
  write_cache(path, "format 1\n", "");
  EXPECT_EQ(read_cache(path, "format 1\n"), "");
  write_cache("/proc/no/such/place", "format 1\n", "x");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace weir::io
