#include "text/lexer.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace weir::text {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (static_cast<unsigned char>(c) & 0x80U) != 0;
}
bool is_tag_part(char c) { return is_word_start(c) || is_digit(c); }
bool is_word_part(char c) { return is_tag_part(c) || c == '$'; }
bool is_punctuation(char c) { return std::string_view("()[]{},.:").find(c) != std::string_view::npos; }
bool is_operator(char c) { return std::string_view("~!@#^&|`?+-*/%<>=").find(c) != std::string_view::npos; }

class Lexer {
 public:
  explicit Lexer(std::string_view sql) : sql_(sql) {}

  std::vector<Token> run() {
    while (skip_space()) {
      begin_ = at_;
      closed_ = true;
      const TokenKind kind = next();
      tokens_.push_back({kind, {static_cast<std::uint32_t>(begin_), static_cast<std::uint32_t>(at_)}, closed_});
    }
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < sql_.size() ? sql_[at_ + ahead] : '\0'; }
  bool starts(std::string_view text) const { return sql_.substr(at_, text.size()) == text; }

  bool skip_space() {
    while (at_ < sql_.size()) {
      if (const auto wide = size_of_wide_space(sql_, at_); wide > 0)
        at_ += wide;
      else if (is_space(sql_[at_]))
        ++at_;
      else
        return true;
    }
    return false;
  }

  TokenKind next() {
    const char c = peek();
    if (starts("--")) return line_comment();
    if (starts("/*")) return block_comment();
    if (c == '\'') return string(false);
    if ((c == 'e' || c == 'E') && peek(1) == '\'') {
      ++at_;
      return string(true);
    }
    if (c == '"') return quoted_name();
    if (c == '$') return dollar();
    if (is_word_start(c)) return word();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)) && !follows_name())) return number();
    if (c == ';') return single(TokenKind::Semicolon);
    if (is_punctuation(c)) return single(TokenKind::Punctuation);
    if (is_operator(c)) return operators();
    return single(TokenKind::Operator);
  }

  TokenKind single(TokenKind kind) {
    ++at_;
    return kind;
  }

  // `t.1` never occurs in SQL, but `"a".5` in broken text should not glue a name's dot to a number.
  bool follows_name() const { return !tokens_.empty() && tokens_.back().is_name() && tokens_.back().span.end == at_; }

  TokenKind line_comment() {
    while (at_ < sql_.size() && sql_[at_] != '\n' && sql_[at_] != '\r') ++at_;
    return TokenKind::LineComment;
  }

  TokenKind block_comment() {
    int depth = 0;
    while (at_ < sql_.size()) {
      if (starts("/*")) {
        ++depth;
        at_ += 2;
      } else if (starts("*/")) {
        at_ += 2;
        if (--depth == 0) return TokenKind::BlockComment;
      } else {
        ++at_;
      }
    }
    closed_ = false;
    return TokenKind::BlockComment;
  }

  TokenKind string(bool escapes) {
    ++at_;
    while (at_ < sql_.size()) {
      if (escapes && sql_[at_] == '\\' && at_ + 1 < sql_.size()) {
        at_ += 2;
      } else if (sql_[at_] != '\'') {
        ++at_;
      } else if (peek(1) == '\'') {
        at_ += 2;
      } else {
        ++at_;
        return TokenKind::String;
      }
    }
    closed_ = false;
    return TokenKind::String;
  }

  TokenKind quoted_name() {
    ++at_;
    while (at_ < sql_.size()) {
      if (sql_[at_] != '"') {
        ++at_;
      } else if (peek(1) == '"') {
        at_ += 2;
      } else {
        ++at_;
        return TokenKind::QuotedName;
      }
    }
    closed_ = false;
    return TokenKind::QuotedName;
  }

  // `$tag$ … $tag$` is a string, `$1` and `$name` are parameters, a `$` alone is an operator.
  TokenKind dollar() {
    std::size_t end = at_ + 1;
    if (end < sql_.size() && is_word_start(sql_[end]))
      while (end < sql_.size() && is_tag_part(sql_[end])) ++end;
    if (end < sql_.size() && sql_[end] == '$') {
      const auto tag = sql_.substr(at_, end + 1 - at_);
      const auto close = sql_.find(tag, end + 1);
      closed_ = close != std::string_view::npos;
      at_ = closed_ ? close + tag.size() : sql_.size();
      return TokenKind::String;
    }
    ++at_;
    if (!is_tag_part(peek())) return TokenKind::Operator;
    while (is_tag_part(peek())) ++at_;
    return TokenKind::Parameter;
  }

  TokenKind word() {
    while (at_ < sql_.size() && is_word_part(sql_[at_]) && size_of_wide_space(sql_, at_) == 0) ++at_;
    return TokenKind::Word;
  }

  TokenKind number() {
    const auto digits = [this] {
      while (is_digit(peek()) || (peek() == '_' && is_digit(peek(1)))) ++at_;
    };
    digits();
    if (peek() == '.' && peek(1) != '.') {
      ++at_;
      digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      const std::size_t sign = (peek(1) == '+' || peek(1) == '-') ? 1 : 0;
      if (is_digit(peek(1 + sign))) {
        at_ += 1 + sign;
        digits();
      }
    }
    return TokenKind::Number;
  }

  // A run of operator characters ends where a comment begins: `7//*c*/2` divides once.
  TokenKind operators() {
    if (peek() == '?') {
      ++at_;
      return TokenKind::Parameter;
    }
    do ++at_;
    while (at_ < sql_.size() && is_operator(sql_[at_]) && !starts("/*") && !starts("--") && sql_[at_] != '?');
    return TokenKind::Operator;
  }

  std::string_view sql_;
  std::size_t at_ = 0;
  std::size_t begin_ = 0;
  bool closed_ = true;
  std::vector<Token> tokens_;
};

