// Three voices are heard: the lexer cuts, DuckDB's parser understands, and where they count differently weir stops
// instead of guessing.
#include "parse/script.h"

#include <algorithm>
#include <set>

#include "parse/statements.h"
#include "parse/trees.h"
#include "parse/walk.h"
#include "text/lexer.h"

namespace weir::parse {
namespace {

// Beyond this many, lines that begin with // are blanked all at once.
constexpr int kSingleBlanks = 16;

// DuckDB counts the place of a syntax error in characters, all other places in bytes (measured on 1.5.5).
std::uint32_t byte_of_character(std::string_view text, std::uint32_t character) {
  std::uint32_t at = 0;
  for (; at < text.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U;
    if (begins && character-- == 0) break;
  }
  return at;
}

/// Files that were written for other tools end in a bare syntax error; the hint names what weir writes in place of
/// that.
std::string hint_for_other_tools(std::string_view sql) {
  const std::vector<text::Token> tokens = text::lex_code(sql);
  const auto word = [&](std::size_t i) {
    return i < tokens.size() ? sql.substr(tokens[i].span.begin, tokens[i].span.size()) : std::string_view();
  };
  if (text::same_word(word(0), "MODEL") && word(1) == "(")
    return "weir has no MODEL block: the table and its options stand in a header of comments, such as "
           "`-- materialize ducklake://main/orders merge key=id`";
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const bool is_adjacent = tokens[i].span.end == tokens[i + 1].span.begin;
    if (word(i) != "{" || !is_adjacent || (word(i + 1) != "{" && word(i + 1) != "%")) continue;
    if (text::same_word(word(i + 2), "ref") || text::same_word(word(i + 2), "source"))
      return "weir fills in no templates: read the table by its name, such as `FROM orders`; the order of models "
             "follows from that";
    if (text::same_word(word(i + 2), "config"))
      return "weir fills in no templates: options stand in a header of comments, such as "
             "`-- materialize ducklake://main/orders merge key=id`";
    return "weir fills in no templates: values come in as arguments, `-- $name (type)` in the header and $name in "
           "the query, and repeated SQL as macros";
  }
  return {};
}

/// `sent` is the text that DuckDB read; `offset` turns its positions into those of `sql`.
Diagnostic syntax_error(const duck::Failure& failure, std::string_view sent, std::int64_t offset, std::string_view sql,
                        const std::string& path) {
  Diagnostic found{.code = Code::W0201, .message = failure.message, .path = path, .hint = hint_for_other_tools(sql)};
  if (!failure.position) return found;
  const auto size = static_cast<std::int64_t>(sql.size());
  const std::int64_t at = std::clamp<std::int64_t>(byte_of_character(sent, *failure.position) + offset, 0, size);
  found.span = {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(std::min(at + 1, size))};
  return found;
}

Diagnostic disagreement(const std::string& what, Span span, const std::string& path) {
  return {.code = Code::W0299,
          .message = what,
          .path = path,
          .span = span,
          .hint = "this is a defect of weir: please report the statement"};
}

// The place where a text ends that a string, name or comment was not closed in.
std::optional<Diagnostic> unclosed(std::string_view sql, const std::string& path) {
  for (const text::Token& token : text::lex(sql)) {
    if (token.is_closed) continue;
    std::string what = "this string is not closed";
    if (token.kind == text::TokenKind::QuotedName) what = "this quoted name is not closed";
    if (token.kind == text::TokenKind::BlockComment) what = "this comment is not closed";
    return Diagnostic{
        .code = Code::W0201, .message = what, .path = path, .span = {token.span.begin, token.span.begin + 1}};
  }
  return std::nullopt;
}

// Parses every part; a syntax error is returned as a Diagnostic with its place.
Result<void> parse_parts(Trees& trees, std::vector<Draft>& drafts, duck::Connection& connection, std::string_view sql,
                         const std::string& path) {
  std::vector<std::string> queries;
  for (const Draft& draft : drafts)
    for (const QueryPart& part : draft.parts) queries.push_back(part.text);
  if (auto done = trees.fetch(connection, queries); !done) return fail(syntax_error(done.error(), {}, 0, sql, path));
  for (const Draft& draft : drafts)
    for (const QueryPart& part : draft.parts)
      if (const Tree& tree = trees.of(part.text); tree.failure)
        return fail(syntax_error(*tree.failure, part.text, part.offset, sql, path));
  return {};
}

// DuckDB counts the statements that have no tree. PRAGMA and IMPORT are left out, since counting them would already run
// them; so is what DuckDB expands into several (a PIVOT without IN).
Result<void> check_count(const Trees& trees, const std::vector<Draft>& drafts, duck::Connection& connection,
                         std::string_view sql, const std::string& path) {
  std::string counted(sql.size(), ' ');
  std::size_t expected = 0;
  for (const Draft& draft : drafts) {
    const Statement& statement = draft.statement;
    if (statement.what == "PRAGMA" || statement.what == "IMPORT") continue;
    const bool is_query = statement.kind == StatementKind::Result && draft.parts.size() == 1;
    if (is_query && !trees.of(draft.parts[0].text).is_opaque) {
      if (statements_in_tree(trees.of(draft.parts[0].text).json) != 1)
        return fail(disagreement("DuckDB reads several statements here where weir sees one", statement.span, path));
      continue;
    }
    const bool expands = std::any_of(draft.parts.begin(), draft.parts.end(),
                                     [&trees](const QueryPart& part) { return trees.of(part.text).is_opaque; });
    if (expands) continue;
    std::copy_n(sql.begin() + statement.span.begin, statement.span.size(), counted.begin() + statement.span.begin);
    if (statement.span.end < counted.size()) counted[statement.span.end] = ';';
    ++expected;
  }
  if (expected == 0) return {};
  const auto count = connection.count_statements(duck::Sql::verbatim(counted));
  if (!count) return fail(syntax_error(count.error(), counted, 0, sql, path));
  if (*count != expected)
    return fail(disagreement(
        "DuckDB reads " + std::to_string(*count) + " statements here where weir sees " + std::to_string(expected), {},
        path));
  return {};
}

// WITH, FROM and a parenthesis may lead a statement that writes; without a tree its verbs decide.
bool writes(std::string_view sql, const Draft& draft) {
  int depth = 0;
  for (const text::Token& token : draft.tokens) {
    const auto word = sql.substr(token.span.begin, token.span.size());
    if (word == "(") ++depth;
    if (word == ")") --depth;
    if (depth != 0 || token.kind != text::TokenKind::Word) continue;
    for (const std::string_view verb : {"INSERT", "UPDATE", "DELETE", "MERGE"})
      if (text::same_word(word, verb)) return true;
  }
  return false;
}

std::string normalised(std::string_view sql, const Draft& draft) {
  std::string text;
  for (const text::Token& token : draft.tokens) {
    if (!text.empty()) text += ' ';
    text += sql.substr(token.span.begin, token.span.size());
  }
  return text;
}

// The name and forms of a macro, whatever words make it: `f (a) AS <body>, (a, b) AS <body>`.
std::string canonical_macro(const Trees& trees, std::string_view sql, const Draft& draft) {
  std::string text = "MACRO " + text::lower(draft.statement.object_name);
  const auto word = [&](const text::Token& token) { return sql.substr(token.span.begin, token.span.size()); };
  auto token =
      std::find_if(draft.tokens.begin(), draft.tokens.end(), [&](const auto& one) { return word(one) == "("; });
  for (const QueryPart& part : draft.parts) {
    for (; token != draft.tokens.end() && token->span.begin < part.body.begin; ++token)
      text += ' ' + (token->kind == text::TokenKind::Word ? text::lower(word(*token)) : std::string(word(*token)));
    text += ' ' + trees.of(part.text).canonical;
    while (token != draft.tokens.end() && token->span.begin < part.body.end) ++token;
  }
  return text;
}

Result<void> finish(const Trees& trees, const std::set<std::string>& hidden, std::string_view sql, Draft& draft,
                    const std::string& path) {
  Statement& statement = draft.statement;
  bool has_tree = !draft.parts.empty();
  for (const QueryPart& part : draft.parts) has_tree = has_tree && !trees.of(part.text).is_opaque;
  if (!has_tree && draft.needs_tree_for_kind && writes(sql, draft)) {
    statement.kind = StatementKind::Other;
    statement.query = {};
  }
  if (has_tree) {
    for (const QueryPart& part : draft.parts)
      if (!walk_tree(trees.of(part.text).json, part.offset, sql, hidden, draft))
        return fail(
            disagreement("the places of this statement's tables are not where DuckDB says", statement.span, path));
  } else {
    walk_tokens(sql, hidden, draft);
  }
  const bool is_query = statement.kind == StatementKind::Result;
  statement.canonical = has_tree && is_query ? trees.of(draft.parts[0].text).canonical : normalised(sql, draft);
  if (has_tree && !is_query && draft.parts.size() == 1 && !statement.query.empty())
    statement.canonical =
        statement.what + " " + statement.object_name + " AS " + trees.of(draft.parts[0].text).canonical;
  if (has_tree && !draft.parts.front().body.empty()) statement.canonical = canonical_macro(trees, sql, draft);
  walk_names(sql, draft);
  const auto by_place = [](const auto& a, const auto& b) { return a.span.begin < b.span.begin; };
  std::sort(statement.tables.begin(), statement.tables.end(), by_place);
  std::stable_sort(statement.functions.begin(), statement.functions.end(), by_place);
  return {};
}

Result<Script> parse_once(Trees& trees, duck::Connection& connection, std::string_view sql, const std::string& path) {
  if (auto open = unclosed(sql, path)) return fail(std::move(*open));
  std::vector<Draft> drafts = draft_statements(sql);
  WEIR_CHECK(parse_parts(trees, drafts, connection, sql, path));
  WEIR_CHECK(check_count(trees, drafts, connection, sql, path));
  Script script;
  std::set<std::string> hidden;
  for (Draft& draft : drafts) {
    WEIR_CHECK(finish(trees, hidden, sql, draft, path));
    const StatementKind kind = draft.statement.kind;
    if (kind == StatementKind::CreateTempTable || kind == StatementKind::CreateTempView)
      hidden.insert(text::lower(draft.statement.object_name));
    script.statements.push_back(std::move(draft.statement));
  }
  return script;
}

// Begins of lines whose first non-blank characters are `//`, outside strings and comments.
std::vector<Span> slash_lines(std::string_view sql) {
  std::vector<Span> lines;
  for (const text::Token& token : text::lex(sql)) {
    if (token.kind != text::TokenKind::Operator || !sql.substr(token.span.begin).starts_with("//")) continue;
    const auto line = sql.substr(0, token.span.begin).find_last_of("\r\n");
    const std::size_t begin = line == std::string_view::npos ? 0 : line + 1;
    if (sql.substr(begin, token.span.begin - begin).find_first_not_of(" \t") != std::string_view::npos) continue;
    const auto end = sql.find_first_of("\r\n", token.span.begin);
    lines.push_back({token.span.begin, static_cast<std::uint32_t>(end == std::string_view::npos ? sql.size() : end)});
  }
  return lines;
}

void blank(std::string& text, Span span) { std::fill_n(text.begin() + span.begin, span.size(), ' '); }

}  // namespace

