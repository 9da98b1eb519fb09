#include "ops/query_words.h"

#include <algorithm>
#include <array>
#include <vector>

#include "text/lexer.h"

namespace weir::ops {
namespace {

using text::Token;
using text::TokenKind;

/// The tokens of a single statement, without the terminator; empty if there are several.
std::vector<Token> single_statement(std::string_view sql) {
  std::vector<Token> tokens = text::lex_code(sql);
  const auto is_end = [&](const Token& token) {
    return sql.substr(token.span.begin, token.span.size()) == ";" && token.kind != TokenKind::String;
  };
  while (!tokens.empty() && is_end(tokens.back())) tokens.pop_back();
  if (std::any_of(tokens.begin(), tokens.end(), is_end)) return {};
  return tokens;
}

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(), [word](std::string_view one) { return text::same_word(one, word); });
}

constexpr std::array<std::string_view, 3> kDescribing = {"DESCRIBE", "DESC", "SHOW"};
constexpr std::array<std::string_view, 8> kQueryWords = {"SELECT", "WITH",  "FROM",    "VALUES",
                                                         "TABLE",  "PIVOT", "UNPIVOT", "("};

}  // namespace

Span QueryText::typed(Span span) const {
  const auto moved = [this](std::uint32_t at) { return at < same_from ? 0 : at - same_from + typed_from; };
  return {moved(span.begin), std::max(moved(span.begin), moved(span.end))};
}

QueryText as_query(const std::string& typed) {
  const std::vector<Token> tokens = single_statement(typed);
  if (tokens.size() < 2) return {typed};
  const auto word = [&](std::size_t i) {
    return std::string_view(typed).substr(tokens[i].span.begin, tokens[i].span.size());
  };
  const bool summarizes = text::same_word(word(0), "SUMMARIZE");
  if (!summarizes && !is_one_of(word(0), kDescribing)) return {typed};
  // `DESCRIBE TABLE t` is what `DESCRIBE t` is.
  const std::size_t first = text::same_word(word(1), "TABLE") && tokens.size() > 2 ? 2 : 1;
  std::string before = summarizes ? "FROM (SUMMARIZE " : "FROM (DESCRIBE ";
  // A name behind FROM may be spliced and given an alias.
  if (first == 2 || !is_one_of(word(1), kQueryWords)) before += "FROM ";
  const std::uint32_t begin = tokens[first].span.begin;
  return {before + typed.substr(begin, tokens.back().span.end - begin) + ")", static_cast<std::uint32_t>(before.size()),
          begin};
}

std::optional<duck::Sql> listing(const std::string& typed, const lake::Lakes& lakes, const std::string& default_lake) {
  const std::vector<Token> tokens = single_statement(typed);
  std::vector<std::string> words;
  for (const Token& token : tokens)
    words.push_back(
        text::lower(text::name_of_token(std::string_view(typed).substr(token.span.begin, token.span.size()))));
  if (words.size() < 2 || words[0] != "show") return std::nullopt;
  std::vector<duck::Sql> names;
  for (const lake::Lake& lake : lakes.all())
    names.emplace_back("({}, {})", duck::Literal(lake.reader()), duck::Literal(lake.name()));
  const duck::Sql lake_names("(VALUES {}) AS lakes(reader, lake)", duck::Sql::join(names, ", "));
  const duck::Sql tables(
      "SELECT lake AS database, table_schema AS schema, table_name AS name FROM information_schema.tables JOIN {} ON "
      "reader = table_catalog",
      lake_names);
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  if (rest == std::vector<std::string>{"databases"})
    return duck::Sql("SELECT lake AS database_name FROM {} ORDER BY 1", lake_names);
  if (rest == std::vector<std::string>{"schemas"})
    return duck::Sql(
        "SELECT lake AS database_name, schema_name FROM information_schema.schemata JOIN {} ON reader = catalog_name "
        "ORDER BY ALL",
        lake_names);
  if (rest == std::vector<std::string>{"all", "tables"}) return duck::Sql("{} ORDER BY ALL", tables);
  if (rest.front() != "tables") return std::nullopt;
  std::string lake = default_lake;
  std::string schema = "main";
  if (rest.size() == 3 && rest[1] == "from") {
    const bool is_lake = std::any_of(lakes.all().begin(), lakes.all().end(),
                                     [&rest](const lake::Lake& one) { return text::same_word(one.name(), rest[2]); });
    (is_lake ? lake : schema) = rest[2];
  } else if (rest.size() == 5 && rest[1] == "from" && rest[3] == ".") {
    lake = rest[2];
    schema = rest[4];
  } else if (rest.size() != 1) {
    return std::nullopt;
  }
  return duck::Sql("SELECT name FROM ({}) WHERE lower(database) = lower({}) AND lower(schema) = lower({}) ORDER BY 1",
                   tables, duck::Literal(lake), duck::Literal(schema));
}

}  // namespace weir::ops