void append_code_point(std::string& text, std::uint32_t point) {
  if (point < 0x80) {
    text += static_cast<char>(point);
  } else if (point < 0x800) {
    text += static_cast<char>(0xC0U | (point >> 6U));
    text += static_cast<char>(0x80U | (point & 0x3FU));
  } else if (point < 0x10000) {
    text += static_cast<char>(0xE0U | (point >> 12U));
    text += static_cast<char>(0x80U | ((point >> 6U) & 0x3FU));
    text += static_cast<char>(0x80U | (point & 0x3FU));
  } else {
    text += static_cast<char>(0xF0U | (point >> 18U));
    text += static_cast<char>(0x80U | ((point >> 12U) & 0x3FU));
    text += static_cast<char>(0x80U | ((point >> 6U) & 0x3FU));
    text += static_cast<char>(0x80U | (point & 0x3FU));
  }
}

std::uint32_t read_digits(std::string_view text, std::size_t& at, std::uint32_t base, std::size_t most) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < most && at < text.size(); ++i, ++at) {
    const char c = text[at];
    std::uint32_t digit = 99;
    if (is_digit(c)) digit = static_cast<std::uint32_t>(c - '0');
    if (c >= 'a' && c <= 'f') digit = static_cast<std::uint32_t>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') digit = static_cast<std::uint32_t>(c - 'A' + 10);
    if (digit >= base) break;
    value = value * base + digit;
  }
  return value;
}

// One backslash sequence of an E'…' string; `at` stands behind the backslash.
void append_escape(std::string& value, std::string_view body, std::size_t& at) {
  const char c = body[at++];
  switch (c) {
    case 'b':
      value += '\b';
      return;
    case 'f':
      value += '\f';
      return;
    case 'n':
      value += '\n';
      return;
    case 'r':
      value += '\r';
      return;
    case 't':
      value += '\t';
      return;
    case 'x':
      value += static_cast<char>(read_digits(body, at, 16, 2));
      return;
    case 'u':
      append_code_point(value, read_digits(body, at, 16, 4));
      return;
    case 'U':
      append_code_point(value, read_digits(body, at, 16, 8));
      return;
    default:
      break;
  }
  if (c >= '0' && c <= '7') {
    --at;
    value += static_cast<char>(read_digits(body, at, 8, 3));
    return;
  }
  value += c;
}

