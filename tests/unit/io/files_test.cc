#include "io/files.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>

namespace weir::io {
namespace {

class Files : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/weir-files-XXXXXX";
    folder_ = mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string at(const std::string& name) const { return folder_ + "/" + name; }
  std::string folder_;
};

TEST_F(Files, AllBytesComeBack) {
  const std::string bytes("a\0b\r\n\xff", 6);
  ASSERT_TRUE(write_file(at("x"), bytes).has_value());
  EXPECT_EQ(read_file(at("x")).value(), bytes);
  ASSERT_TRUE(write_file(at("large"), std::string(100'000, 'x')).has_value());
  EXPECT_EQ(read_file(at("large")).value(), std::string(100'000, 'x'));
  ASSERT_TRUE(write_file(at("empty"), "").has_value());
  EXPECT_EQ(read_file(at("empty")).value(), "");
}

TEST_F(Files, FilesWithoutASizeAreReadWhole) { EXPECT_FALSE(read_file("/proc/self/status").value().empty()); }

TEST_F(Files, MissingFilesAndFoldersAreDiagnosticsThatNameThem) {
  const auto missing = read_file(at("none"));
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().front().code, Code::W9010);
  EXPECT_NE(missing.error().front().message.find(at("none")), std::string::npos);
  EXPECT_EQ(read_file(folder_).error().front().code, Code::W9010);
}

TEST_F(Files, WritingReplacesAndMakesFolders) {
  ASSERT_TRUE(write_file(at("a/b/c"), "one").has_value());
  ASSERT_TRUE(write_file(at("a/b/c"), "two").has_value());
  EXPECT_EQ(read_file(at("a/b/c")).value(), "two");
}

TEST_F(Files, WritingLeavesNoOtherFile) {
  ASSERT_TRUE(write_file(at("a"), "one").has_value());
  EXPECT_EQ(list_files(folder_).value().size(), 1u);
  std::filesystem::create_directory(at("folder"));
  std::filesystem::create_directory(at("folder/inside"));
  const auto refused = write_file(at("folder"), "one");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().front().code, Code::W9011);
  EXPECT_EQ(list_files(folder_).value().size(), 1u);
}

TEST_F(Files, WritingKeepsTheModeOfTheReplacedFile) {
  ASSERT_TRUE(write_file(at("secret"), "one").has_value());
  ASSERT_EQ(chmod(at("secret").c_str(), 0600), 0);
  ASSERT_TRUE(write_file(at("secret"), "two").has_value());
  struct stat found {};
  ASSERT_EQ(stat(at("secret").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
}

TEST_F(Files, AFileInPlaceOfAFolderIsSaid) {
  ASSERT_TRUE(write_file(at("a"), "").has_value());
  EXPECT_EQ(write_file(at("a/b"), "one").error().front().code, Code::W9011);
  EXPECT_EQ(make_folder(at("a/b")).error().front().code, Code::W9011);
}

TEST_F(Files, ListingIsSortedAndLeavesHiddenOnesOut) {
  for (const char* name : {"b.sql", "a/z.sql", ".git/x", ".hidden", "_macros/x.sql", "_y.sql", "a/b/c.sql"}) {
    ASSERT_TRUE(write_file(at(name), "12").has_value());
  }
  EXPECT_EQ(list_files(folder_).value(), (std::vector<std::string>{"a/b/c.sql", "a/z.sql", "b.sql"}));
}

TEST_F(Files, ListingFollowsLinksAndPassesOverBrokenOnes) {
  ASSERT_TRUE(write_file(at("a/x"), "").has_value());
  std::filesystem::create_symlink(at("nowhere"), at("a/dangling"));
  std::filesystem::create_symlink(at("a/x"), at("a/y"));
  std::filesystem::create_directory_symlink(at("a"), at("b"));
  EXPECT_EQ(list_files(folder_).value(), (std::vector<std::string>{"a/x", "a/y", "b/x", "b/y"}));
}

TEST_F(Files, ALinkBackToAFolderAroundItIsNotFollowed) {
  for (const char* name : {"a/x", "b/y"}) ASSERT_TRUE(write_file(at(name), "").has_value());
  std::filesystem::create_symlink(".", at("self"));
  std::filesystem::create_symlink("../b", at("a/to_b"));
  std::filesystem::create_symlink("../a", at("b/to_a"));
  EXPECT_EQ(list_files(folder_).value(), (std::vector<std::string>{"a/to_b/y", "a/x", "b/to_a/x", "b/y"}));
}

TEST_F(Files, AMissingFolderHasNoFiles) { EXPECT_TRUE(list_files(at("none")).value().empty()); }

TEST_F(Files, AnotherFileInPlaceIsAnotherState) {
  ASSERT_TRUE(write_file(at("a"), "one").has_value());
  const auto before = state_of_file(at("a")).value();
  EXPECT_EQ(before.size, 3u);
  ASSERT_TRUE(write_file(at("b"), "two").has_value());
  std::filesystem::last_write_time(at("b"), std::filesystem::last_write_time(at("a")));
  std::filesystem::rename(at("b"), at("a"));
  EXPECT_EQ(state_of_file(at("a")).value().modified_ns, before.modified_ns);
  EXPECT_NE(state_of_file(at("a")).value().inode, before.inode);
  EXPECT_EQ(state_of_file(at("none")).error().front().code, Code::W9010);
}

TEST_F(Files, RemovingWhatIsNotThereIsFine) {
  ASSERT_TRUE(write_file(at("a/x"), "").has_value());
  EXPECT_TRUE(remove_all(at("a")).has_value());
  EXPECT_FALSE(exists(at("a")));
  EXPECT_TRUE(remove_all(at("a")).has_value());
}

}  // namespace
}  // namespace weir::io
