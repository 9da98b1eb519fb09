#include "parse/readers.h"

#include <algorithm>
#include <optional>

#include "duck/database.h"
#include "parse/functions.h"
#include "text/lexer.h"

namespace weir::parse {
namespace {

class Readers {
 public:
  Readers(std::string_view sql, Span range)
      : sql_(sql.substr(range.begin, range.size())), offset_(range.begin), tokens_(text::lex_code(sql_)) {}

  std::vector<Replacement> run() {
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
      if (!tokens_[i].is_name() || word(i + 1) != "(" || is_new_macro(i)) continue;
      const std::string name = text::lower(text::name_of_token(word(i)));
      if (!reads_files(name) || name == "glob") continue;
      if (const auto argument = first_argument(i + 2)) guard(argument->first, argument->second);
    }
    return std::move(found_);
  }

 private:
  std::string_view word(std::size_t i) const {
    return i < tokens_.size() ? sql_.substr(tokens_[i].span.begin, tokens_[i].span.size()) : std::string_view();
  }

  // CREATE MACRO [IF NOT EXISTS] [schema.]read_csv(…) names parameters, no arguments.
  bool is_new_macro(std::size_t i) const {
    while (i >= 2 && word(i - 1) == ".") i -= 2;
    if (i == 0) return false;
    return text::same_word(word(i - 1), "MACRO") || text::same_word(word(i - 1), "FUNCTION") ||
           text::same_word(word(i - 1), "EXISTS");
  }

  bool is_named(std::size_t i) const {
    return tokens_[i].is_name() && (word(i + 1) == "=" || word(i + 1) == ":=" || word(i + 1) == "=>" ||
                                    (word(i + 1) == ":" && word(i + 2) == "="));
  }

  /// The tokens [first, last) of the first argument without a name.
  std::optional<std::pair<std::size_t, std::size_t>> first_argument(std::size_t i) const {
    std::size_t begin = i;
    for (int depth = 0; i < tokens_.size(); ++i) {
      const std::string_view here = word(i);
      const bool opens = here == "(" || here == "[" || here == "{";
      const bool closes = here == ")" || here == "]" || here == "}";
      if (depth == 0 && (closes || here == ",")) {
        if (i > begin && !is_named(begin)) return std::pair(begin, i);
        if (closes) return std::nullopt;
        begin = i + 1;
      }
      depth += opens ? 1 : closes ? -1 : 0;
    }
    return std::nullopt;
  }

  void guard(std::size_t first, std::size_t last) {
    const bool is_plain = last == first + 1 && tokens_[first].kind == text::TokenKind::String &&
                          word(first).find('{') == std::string_view::npos;
    if (is_plain) return;
    const std::uint32_t begin = offset_ + tokens_[first].span.begin;
    const std::uint32_t end = offset_ + tokens_[last - 1].span.end;
    found_.push_back({{begin, begin}, std::string(duck::kFileGuard) + "("});
    found_.push_back({{end, end}, ")"});
  }

  std::string_view sql_;
  std::uint32_t offset_;
  std::vector<text::Token> tokens_;
  std::vector<Replacement> found_;
};

// Most SQL reads no files, and a look at its letters is cheaper than its tokens.
bool may_read(std::string_view sql) {
  constexpr std::string_view kParts[] = {"read_", "scan", "sniff_", "parquet_"};
  return std::any_of(std::begin(kParts), std::end(kParts), [sql](std::string_view part) {
    return std::search(sql.begin(), sql.end(), part.begin(), part.end(),
                       [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; }) != sql.end();
  });
}

}  // namespace

std::vector<Replacement> guard_readers(std::string_view sql, Span range) {
  if (!may_read(sql.substr(range.begin, range.size()))) return {};
  return Readers(sql, range).run();
}

std::string with_guarded_readers(const std::string& sql) {
  const Span all{0, static_cast<std::uint32_t>(sql.size())};
  return Spliced::make(sql, all, guard_readers(sql, all)).text();
}

}  // namespace weir::parse
