#include "lsp/documents.h"

#include <gtest/gtest.h>

namespace weir::lsp {
namespace {

TEST(Documents, EditsAreAppliedInOrderEachToTheTextBeforeIt) {
  Documents documents;
  documents.open({.uri = "file:///a.sql", .path = "/a.sql", .version = 1, .text = "SELECT 😀\nFROM t"});
  const std::vector<Change> changes = {
      {Range{{0, 7}, {0, 9}}, "x"}, {Range{{1, 5}, {1, 6}}, "tt"}, {Range{{0, 8}, {1, 0}}, " "}};
  EXPECT_TRUE(documents.change("file:///a.sql", 2, changes, Encoding::Utf16));
  EXPECT_EQ(documents.find("file:///a.sql")->text, "SELECT x FROM tt");
  EXPECT_EQ(documents.find("file:///a.sql")->version, 2);
  EXPECT_TRUE(documents.change("file:///a.sql", 3, {{std::nullopt, "new"}}, Encoding::Utf16));
  EXPECT_EQ(documents.find_path("/a.sql")->text, "new");
  EXPECT_FALSE(documents.change("file:///b.sql", 1, {}, Encoding::Utf16));
}

TEST(Documents, ARangeThatIsNoneTakesNothingAway) {
  Documents documents;
  documents.open({.uri = "u", .path = "", .version = 1, .text = "ab"});
  EXPECT_TRUE(documents.change("u", 2, {{Range{{0, 2}, {0, 0}}, "c"}, {Range{{9, 9}, {9, 9}}, "d"}}, Encoding::Utf16));
  EXPECT_EQ(documents.find("u")->text, "abcd");
}

TEST(Uris, PathsComeBackWhateverTheyHold) {
  for (const std::string path : {"/a/b.sql", "/mit blank/é.sql", "/100%/a#b?c.sql"})
    EXPECT_EQ(path_of_uri(uri_of_path(path)), path);
  EXPECT_EQ(uri_of_path("/a b"), "file:///a%20b");
  EXPECT_EQ(path_of_uri("file://localhost/a%2Fb"), "/a/b");
  EXPECT_EQ(path_of_uri("FILE:///a/../b"), "/b");
  EXPECT_EQ(path_of_uri("file:///50%"), "/50%");
  EXPECT_EQ(path_of_uri("untitled:Untitled-1"), std::nullopt);
}

TEST(Uris, OnlyWhatLiesBelowAFolderIsBelowIt) {
  EXPECT_EQ(below("/a", "/a/b/c"), "b/c");
  EXPECT_EQ(below("/a", "/ab/c"), std::nullopt);
  EXPECT_EQ(below("/", "/b"), "b");
}

}  // namespace
}  // namespace weir::lsp
