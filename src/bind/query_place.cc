#include "bind/query_place.h"

#include <algorithm>

#include "project/piece.h"

namespace weir::bind {

StatementPlaces::StatementPlaces(std::string_view source, Span statement) : source_(source), statement_(statement) {
  tokens_ = text::lex_code(source.substr(statement.begin, statement.size()));
  for (text::Token& token : tokens_) {
    token.span.begin += statement.begin;
    token.span.end += statement.begin;
  }
}

std::string_view StatementPlaces::word(std::size_t token) const {
  if (token >= tokens_.size()) return {};
  return source_.substr(tokens_[token].span.begin, tokens_[token].span.size());
}

bool StatementPlaces::is(std::size_t token, std::string_view wanted) const {
  return text::same_word(word(token), wanted);
}

std::size_t StatementPlaces::behind_bracket(std::size_t open) const {
  int depth = 0;
  for (std::size_t i = open; i < tokens_.size(); ++i) {
    if (word(i) == "(") ++depth;
    if (word(i) == ")" && --depth == 0) return i + 1;
  }
  return tokens_.size();
}

std::optional<text::Token> StatementPlaces::token_at(std::uint32_t byte) const {
  for (const text::Token& token : tokens_)
    if (token.span.begin <= byte && byte < token.span.end) return token;
  return std::nullopt;
}

std::optional<NamedPlace> StatementPlaces::name_at(std::uint32_t byte) const {
  std::size_t at = 0;
  while (at < tokens_.size() && tokens_[at].span.end <= byte) ++at;
  if (at >= tokens_.size() || !tokens_[at].is_name() || tokens_[at].span.begin > byte) return std::nullopt;
  std::size_t first = at;
  while (first >= 2 && word(first - 1) == "." && tokens_[first - 2].is_name()) first -= 2;
  std::size_t last = at;
  while (last + 2 < tokens_.size() && word(last + 1) == "." && tokens_[last + 2].is_name()) last += 2;
  NamedPlace found{
      .span = {tokens_[first].span.begin, tokens_[last].span.end}, .last = tokens_[last].span, .parts = {}, .call = {}};
  for (std::size_t i = first; i <= last; i += 2) found.parts.push_back(text::name_of_token(word(i)));
  if (word(last + 1) != "(") return found;
  found.is_call = true;
  std::size_t end = behind_bracket(last + 1);
  while (end + 1 < tokens_.size() && (is(end, "FILTER") || is(end, "OVER")))
    end = word(end + 1) == "(" ? behind_bracket(end + 1) : end + 2;
  found.call = {found.span.begin, tokens_[end - 1].span.end};
  return found;
}

std::vector<NamedPlace> StatementPlaces::listed_columns() const {
  std::vector<NamedPlace> listed;
  const auto add = [&](std::size_t i) {
    if (i < tokens_.size() && tokens_[i].is_name())
      listed.push_back(
          {.span = tokens_[i].span, .last = tokens_[i].span, .parts = {text::name_of_token(word(i))}, .call = {}});
  };
  for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
    const bool is_replace = is(i, "REPLACE");
    const bool is_rename = is(i, "RENAME");
    if (!is_replace && !is_rename && !is(i, "USING") && !is(i, "EXCLUDE")) continue;
    if (word(i + 1) != "(") {
      if (is(i, "EXCLUDE")) add(i + 1);
      continue;
    }
    const std::size_t end = behind_bracket(i + 1) - 1;
    int depth = 0;
    for (std::size_t k = i + 2; k < end; ++k) {
      if (word(k) == "(") ++depth;
      if (word(k) == ")") --depth;
      if (depth != 0) continue;
      const bool is_counted = is_replace ? is(k - 1, "AS") : is_rename ? is(k + 1, "AS") : true;
      if (is_counted) add(k);
    }
  }
  return listed;
}

std::vector<std::pair<Span, Span>> StatementPlaces::set_operations() const {
  std::vector<std::pair<Span, Span>> found;
  const auto is_operation = [&](std::size_t i) { return is(i, "UNION") || is(i, "INTERSECT") || is(i, "EXCEPT"); };
  for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
    if (!is_operation(i) || tokens_[i].kind != text::TokenKind::Word) continue;
    std::size_t end = i + 1;
    for (int depth = 0; end < tokens_.size(); ++end) {
      if (word(end) == "(") ++depth;
      if (word(end) == ")" && --depth < 0) break;
      if (depth == 0 && (is_operation(end) || is(end, "ORDER") || is(end, "LIMIT"))) break;
    }
    found.emplace_back(tokens_[i].span, Span{tokens_[i].span.begin, tokens_[end - 1].span.end});
  }
  return found;
}

std::vector<std::string> StatementPlaces::names() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (!tokens_[i].is_name()) continue;
    std::string name = text::name_of_token(word(i));
    if (std::none_of(names.begin(), names.end(), [&](const auto& one) { return text::same_word(one, name); }))
      names.push_back(std::move(name));
  }
  return names;
}

Span StatementPlaces::start() const { return tokens_.empty() ? statement_ : tokens_.front().span; }

namespace {

Span find_word(std::string_view source, Span span, std::string_view name, bool behind_dot) {
  if (name.empty()) return span;
  const std::string_view text = source.substr(span.begin, span.size());
  for (std::size_t at = 0; at + name.size() <= text.size(); ++at) {
    if (!text::same_word(text.substr(at, name.size()), name)) continue;
    const char before = at == 0 ? ' ' : text[at - 1];
    const bool begins = behind_dot ? before == '.' : !is_name_char(before);
    const bool ends = at + name.size() == text.size() || !is_name_char(text[at + name.size()]);
    if (begins && ends) {
      const auto begin = span.begin + static_cast<std::uint32_t>(at);
      return {begin, begin + static_cast<std::uint32_t>(name.size())};
    }
  }
  return span;
}

}  // namespace

Span place_of_word(std::string_view source, Span span, std::string_view name) {
  return find_word(source, span, name, false);
}

Span place_of_column(std::string_view source, Span span, std::string_view name) {
  return find_word(source, span, name, true);
}

}  // namespace weir::bind
