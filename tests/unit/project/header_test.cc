#include "project/header.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

std::string blanked(std::string_view text) { return blank_header(text, find_header(text)); }

TEST(Header, EndsAtTheFirstLineThatIsNoComment) {
  const std::string_view text = "#!/usr/bin/env weir\n\n  -- a\n\t// b\n# c\nSELECT 1 -- d\n-- e\n";
  const auto region = find_header(text);
  ASSERT_EQ(region.comments.size(), 4u);
  EXPECT_EQ(text.substr(region.comments[2].text.begin, region.comments[2].text.size()), " b");
  EXPECT_EQ(text.substr(region.comments[3].whole.begin, region.comments[3].whole.size()), "# c");
}

TEST(Header, IsBlankedInPlace) {
  EXPECT_EQ(blanked("-- a\n# b\n// c\nSELECT 4 // 2 -- d\n"), "    \n   \n    \nSELECT 4 // 2 -- d\n");
  const std::string_view text = "-- é\r\n/* weir: {tags: [a]} */\r\nSELECT 1";
  const auto made = blanked(text);
  ASSERT_EQ(made.size(), text.size());
  EXPECT_EQ(made.find("\r\n"), text.find("\r\n"));
  EXPECT_EQ(made.substr(made.find_first_not_of(" \r\n")), "SELECT 1");
}

TEST(Header, AByteOrderMarkIsNoPartOfTheFirstLine) {
  const std::string_view text = "\xEF\xBB\xBF-- pipeline\r\nSELECT 1";
  const auto region = find_header(text);
  ASSERT_EQ(region.comments.size(), 1u);
  EXPECT_EQ(text.substr(region.comments[0].text.begin, region.comments[0].text.size()), " pipeline");
  EXPECT_EQ(blanked("\xEF\xBB\xBFSELECT 1"), "   SELECT 1");
}

TEST(Header, TheBlockHeaderIsTheFirstCommentThatIsAMappingUnderTheName) {
  const std::string_view text =
      "/* weir is nice */\n/* other: 1 */\n/* interlace:\n  materialise: view\n*/\n/* weir: {} */ SELECT 1";
  const auto region = find_header(text);
  ASSERT_TRUE(region.block);
  EXPECT_EQ(region.block->whole.begin, text.find("/* interlace"));
}

TEST(Header, CommentMarksInStringsAreNone) {
  EXPECT_FALSE(find_header("SELECT '/* weir: {a: 1} */'").block);
  EXPECT_FALSE(find_header("SELECT \"/* weir: {a: 1} */\"").block);
  EXPECT_FALSE(find_header("SELECT $$/* weir: {a: 1} */$$").block);
  EXPECT_FALSE(find_header("SELECT $t$ $$ /* weir: {a: 1} */ $t$").block);
  EXPECT_FALSE(find_header("SELECT E'\\'/* weir: {a: 1} */'").block);
  EXPECT_FALSE(find_header("SELECT 1 -- /* weir: {a: 1} */").block);
  EXPECT_TRUE(find_header("SELECT 'it''s' /* weir: {a: 1} */").block);
  EXPECT_TRUE(find_header("-- don't\n/* weir: {a: 1} */ SELECT 1").block);
  EXPECT_FALSE(find_header("/* outer /* weir: {a: 1} */ */ SELECT 1").block);
}

TEST(Header, LinesMayStandOnBothSidesOfTheBlockHeader) {
  const auto region = find_header("-- a\n/* weir: {tags: [x]} */\n-- b\n/* plain */\n-- c\nSELECT 1");
  EXPECT_EQ(region.comments.size(), 2u);
}

TEST(Header, AnUnclosedBlockCommentIsNone) { EXPECT_FALSE(find_header("/* weir: {a: 1}").block); }

}  // namespace
}  // namespace weir
