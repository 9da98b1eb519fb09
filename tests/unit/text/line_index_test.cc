#include "text/line_index.h"

#include <gtest/gtest.h>

namespace weir::text {
namespace {

TEST(LineIndex, CountsCharactersNotBytes) {
  const LineIndex index("SELECT 'é', x\nFROM t");
  EXPECT_EQ(index.position(7), (Position{1, 8}));
  EXPECT_EQ(index.position(13), (Position{1, 13}));  // the é has two bytes
  EXPECT_EQ(index.position(9), (Position{1, 9}));    // inside the é
  EXPECT_EQ(index.position(15), (Position{2, 1}));
}

TEST(LineIndex, LinesEndBeforeTheirLineEnd) {
  const LineIndex index("ab\r\ncd\n\nlast");
  ASSERT_EQ(index.lines(), 4u);
  EXPECT_EQ(index.line(1), (Span{0, 2}));
  EXPECT_EQ(index.line(2), (Span{4, 6}));
  EXPECT_EQ(index.line(3), (Span{7, 7}));
  EXPECT_EQ(index.line(4), (Span{8, 12}));
}

TEST(LineIndex, AByteOrderMarkIsNoColumn) {
  const LineIndex index("\xEF\xBB\xBFSELECT 1");
  EXPECT_EQ(index.position(3), (Position{1, 1}));
  EXPECT_EQ(index.line(1), (Span{3, 11}));
}

TEST(LineIndex, BeyondTheEndIsTheEnd) {
  EXPECT_EQ(LineIndex("ab").position(99), (Position{1, 3}));
  EXPECT_EQ(LineIndex("").position(0), (Position{1, 1}));
}

}  // namespace
}  // namespace weir::text
