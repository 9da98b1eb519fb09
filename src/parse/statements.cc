#include "parse/statements.h"

#include <algorithm>
#include <array>
#include <optional>

namespace weir::parse {
namespace {

using text::Token;
using text::TokenKind;

constexpr std::array<std::string_view, 3> kBareTokens = {"{partition}", "{window_start}", "{window_end}"};

// Walks over the tokens of one statement by words.
class Cursor {
 public:
  Cursor(std::string_view sql, const std::vector<Token>& tokens) : sql_(sql), tokens_(tokens) {}

  bool done() const { return at_ >= tokens_.size(); }
  std::size_t at() const { return at_; }
  void move_to(std::size_t at) { at_ = at; }
  void skip() { ++at_; }
  const Token& token() const { return tokens_[at_]; }
  std::string_view text() const {
    return done() ? std::string_view() : sql_.substr(token().span.begin, token().span.size());
  }
  bool is(std::string_view word) const {
    return !done() && token().kind != TokenKind::QuotedName && text::same_word(text(), word);
  }
  bool take(std::string_view word) {
    if (!is(word)) return false;
    ++at_;
    return true;
  }
  std::vector<std::string> take_name() {
    std::vector<std::string> parts;
    at_ = read_dotted_name(sql_, tokens_, at_, parts);
    return parts;
  }
  // From an opening parenthesis to behind its partner.
  void skip_parentheses() {
    int depth = 0;
    for (; !done(); ++at_) {
      if (is("(")) ++depth;
      if (is(")") && --depth == 0) {
        ++at_;
        return;
      }
    }
  }

