#include "lsp/positions.h"

#include <gtest/gtest.h>

namespace weir::lsp {
namespace {

TEST(Positions, UnitsAreThoseThatWereAgreed) {
  const std::string text = "aé😀b\nc";  // 1, 2, 4, 1 bytes
  EXPECT_EQ(Positions(text, Encoding::Utf8).place(7), (Place{0, 7}));
  EXPECT_EQ(Positions(text, Encoding::Utf16).place(7), (Place{0, 4}));
  EXPECT_EQ(Positions(text, Encoding::Utf32).place(7), (Place{0, 3}));
  EXPECT_EQ(Positions(text, Encoding::Utf16).place(9), (Place{1, 0}));
}

TEST(Positions, EveryByteThatBeginsACharacterComesBack) {
  const std::string text = "-- é\r\nSELECT '😀'\rx\n\n日本";
  for (const Encoding encoding : {Encoding::Utf8, Encoding::Utf16, Encoding::Utf32}) {
    const Positions positions(text, encoding);
    for (std::uint32_t at = 0; at <= text.size(); ++at) {
      const bool is_inside = at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
      const bool is_between = at > 0 && at < text.size() && text[at] == '\n' && text[at - 1] == '\r';
      if (is_inside || is_between) continue;
      EXPECT_EQ(positions.offset(positions.place(at)), at) << at;
    }
  }
}

TEST(Positions, LinesEndAsTheProtocolSays) {
  const Positions positions("a\rb\r\nc\nd", Encoding::Utf16);
  EXPECT_EQ(positions.place(2), (Place{1, 0}));
  EXPECT_EQ(positions.place(5), (Place{2, 0}));
  EXPECT_EQ(positions.place(7), (Place{3, 0}));
}

TEST(Positions, WhatLiesBeyondIsTheEnd) {
  const Positions positions("ab\r\ncd", Encoding::Utf16);
  EXPECT_EQ(positions.offset({0, 99}), 2U);
  EXPECT_EQ(positions.offset({9, 0}), 6U);
  EXPECT_EQ(positions.place(99), (Place{1, 2}));
  // The second half of a pair of units is in the character.
  EXPECT_EQ(Positions("😀b", Encoding::Utf16).offset({0, 1}), 0U);
}

TEST(Positions, AByteOrderMarkHasNoWidth) {
  const Positions positions("\xEF\xBB\xBF-- x", Encoding::Utf16);
  EXPECT_EQ(positions.place(3), (Place{0, 0}));
  EXPECT_EQ(positions.offset({0, 3}), 6U);
}

}  // namespace
}  // namespace weir::lsp
