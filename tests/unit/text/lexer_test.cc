#include "text/lexer.h"

#include <gtest/gtest.h>

#include <random>

namespace weir::text {
namespace {

std::vector<std::string> words(std::string_view sql) {
  std::vector<std::string> all;
  for (const Token& token : lex(sql)) all.emplace_back(sql.substr(token.span.begin, token.span.size()));
  return all;
}
using Words = std::vector<std::string>;

TEST(Lexer, StringsOfEverySpellingAreOneToken) {
  EXPECT_EQ(words("'it''s; fine' E'a\\'b' $t$a;'b$t$ $$;$$"),
            (Words{"'it''s; fine'", "E'a\\'b'", "$t$a;'b$t$", "$$;$$"}));
}
TEST(Lexer, ADollarInsideAWordBeginsNoString) { EXPECT_EQ(words("a$t$; $t$;$t$"), (Words{"a$t$", ";", "$t$;$t$"})); }
TEST(Lexer, BlockCommentsNest) { EXPECT_EQ(words("/* a /* ; */ b */ 1"), (Words{"/* a /* ; */ b */", "1"})); }
TEST(Lexer, AnOperatorEndsWhereACommentBegins) {
  EXPECT_EQ(words("7//*c;*/2 4*--;\n2"), (Words{"7", "/", "/*c;*/", "2", "4", "*", "--;", "2"}));
}
TEST(Lexer, SlashesDivide) { EXPECT_EQ(words("7//2"), (Words{"7", "//", "2"})); }
TEST(Lexer, ACarriageReturnEndsALineComment) { EXPECT_EQ(words("1 -- x\r, 2"), (Words{"1", "-- x", ",", "2"})); }
TEST(Lexer, ParametersAreTold) {
  const auto tokens = lex("$cutoff + $1 + ?");
  ASSERT_EQ(tokens.size(), 5U);
  for (const std::size_t i : {0U, 2U, 4U}) EXPECT_EQ(tokens[i].kind, TokenKind::Parameter);
}
TEST(Lexer, OtherScriptsAreWordsAndTheirBlanksAreBlanks) {
  EXPECT_EQ(words("gr\u00f6\u00dfe\u00a0+\u3000\u8868"), (Words{"gr\u00f6\u00dfe", "+", "\u8868"}));
}
TEST(Lexer, UnclosedTextIsSaid) {
  for (const auto* sql : {"'a", "\"a", "/* a /* */", "$x$ a", "E'a\\'"}) EXPECT_FALSE(lex(sql).back().is_closed) << sql;
}
TEST(Lexer, ValuesAreDecoded) {
  EXPECT_EQ(value_of_string("'it''s'"), "it's");
  EXPECT_EQ(value_of_string("E'a\\'b\\n\\x41\\u00e9'''"), "a'b\nA\u00e9'");
  EXPECT_EQ(value_of_string("$t$a'b$t$"), "a'b");
  EXPECT_EQ(name_of_token("\"a\"\"b\""), "a\"b");
}
TEST(Lexer, TheFirstByteThatIsNoUtf8IsFound) {
  EXPECT_EQ(first_invalid_utf8("h\u00e9llo \u8868"), std::string_view::npos);
  EXPECT_EQ(first_invalid_utf8("ab\xff"), 2U);
  EXPECT_EQ(first_invalid_utf8("a\xc3"), 1U);
  EXPECT_EQ(first_invalid_utf8("\xed\xa0\x80"), 0U);
}
TEST(Lexer, AnyBytesAreCutWithoutGapsOrOverlaps) {
  std::mt19937 random(7);
  const std::string_view alphabet = "aE$'\"/*-;\n .{}()1\\\xc3\xa9?";
  for (int round = 0; round < 5000; ++round) {
    std::string sql;
    for (int i = 0; i < 24; ++i) sql += alphabet[random() % alphabet.size()];
    std::uint32_t at = 0;
    for (const Token& token : lex(sql)) {
      ASSERT_GE(token.span.begin, at) << sql;
      ASSERT_GT(token.span.end, token.span.begin) << sql;
      for (; at < token.span.begin; ++at) ASSERT_TRUE(std::isspace(static_cast<unsigned char>(sql[at]))) << sql;
      at = token.span.end;
    }
    ASSERT_LE(at, sql.size());
    for (; at < sql.size(); ++at) ASSERT_TRUE(std::isspace(static_cast<unsigned char>(sql[at]))) << sql;
  }
}

}  // namespace
}  // namespace weir::text