Result<Script> parse_script(duck::Connection& connection, std::string_view sql, const std::string& path) {
  Trees trees;
  return parse_script(trees, connection, sql, path);
}

Result<Script> parse_script(Trees& trees, duck::Connection& connection, std::string_view sql, const std::string& path) {
  std::string readable = readable_by_parser(sql);
  auto script = parse_once(trees, connection, readable, path);
  // `//` divides, unless a line begins with it and DuckDB cannot read it so: then the last such line before the error
  // is a comment.
  for (int attempt = 0; !script.has_value() && attempt <= kSingleBlanks; ++attempt) {
    const Diagnostic& found = script.error().front();
    const auto lines = slash_lines(readable);
    if (found.code != Code::W0201 || lines.empty()) break;
    const auto after =
        std::find_if(lines.begin(), lines.end(), [&found](Span line) { return line.begin > found.span.begin; });
    if (after == lines.begin()) break;
    if (attempt == kSingleBlanks)
      for (const Span line : lines) blank(readable, line);
    else
      blank(readable, *(after - 1));
    script = parse_once(trees, connection, readable, path);
  }
  return script;
}

std::vector<std::string> queries_of(std::string_view sql) {
  std::vector<std::string> queries;
  for (Draft& draft : draft_statements(readable_by_parser(sql)))
    for (QueryPart& part : draft.parts) queries.push_back(std::move(part.text));
  return queries;
}

}  // namespace weir::parse
