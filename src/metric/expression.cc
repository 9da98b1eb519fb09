// See expression.h.
//
// A text is put into two queries: `SELECT <text> AS "_"`, which is how readers use it, and `SELECT (<text>)`. What ends
// the expression early, adds a clause, a name or a second column parses in the first alone or gives another tree; what
// leaves a parenthesis (`1) OR (2`) parses in the second alone. Only one expression gives the same tree in both.
// Comments leave no trace in a tree, so they are found by the lexer, which cuts text as DuckDB's scanner does; a block
// comment that it could miss would stay a closed comment within the expression.
#include "metric/expression.h"

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "duck/sql.h"
#include "text/lexer.h"

namespace weir::metric {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kName = "_";
constexpr std::uint32_t kBareBegin = 7;     // SELECT
constexpr std::uint32_t kWrappedBegin = 8;  // SELECT (

std::string bare(const std::string& text) {
  return duck::Sql("SELECT {} AS {}", duck::Sql::verbatim(text), duck::Identifier(std::string(kName))).text();
}
std::string wrapped(const std::string& text) { return duck::Sql("SELECT ({})", duck::Sql::verbatim(text)).text(); }

Span at(std::uint32_t position, const std::string& text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  const std::uint32_t begin = std::min(position, size == 0 ? 0 : size - 1);
  // The whole token, so that the mark is seen.
  for (const text::Token& token : text::lex(text))
    if (token.span.begin <= begin && begin < token.span.end) return {begin, token.span.end};
  return {begin, std::min(begin + 1, size)};
}

/// The same key holds a text in one kind of node and an object in another.
std::string text_of(const Json& node, const char* key) {
  const auto found = node.find(key);
  return found != node.end() && found->is_string() ? found->get<std::string>() : std::string();
}
bool is_null(const Json& node, const char* key) { return !node.contains(key) || node[key].is_null(); }
bool is_empty(const Json& node, const char* key) { return !node.contains(key) || node[key].empty(); }

/// The one expression of a query that consists of nothing else; nothing for any other query.
const Json* only_expression(const Json& tree) {
  if (!tree.is_object() || !tree.contains("statements") || tree["statements"].size() != 1) return nullptr;
  const Json& node = tree["statements"][0]["node"];
  const bool is_plain = text_of(node, "type") == "SELECT_NODE" && is_empty(node, "modifiers") &&
                        is_empty(node["cte_map"], "map") && node["select_list"].size() == 1 &&
                        text_of(node["from_table"], "type") == "EMPTY" && is_null(node, "where_clause") &&
                        is_empty(node, "group_expressions") && is_empty(node, "group_sets") &&
                        text_of(node, "aggregate_handling") == "STANDARD_HANDLING" && is_null(node, "having") &&
                        is_null(node, "sample") && is_null(node, "qualify");
  return is_plain ? &node["select_list"][0] : nullptr;
}

/// The same tree wherever it stands in a text: without places.
Json without_places(Json node) {
  if (node.is_object()) {
    node.erase("query_location");
    for (auto& [key, value] : node.items()) value = without_places(std::move(value));
  } else if (node.is_array()) {
    for (Json& value : node) value = without_places(std::move(value));
  }
  return node;
}

Json without_name(Json node) {
  node = without_places(std::move(node));
  node["alias"] = "";
  return node;
}

/// Calls `visit` for every node outside of subqueries; a visit that returns false keeps away from what lies below.
template <class Visit>
void walk(const Json& node, const Visit& visit) {
  if (node.is_array()) {
    for (const Json& one : node) walk(one, visit);
    return;
  }
  if (!node.is_object()) return;
  if (text_of(node, "class") == "SUBQUERY") {
    if (node.contains("child")) walk(node["child"], visit);
    return;
  }
  if (!visit(node)) return;
  for (const auto& [key, value] : node.items()) walk(value, visit);
}

/// The place where the parser stopped, if it lies in the text: behind it stands SQL of ours.
std::optional<Span> stopped_at(const parse::Tree& tree, std::uint32_t begin, const std::string& text) {
  if (!tree.failure || !tree.failure->position || *tree.failure->position < begin) return std::nullopt;
  const std::uint32_t place = *tree.failure->position - begin;
  return place < text.size() ? std::optional(at(place, text)) : std::nullopt;
}

/// Why at least one of the two queries has no tree. The parser may take words for the beginning of our own SQL and stop
/// behind the text; then the other query knows better.
Flaw parser_flaw(const parse::Tree& as_read, const parse::Tree& alone, const std::string& text) {
  const Span whole{0, static_cast<std::uint32_t>(text.size())};
  const auto here = stopped_at(as_read, kBareBegin, text);
  const auto there = stopped_at(alone, kWrappedBegin, text);
  if (here || there) {
    const duck::Failure& failure = here ? *as_read.failure : *alone.failure;
    return {"is not one SQL expression: " + failure.message, here ? *here : *there, {}};
  }
  const auto& failure = as_read.failure ? as_read.failure : alone.failure;
  if (failure && !failure->position) return {"is not one SQL expression: " + failure->message, whole, {}};
  return {failure ? "is not one SQL expression: it ends too early" : "is no SQL expression", whole, {}};
}

Json parsed(const parse::Tree& tree) { return Json::parse(tree.json, nullptr, false); }

/// What a query that holds more than one expression holds.
std::string what_else(const Json& tree) {
  if (tree.contains("statements") && tree["statements"].size() == 1) {
    const Json& node = tree["statements"][0]["node"];
    if (node.contains("select_list") && node["select_list"].size() > 1)
      return "is " + std::to_string(node["select_list"].size()) + " expressions, not one";
  }
  return "is not one SQL expression: it goes on like a query";
}

std::optional<Flaw> several_columns(const Json& expression, const std::string& text) {
  std::optional<Flaw> flaw;
  walk(expression, [&](const Json& node) {
    const std::string kind = text_of(node, "class");
    if (text_of(node, "type") == "OPERATOR_UNPACK") return false;
    if (kind != "STAR" && kind != "PARAMETER") return true;
    const auto place = node.value("query_location", ~std::uint64_t{0});
    Span span{0, static_cast<std::uint32_t>(text.size())};
    if (place >= kBareBegin && place - kBareBegin < text.size())
      span = at(static_cast<std::uint32_t>(place) - kBareBegin, text);
    if (!flaw)
      flaw = kind == "STAR" ? Flaw{"is not one expression: a star stands for several columns", span, {}}
                            : Flaw{"holds a parameter, and a reader has no value for it", span, {}};
    return true;
  });
  return flaw;
}

bool contains(const std::vector<std::string>& sorted, const std::string& name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

}  // namespace

std::string rendered(const std::string& expression, const std::string& filter) {
  if (filter.empty()) return expression;
  return duck::Sql("{} FILTER (WHERE {})", duck::Sql::verbatim(expression), duck::Sql::verbatim(filter)).text();
}

std::optional<Flaw> lexical_flaw(const std::string& text) {
  if (text.find('\0') != std::string::npos)
    return Flaw{"holds a byte that no SQL may hold", {0, static_cast<std::uint32_t>(text.size())}, {}};
  const std::vector<text::Token> tokens = text::lex(text);
  if (tokens.empty()) return Flaw{"is empty", {}, {}};
  for (const text::Token& token : tokens) {
    if (token.is_comment())
      return Flaw{"holds a comment", token.span, "it would swallow or split the SQL of whoever reads it: take it away"};
    if (token.kind == text::TokenKind::Semicolon)
      return Flaw{"holds a semicolon", token.span, "a measure or dimension is one expression, not a statement"};
    if (!token.is_closed) return Flaw{"holds a quote that is not closed", token.span, {}};
  }
  return std::nullopt;
}

std::vector<std::string> queries_for(const std::string& expression, const std::string& filter) {
  std::vector<std::string> queries = {bare(expression), wrapped(expression)};
  if (filter.empty()) return queries;
  queries.push_back(bare(filter));
  queries.push_back(wrapped(filter));
  queries.push_back(bare(rendered(expression, filter)));
  return queries;
}

std::optional<Flaw> expression_flaw(const parse::Trees& trees, const std::string& text) {
  const parse::Tree& as_read = trees.of(bare(text));
  const parse::Tree& alone = trees.of(wrapped(text));
  if (as_read.json.empty()) return parser_flaw(as_read, alone, text);
  const Json tree = parsed(as_read);
  const Span whole{0, static_cast<std::uint32_t>(text.size())};
  const Json* expression = only_expression(tree);
  if (expression == nullptr) return Flaw{what_else(tree), whole, {}};
  if (auto flaw = several_columns(*expression, text)) return flaw;
  if (alone.json.empty()) return parser_flaw(as_read, alone, text);
  const Json alone_tree = parsed(alone);
  const Json* other = only_expression(alone_tree);
  const bool is_same =
      other != nullptr && text_of(*expression, "alias") == kName && without_name(*expression) == without_name(*other);
  if (!is_same) return Flaw{"is not one SQL expression", whole, {}};
  return std::nullopt;
}

duck::Outcome<const Functions*> functions(duck::Connection& connection) {
  static std::mutex mutex;
  static std::optional<Functions> known;
  const std::lock_guard lock(mutex);
  if (known) return &*known;
  // A macro may stand for anything, an aggregate among it.
  auto rows = connection.query(
      "SELECT lower(function_name), bool_or(function_type = 'aggregate') FROM duckdb_functions() GROUP BY 1 "
      "HAVING bool_or(function_type = 'aggregate') OR bool_and(function_type = 'scalar') ORDER BY 1");
  if (!rows) return tl::unexpected(rows.error());
  Functions made;
  for (std::size_t row = 0; row < rows->size(); ++row)
    (rows->boolean(row, 1) ? made.aggregates : made.others).push_back(rows->text(row, 0));
  // What the parser makes of count(*).
  made.aggregates.emplace_back("count_star");
  for (auto* names : {&made.aggregates, &made.others}) std::sort(names->begin(), names->end());
  known = std::move(made);
  return &*known;
}

std::optional<Flaw> filter_flaw(const parse::Trees& trees, const std::string& expression, const std::string& filter,
                                const Functions& functions) {
  const Json tree = parsed(trees.of(bare(expression)));
  const Json& alone = *only_expression(tree);
  const Span whole{0, static_cast<std::uint32_t>(expression.size())};
  const std::string kind = text_of(alone, "class");
  if (kind == "WINDOW") return Flaw{"has a filter, and is a window function", whole, "write the filter into the call"};
  if (kind != "FUNCTION" || alone.value("is_operator", false))
    return Flaw{"has a filter, and is more than one aggregate call", whole,
                "the filter would reach a part of it alone: write FILTER (WHERE …) behind each aggregate instead"};
  if (!is_null(alone, "filter"))
    return Flaw{"has a filter, and a FILTER of its own", whole, "write both predicates behind `where`, joined by AND"};
  const std::string name = text::lower(text_of(alone, "function_name"));
  if (contains(functions.others, name)) return Flaw{"has a filter, and `" + name + "` is no aggregate", whole, {}};
  // As readers will write it: the filter must be the call's, and the call must be the whole.
  const parse::Tree& together = trees.of(bare(rendered(expression, filter)));
  const Json both = together.json.empty() ? Json() : parsed(together);
  const Json* call = only_expression(both);
  if (call == nullptr)
    return Flaw{"has a filter, and cannot take it as it is written", whole,
                "a filtered measure is one bare call: `sum(x)`, without parentheses around it"};
  const Json filter_tree = parsed(trees.of(wrapped(filter)));
  Json expected = without_name(alone);
  expected["filter"] = without_name(*only_expression(filter_tree));
  if (text_of(*call, "alias") != kName || without_name(*call) != expected)
    return Flaw{"has a filter, and cannot take it as it is written", whole, {}};
  return std::nullopt;
}

std::vector<ColumnUse> columns_of(const parse::Trees& trees, const std::string& text) {
  std::vector<ColumnUse> uses;
  std::set<std::string> bound_names;  // parameters of lambdas, which are no columns
  const Json tree = parsed(trees.of(bare(text)));
  const Json& expression = *only_expression(tree);
  walk(expression, [&](const Json& node) {
    if (text_of(node, "class") != "LAMBDA" || !node.contains("lhs")) return true;
    walk(node["lhs"], [&](const Json& name) {
      if (text_of(name, "class") == "COLUMN_REF" && name["column_names"].size() == 1)
        bound_names.insert(text::lower(name["column_names"][0].get<std::string>()));
      return true;
    });
    return true;
  });
  walk(expression, [&](const Json& node) {
    if (text_of(node, "class") != "COLUMN_REF") return true;
    ColumnUse use;
    for (const Json& part : node["column_names"]) use.parts.push_back(part.get<std::string>());
    if (use.parts.empty() || bound_names.contains(text::lower(use.parts.front()))) return true;
    const auto place = node.value("query_location", ~std::uint64_t{0});
    use.span = place >= kBareBegin && place - kBareBegin < text.size()
                   ? at(static_cast<std::uint32_t>(place) - kBareBegin, text)
                   : Span{0, static_cast<std::uint32_t>(text.size())};
    uses.push_back(std::move(use));
    return true;
  });
  return uses;
}

bool has_window(const parse::Trees& trees, const std::string& text) {
  bool found = false;
  const Json tree = parsed(trees.of(bare(text)));
  walk(*only_expression(tree), [&](const Json& node) {
    found = found || text_of(node, "class") == "WINDOW";
    return true;
  });
  return found;
}

bool has_aggregate(const parse::Trees& trees, const std::string& text, const Functions& functions) {
  bool found = false;
  const Json tree = parsed(trees.of(bare(text)));
  walk(*only_expression(tree), [&](const Json& node) {
    found = found || (text_of(node, "class") == "FUNCTION" &&
                      contains(functions.aggregates, text::lower(text_of(node, "function_name"))));
    return true;
  });
  return found;
}

}  // namespace weir::metric
