// The tokens of SQL as DuckDB's scanner cuts them: strings of every spelling, quoted names, comments that nest,
// numbers, operators. It exists because some questions are about bytes, not meaning: where a statement ends, what is a
// comment, where a name stands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"

namespace weir::text {

enum class TokenKind {
  Word,        // keyword or unquoted name; bytes of other scripts are letters
  QuotedName,  // "a""b"
  String,      // 'it''s', E'a\'b', $tag$ a $tag$
  Number,
  Parameter,    // $name, $1, ?
  Operator,     // a run such as // or ->>
  Punctuation,  // one of ( ) [ ] { } , . :
  Semicolon,
  LineComment,   // without the line's end
  BlockComment,  // nests
};

struct Token {
  TokenKind kind = TokenKind::Operator;
  Span span;
  /// False for a string, quoted name or block comment that the text ends in.
  bool is_closed = true;

  bool is_comment() const { return kind == TokenKind::LineComment || kind == TokenKind::BlockComment; }
  bool is_name() const { return kind == TokenKind::Word || kind == TokenKind::QuotedName; }
};

/// Cuts `sql` into tokens, comments included, white space left out. Every byte that is no white space belongs to
/// exactly one token.
std::vector<Token> lex(std::string_view sql);
/// The same without comments.
std::vector<Token> lex_code(std::string_view sql);

/// ASCII letters in lower case: how DuckDB compares names.
std::string lower(std::string_view text);
/// True if both are the same but for the case of ASCII letters.
bool same_word(std::string_view a, std::string_view b);

/// The name that a Word or QuotedName token spells: quotes gone, doubled quotes single.
std::string name_of_token(std::string_view token);
/// The value that a String token spells. Requires: closed.
std::string value_of_string(std::string_view token);

/// The first byte of `text` that is not valid UTF-8; std::string_view::npos if all is.
std::size_t first_invalid_utf8(std::string_view text);

/// White space of other scripts (no-break space and the like, byte order mark) that DuckDB reads as a blank: bytes of
/// the one at `at`, 0 if none.
std::size_t size_of_wide_space(std::string_view text, std::size_t at);

}  // namespace weir::text