 private:
  std::string_view sql_;
  const std::vector<Token>& tokens_;
  std::size_t at_ = 0;
};

std::string upper(std::string_view text) {
  std::string raised(text);
  for (char& c : raised)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return raised;
}

std::string dotted(const std::vector<std::string>& parts) {
  std::string joined;
  for (const std::string& part : parts) joined += (joined.empty() ? "" : ".") + part;
  return joined;
}

QueryPart part_of(std::string_view sql, Span span) {
  return {std::string(sql.substr(span.begin, span.size())), span.begin, {}};
}

std::string text_or_word(std::string_view sql, const Token& token) {
  const auto spelled = sql.substr(token.span.begin, token.span.size());
  return token.kind == TokenKind::String && token.is_closed ? text::value_of_string(spelled)
                                                            : text::name_of_token(spelled);
}

void read_attach(std::string_view sql, Cursor words, Draft& draft) {
  Statement& statement = draft.statement;
  statement.kind = StatementKind::Attach;
  words.skip();
  if (words.take("OR")) words.take("REPLACE");
  words.take("DATABASE");
  if (words.take("IF")) {
    words.take("NOT");
    words.take("EXISTS");
  }
  if (!words.done() && words.token().kind == TokenKind::String) {
    statement.attach_uri = text_or_word(sql, words.token());
    words.skip();
  }
  if (words.take("AS") && !words.done()) {
    statement.alias = text_or_word(sql, words.token());
    words.skip();
  }
  for (; !words.done(); words.skip()) {
    if (!words.take("READ_ONLY")) continue;
    statement.read_only = true;
    if (words.take("=")) statement.read_only = !words.is("false");
    if (words.is("false") || words.is("0")) statement.read_only = false;
    if (words.done()) break;
  }
}

void read_extension(std::string_view sql, Cursor words, Draft& draft) {
  words.take("FORCE");
  draft.statement.kind = words.is("LOAD") ? StatementKind::Load : StatementKind::Install;
  words.skip();
  if (!words.done()) draft.statement.object_name = text::lower(text_or_word(sql, words.token()));
}

// The value of SET VARIABLE is an expression, which may hold a query.
void read_variable(std::string_view sql, Cursor words, Draft& draft) {
  draft.statement.setting = "variable";
  words.take_name();
  if (!words.take("=")) words.take("TO");
  if (words.done() || draft.statement.what != "SET") return;
  const std::uint32_t begin = words.token().span.begin;
  draft.parts.push_back({"SELECT " + std::string(sql.substr(begin, draft.statement.span.end - begin)),
                         static_cast<std::int64_t>(begin) - 7,
                         {}});
}

void read_setting(std::string_view sql, Cursor words, Draft& draft) {
  Statement& statement = draft.statement;
  statement.kind = StatementKind::Set;
  statement.what = upper(words.text());
  words.skip();
  if (statement.what != "PRAGMA") {
    if (words.take("GLOBAL"))
      statement.what += " GLOBAL";
    else if (!words.take("SESSION"))
      words.take("LOCAL");
    if (words.take("VARIABLE")) return read_variable(sql, words, draft);
    if (words.take("TIME")) {
      statement.setting = "timezone";
      return;
    }
  }
  if (!words.done()) statement.setting = text::lower(text_or_word(sql, words.token()));
}

// Behind AS; WITH [NO] DATA of a CREATE TABLE is no part of the query.
Span query_behind(const Cursor& words, const Draft& draft, std::string_view sql) {
  std::size_t last = draft.tokens.size();
  const auto word = [&](std::size_t back) {
    const Token& token = draft.tokens[draft.tokens.size() - back];
    return sql.substr(token.span.begin, token.span.size());
  };
  if (last >= words.at() + 3 && text::same_word(word(1), "DATA")) {
    if (text::same_word(word(2), "WITH"))
      last -= 2;
    else if (text::same_word(word(2), "NO") && text::same_word(word(3), "WITH"))
      last -= 3;
  }
  if (words.at() >= last) return {};
  return {draft.tokens[words.at()].span.begin, draft.tokens[last - 1].span.end};
}

// `(a, b := 1) AS expression`, `(a) AS TABLE query`, several of them separated by commas.
void read_macro_bodies(std::string_view sql, Cursor words, Draft& draft) {
  while (!words.done()) {
    words.skip_parentheses();
    if (!words.take("AS")) return;
    const bool is_table = words.take("TABLE");
    const std::size_t first = words.at();
    for (int depth = 0; !words.done(); words.skip()) {
      if (words.is("(")) ++depth;
      if (words.is(")")) --depth;
      if (depth == 0 && words.is(",")) {
        Cursor ahead = words;
        ahead.skip();
        if (!ahead.is("(")) continue;
        ahead.skip_parentheses();
        if (ahead.is("AS")) break;
      }
    }
    if (words.at() == first) return;
    const std::uint32_t begin = draft.tokens[first].span.begin;
    const std::uint32_t end = draft.tokens[words.at() - 1].span.end;
    std::string body(sql.substr(begin, end - begin));
    if (is_table)
      draft.parts.push_back({std::move(body), begin, {begin, end}});
    else
      draft.parts.push_back({"SELECT " + body, static_cast<std::int64_t>(begin) - 7, {begin, end}});
    words.take(",");
  }
}

void read_create(std::string_view sql, Cursor words, Draft& draft) {
  Statement& statement = draft.statement;
  words.skip();
  if (words.take("OR")) words.take("REPLACE");
  if (!words.take("LOCAL")) words.take("GLOBAL");
  const bool is_temporary = words.take("TEMP") || words.take("TEMPORARY");
  words.take("RECURSIVE");
  const std::string object = upper(words.text());
  statement.what = (is_temporary ? "CREATE TEMP " : "CREATE ") + object;
  words.skip();
  const bool is_macro = object == "MACRO" || object == "FUNCTION";
  if (!is_macro && (!is_temporary || (object != "TABLE" && object != "VIEW"))) return;
  if (words.take("IF")) {
    words.take("NOT");
    words.take("EXISTS");
  }
  const auto name = words.take_name();
  if (!name.empty()) statement.object_name = name.back();
  // A lasting macro is nothing for a model, but a library may write it so, and a manual script may make one.
  if (is_macro && !is_temporary) return read_macro_bodies(sql, words, draft);
  if (name.size() > 1 && !text::same_word(name.front(), "temp")) return;
  if (is_macro) {
    statement.kind = StatementKind::CreateTempMacro;
    return read_macro_bodies(sql, words, draft);
  }
  statement.kind = object == "TABLE" ? StatementKind::CreateTempTable : StatementKind::CreateTempView;
  while (!words.done() && !words.is("AS")) {
    if (words.is("("))
      words.skip_parentheses();
    else
      words.skip();
  }
  if (!words.take("AS")) return;
  statement.query = query_behind(words, draft, sql);
  if (!statement.query.empty()) draft.parts.push_back(part_of(sql, statement.query));
}

void classify(std::string_view sql, Draft& draft) {
  Statement& statement = draft.statement;
  const Cursor words(sql, draft.tokens);
  statement.what = upper(words.text());
  const auto leads = [&words](std::initializer_list<std::string_view> list) {
    return std::any_of(list.begin(), list.end(), [&words](std::string_view word) { return words.is(word); });
  };
  if (leads({"ATTACH"})) return read_attach(sql, words, draft);
  if (leads({"INSTALL", "LOAD", "FORCE"})) return read_extension(sql, words, draft);
  if (leads({"SET", "RESET", "PRAGMA"})) return read_setting(sql, words, draft);
  if (leads({"CREATE"})) return read_create(sql, words, draft);
  if (leads({"USE"})) {
    Cursor target = words;
    target.skip();
    statement.kind = StatementKind::Use;
    statement.alias = dotted(target.take_name());
    return;
  }
  if (leads({"SELECT", "VALUES", "TABLE", "PIVOT", "PIVOT_WIDER", "PIVOT_LONGER", "UNPIVOT", "FROM", "WITH", "("})) {
    draft.needs_tree_for_kind = leads({"FROM", "WITH", "("});
    statement.kind = StatementKind::Result;
    statement.query = statement.span;
    draft.parts.push_back(part_of(sql, statement.span));
  }
}

}  // namespace

std::string readable_by_parser(std::string_view sql) {
  std::string readable(sql);
  const auto tokens = text::lex(sql);
  std::size_t at = 0;
  for (const Token& token : tokens) {
    for (; at < token.span.begin; ++at)
      if (text::size_of_wide_space(sql, at) > 0)
        std::fill_n(readable.begin() + static_cast<std::ptrdiff_t>(at), text::size_of_wide_space(sql, at), ' ');
    at = token.span.end;
    if (token.kind != TokenKind::Punctuation || sql[token.span.begin] != '{') continue;
    for (const std::string_view bare : kBareTokens) {
      if (sql.substr(token.span.begin, bare.size()) != bare) continue;
      readable[token.span.begin] = '\'';
      readable[token.span.begin + bare.size() - 1] = '\'';
    }
  }
  for (; at < sql.size(); ++at)
    if (text::size_of_wide_space(sql, at) > 0)
      std::fill_n(readable.begin() + static_cast<std::ptrdiff_t>(at), text::size_of_wide_space(sql, at), ' ');
  return readable;
}

std::vector<Draft> draft_statements(std::string_view sql) {
  std::vector<Draft> drafts;
  Draft current;
  const auto finish = [&] {
    if (!current.tokens.empty()) {
      current.statement.span = {current.tokens.front().span.begin, current.tokens.back().span.end};
      classify(sql, current);
      drafts.push_back(std::move(current));
    }
    current = Draft();
  };
  for (const Token& token : text::lex_code(sql)) {
    if (token.kind == TokenKind::Semicolon)
      finish();
    else
      current.tokens.push_back(token);
  }
  finish();
  return drafts;
}

std::size_t read_dotted_name(std::string_view sql, const std::vector<Token>& tokens, std::size_t at,
                             std::vector<std::string>& parts) {
  const auto text_of = [&](std::size_t i) { return sql.substr(tokens[i].span.begin, tokens[i].span.size()); };
  if (at >= tokens.size() || !tokens[at].is_name()) return at;
  parts.push_back(text::name_of_token(text_of(at++)));
  while (at + 1 < tokens.size() && text_of(at) == "." && tokens[at + 1].is_name()) {
    parts.push_back(text::name_of_token(text_of(at + 1)));
    at += 2;
  }
  return at;
}

}  // namespace weir::parse