std::string undouble(std::string_view body, char mark) {
  std::string value;
  value.reserve(body.size());
  for (std::size_t i = 0; i < body.size(); ++i) {
    value += body[i];
    if (body[i] == mark && i + 1 < body.size() && body[i + 1] == mark) ++i;
  }
  return value;
}

}  // namespace

std::vector<Token> lex(std::string_view sql) { return Lexer(sql).run(); }

std::vector<Token> lex_code(std::string_view sql) {
  std::vector<Token> tokens = lex(sql);
  std::erase_if(tokens, [](const Token& token) { return token.is_comment(); });
  return tokens;
}

std::string lower(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lowered;
}

bool same_word(std::string_view a, std::string_view b) {
  const auto fold = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&fold](char x, char y) { return fold(x) == fold(y); });
}

std::string name_of_token(std::string_view token) {
  if (token.size() < 2 || token.front() != '"') return std::string(token);
  return undouble(token.substr(1, token.size() - 2), '"');
}

std::string value_of_string(std::string_view token) {
  if (token.empty()) return {};
  if (token.front() == '$') {
    const auto tag = token.find('$', 1) + 1;
    return std::string(token.substr(tag, token.size() - 2 * tag));
  }
  if (token.front() == '\'') return undouble(token.substr(1, token.size() - 2), '\'');
  const auto body = token.substr(2, token.size() - 3);
  std::string value;
  for (std::size_t at = 0; at < body.size();) {
    const char c = body[at++];
    if (c == '\\' && at < body.size()) {
      append_escape(value, body, at);
      continue;
    }
    value += c;
    if (c == '\'' && at < body.size() && body[at] == '\'') ++at;
  }
  return value;
}

std::size_t first_invalid_utf8(std::string_view text) {
  const auto byte = [&text](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
  for (std::size_t at = 0; at < text.size();) {
    const std::uint8_t lead = byte(at);
    if (lead < 0x80) {
      ++at;
      continue;
    }
    std::size_t more = 0;
    std::uint8_t low = 0x80;
    std::uint8_t high = 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF) more = 1;
    if (lead >= 0xE0 && lead <= 0xEF) more = 2;
    if (lead >= 0xF0 && lead <= 0xF4) more = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
    if (more == 0 || at + more >= text.size()) return at;
    if (byte(at + 1) < low || byte(at + 1) > high) return at;
    for (std::size_t i = 2; i <= more; ++i)
      if ((byte(at + i) & 0xC0U) != 0x80) return at;
    at += more + 1;
  }
  return std::string_view::npos;
}

std::size_t size_of_wide_space(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t ahead) -> unsigned {
    return at + ahead < text.size() ? static_cast<unsigned char>(text[at + ahead]) : 0U;
  };
  if (byte(0) < 0x80) return 0;
  if (byte(0) == 0xC2 && byte(1) == 0xA0) return 2;
  if (byte(0) == 0xE2 && byte(1) == 0x80 && ((byte(2) >= 0x80 && byte(2) <= 0x8D) || byte(2) == 0xAF)) return 3;
  if (byte(0) == 0xE2 && byte(1) == 0x81 && (byte(2) == 0x9F || byte(2) == 0xA0)) return 3;
  if (byte(0) == 0xE3 && byte(1) == 0x80 && byte(2) == 0x80) return 3;
  if (byte(0) == 0xEF && byte(1) == 0xBB && byte(2) == 0xBF) return 3;
  return 0;
}

}  // namespace weir::text
