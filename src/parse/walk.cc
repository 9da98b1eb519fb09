#include "parse/walk.h"

#include <simdjson.h>

#include <algorithm>
#include <array>

#include "parse/functions.h"

namespace weir::parse {
namespace {

using simdjson::dom::element;
using text::Token;
using text::TokenKind;

// DuckDB refuses to parse what is nested deeper than a thousand expressions; each is a few levels of its tree.
constexpr std::size_t kDeepest = 32768;

/// The member of an object; nothing if there is none or it is null.
std::optional<element> member(element node, std::string_view key) {
  element found;
  if (node[key].get(found) != simdjson::SUCCESS || found.is_null()) return std::nullopt;
  return found;
}

std::vector<element> elements(std::optional<element> list) {
  simdjson::dom::array array;
  if (!list || list->get(array) != simdjson::SUCCESS) return {};
  return {array.begin(), array.end()};
}

std::string text_at(element node, std::string_view key) {
  std::string_view found;
  return node[key].get(found) == simdjson::SUCCESS ? std::string(found) : std::string();
}

bool is_set(element node, std::string_view key) {
  bool found = false;
  return node[key].get(found) == simdjson::SUCCESS && found;
}

// A text constant, or a list of them; nothing for anything else.
std::optional<std::vector<std::string>> constant_texts(element node) {
  if (text_at(node, "type") == "VALUE_CONSTANT") {
    std::string_view value;
    if (node["value"]["value"].get(value) != simdjson::SUCCESS) return std::nullopt;
    return std::vector<std::string>{std::string(value)};
  }
  if (text_at(node, "function_name") != "list_value") return std::nullopt;
  std::vector<std::string> texts;
  for (const element child : elements(member(node, "children"))) {
    auto one = constant_texts(child);
    if (!one) return std::nullopt;
    texts.insert(texts.end(), one->begin(), one->end());
  }
  return texts;
}

class Walker {
 public:
  Walker(std::int64_t offset, std::string_view sql, const std::set<std::string>& hidden, Draft& draft)
      : offset_(offset), sql_(sql), hidden_(hidden), draft_(draft) {}

  bool run(element tree) {
    for (const element statement : elements(member(tree, "statements"))) visit(statement);
    return agrees_;
  }

 private:
  void visit(element node) {
    simdjson::dom::array items;
    if (node.get(items) == simdjson::SUCCESS) {
      for (const element item : items) visit(item);
      return;
    }
    if (!node.is_object()) return;
    const std::string type = text_at(node, "type");
    if (type == "BASE_TABLE") visit_table(node);
    if (type == "TABLE_FUNCTION") visit_table_function(node);
    if (type == "SHOW_REF") visit_show(node);
    if (type == "FUNCTION" && !is_set(node, "is_operator")) add_call(node, false);
    if (text_at(node, "class") == "WINDOW") add_call(node, false);
    if (type == "COLUMN_REF") visit_column(node);
    visit_scope(node, type);
  }

  // CTEs see those before them, never themselves unless recursive; the body sees them all.
  void visit_scope(element node, const std::string& type) {
    const std::size_t depth = scope_.size();
    if (const auto ctes = member(node, "cte_map")) {
      for (const element entry : elements(member(*ctes, "map"))) {
        if (const auto value = member(entry, "value")) visit(*value);
        scope_.push_back(text::lower(text_at(entry, "key")));
      }
    }
    if (type == "RECURSIVE_CTE_NODE") scope_.push_back(text::lower(text_at(node, "cte_name")));
    for (const auto& [key, value] : simdjson::dom::object(node)) {
      if (key == "cte_map" || !(value.is_object() || value.is_array())) continue;
      if (type == "TABLE_FUNCTION" && key == "function") {
        for (const char* part : {"children", "filter", "order_bys"})
          if (const auto found = member(value, part)) visit(*found);
        continue;
      }
      visit(value);
    }
    scope_.resize(depth);
  }

  bool is_hidden(const std::string& name) const {
    const std::string lowered = text::lower(name);
    return hidden_.contains(lowered) || std::find(scope_.begin(), scope_.end(), lowered) != scope_.end();
  }

  // The tokens from the tree's position on; nothing for nodes that the parser made up.
  std::optional<std::size_t> token_at(element node) const {
    std::uint64_t location = 0;
    if (node["query_location"].get(location) != simdjson::SUCCESS || location > UINT32_MAX) return std::nullopt;
    const std::int64_t at = static_cast<std::int64_t>(location) + offset_;
    if (at < 0) return std::nullopt;
    const auto token =
        std::lower_bound(draft_.tokens.begin(), draft_.tokens.end(), static_cast<std::uint32_t>(at),
                         [](const Token& candidate, std::uint32_t wanted) { return candidate.span.begin < wanted; });
    if (token == draft_.tokens.end() || token->span.begin != static_cast<std::uint32_t>(at)) return std::nullopt;
    return static_cast<std::size_t>(token - draft_.tokens.begin());
  }

  void visit_table(element node) {
    std::vector<std::string> named;
    for (const char* key : {"catalog_name", "schema_name", "table_name"})
      if (std::string name = text_at(node, key); !name.empty()) named.push_back(std::move(name));
    const auto token = token_at(node);
    if (!token) {
      agrees_ = false;
      return;
    }
    if (named.size() == 1 && is_hidden(named[0])) return;
    if (named.size() > 1 && text::same_word(named[0], "temp")) return;
    const Token& first = draft_.tokens[*token];
    if (named.size() == 1 &&
        (first.kind == TokenKind::String || (first.kind == TokenKind::QuotedName && looks_like_file(named[0])))) {
      draft_.statement.functions.push_back({"replacement_scan", "", "", true, first.span, named});
      return;
    }
    TableReference table;
    const std::size_t end = read_dotted_name(sql_, draft_.tokens, *token, table.parts);
    if (table.parts != named) {
      agrees_ = false;
      return;
    }
    table.span = {first.span.begin, draft_.tokens[end - 1].span.end};
    table.has_alias = !text_at(node, "alias").empty();
    if (*token > 0) {
      const Span word = draft_.tokens[*token - 1].span;
      table.is_table_form = text::same_word(sql_.substr(word.begin, word.size()), "TABLE");
      if (table.is_table_form) table.span.begin = word.begin;
    }
    if (const auto clause = member(node, "at_clause")) read_at(*clause, table);
    draft_.statement.tables.push_back(std::move(table));
  }

  static void read_at(element clause, TableReference& table) {
    table.has_at = true;
    std::int64_t number = 0;
    if (text_at(clause, "unit") == "VERSION" && clause["expr"]["value"]["value"].get(number) == simdjson::SUCCESS)
      table.version = number;
  }

  void add_call(element node, bool is_table_function) {
    FunctionCall call;
    call.name = text::lower(text_at(node, "function_name"));
    call.schema = text::lower(text_at(node, "schema"));
    call.catalog = text::lower(text_at(node, "catalog"));
    call.is_table_function = is_table_function;
    if (const auto token = token_at(node)) {
      std::vector<std::string> spelled;
      const std::size_t end = read_dotted_name(sql_, draft_.tokens, *token, spelled);
      call.span = {draft_.tokens[*token].span.begin, draft_.tokens[end > *token ? end - 1 : *token].span.end};
      // The parser itself puts `main` before what it rewrites, such as list_value for [1, 2].
      if (spelled.size() < 2 && call.catalog.empty() && call.schema == "main") call.schema.clear();
    } else if (call.catalog.empty() && call.schema == "main") {
      call.schema.clear();
    }
    call.files.emplace();
    if (const auto children = elements(member(node, "children")); !children.empty())
      call.files = constant_texts(children.front());
    draft_.statement.functions.push_back(std::move(call));
  }

  void visit_table_function(element node) {
    if (const auto function = member(node, "function")) add_call(*function, true);
  }

  // SHOW TABLES and the like list attachments; DESCRIBE of a query does not.
  void visit_show(element node) {
    const bool lists = !member(node, "query");
    draft_.statement.functions.push_back(
        {lists ? "show" : "describe", "", "", true, draft_.statement.span, std::vector<std::string>()});
  }

  // Some functions of time are spelled as a bare name.
  void visit_column(element node) {
    static constexpr std::array<std::string_view, 9> kBareFunctions = {
        "current_date",    "current_time",     "current_timestamp", "localtime",   "localtimestamp",
        "current_catalog", "current_database", "current_schema",    "current_user"};
    const auto names = elements(member(node, "column_names"));
    std::string_view spelled;
    if (names.size() != 1 || names.front().get(spelled) != simdjson::SUCCESS) return;
    const std::string name = text::lower(spelled);
    if (std::find(kBareFunctions.begin(), kBareFunctions.end(), name) == kBareFunctions.end()) return;
    const auto token = token_at(node);
    if (!token || draft_.tokens[*token].kind != TokenKind::Word) return;
    draft_.statement.functions.push_back({name, "", "", false, draft_.tokens[*token].span, std::vector<std::string>()});
  }

  std::int64_t offset_;
  std::string_view sql_;
  const std::set<std::string>& hidden_;
  Draft& draft_;
  std::vector<std::string> scope_;
  bool agrees_ = true;
};

// Names that a WITH clause binds: `name [(columns)] AS [[NOT] MATERIALIZED] (`.
std::set<std::string> cte_names(std::string_view sql, const std::vector<Token>& tokens) {
  const auto text_of = [&](std::size_t i) {
    return i < tokens.size() ? sql.substr(tokens[i].span.begin, tokens[i].span.size()) : std::string_view();
  };
  std::set<std::string> names;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is_name()) continue;
    std::size_t next = i + 1;
    if (text_of(next) == "(") {
      for (int depth = 0; next < tokens.size(); ++next) {
        if (text_of(next) == "(") ++depth;
        if (text_of(next) == ")" && --depth == 0) break;
      }
      ++next;
    }
    if (!text::same_word(text_of(next), "AS")) continue;
    ++next;
    if (text::same_word(text_of(next), "NOT")) ++next;
    if (text::same_word(text_of(next), "MATERIALIZED")) ++next;
    if (text_of(next) == "(") names.insert(text::lower(text::name_of_token(text_of(i))));
  }
  return names;
}

bool is_any(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::any_of(list.begin(), list.end(), [word](std::string_view item) { return text::same_word(word, item); });
}

}  // namespace

bool walk_tree(const std::string& tree, std::int64_t offset, std::string_view sql, const std::set<std::string>& hidden,
               Draft& draft) {
  // Kept for the next tree: what it holds of memory is made once a thread.
  static thread_local simdjson::dom::parser parser;
  if (parser.capacity() < tree.size() && parser.allocate(tree.size() * 2, kDeepest) != simdjson::SUCCESS) return false;
  element root;
  if (parser.parse(tree).get(root) != simdjson::SUCCESS) return false;
  return Walker(offset, sql, hidden, draft).run(root);
}

// A look at the brackets alone: reading all of it a second time was a fifth of the time of loading a new project.
std::size_t statements_in_tree(const std::string& tree) {
  std::size_t count = 0;
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const char c = tree[i];
    if (in_text && c == '\\') ++i;
    if (c == '"') in_text = !in_text;
    if (in_text) continue;
    if (c == '{' && depth == 2) ++count;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
  }
  return count;
}

void walk_tokens(std::string_view sql, const std::set<std::string>& hidden, Draft& draft) {
  const auto& tokens = draft.tokens;
  const auto text_of = [&](std::size_t i) {
    return i < tokens.size() ? sql.substr(tokens[i].span.begin, tokens[i].span.size()) : std::string_view();
  };
  const std::set<std::string> ctes = cte_names(sql, tokens);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view before = i == 0 ? std::string_view() : text_of(i - 1);
    const bool leads_table =
        is_any(before, {"FROM", "JOIN", "PIVOT", "UNPIVOT", "PIVOT_WIDER", "PIVOT_LONGER", "TABLE"});
    if (tokens[i].kind == TokenKind::String && leads_table)
      draft.statement.functions.push_back({"replacement_scan", "", "", true, tokens[i].span,
                                           std::vector<std::string>{text::value_of_string(text_of(i))}});
    if (!tokens[i].is_name() || before == ".") continue;
    std::vector<std::string> parts;
    const std::size_t end = read_dotted_name(sql, tokens, i, parts);
    const Span span{tokens[i].span.begin, tokens[end - 1].span.end};
    if (text_of(end) == "(" && !is_any(text_of(i), {"IN", "AS", "USING", "ON", "OVER", "AND", "OR", "NOT", "FROM",
                                                    "JOIN", "SELECT", "VALUES", "EXISTS", "BY", "FILTER"})) {
      // Behind a comma nothing tells a table function from another; those that are refused are refused in both places.
      FunctionCall call{text::lower(parts.back()), "", "", leads_table, span, std::nullopt};
      call.is_table_function = leads_table || is_refused_table_function(call.name);
      if (parts.size() > 1) call.schema = text::lower(parts[parts.size() - 2]);
      if (parts.size() > 2) call.catalog = text::lower(parts[parts.size() - 3]);
      if (end + 2 < tokens.size() && tokens[end + 1].kind == TokenKind::String &&
          (text_of(end + 2) == ")" || text_of(end + 2) == ","))
        call.files = std::vector<std::string>{text::value_of_string(text_of(end + 1))};
      draft.statement.functions.push_back(std::move(call));
      continue;
    }
    if (!leads_table || is_any(text_of(i), {"SELECT", "LATERAL", "SET", "IF", "ONLY", "VALUES"})) continue;
    const std::string lowered = text::lower(parts[0]);
    if (parts.size() == 1 && (hidden.contains(lowered) || ctes.contains(lowered))) continue;
    if (parts.size() > 1 && text::same_word(parts[0], "temp")) continue;
    TableReference table;
    table.span = span;
    table.parts = std::move(parts);
    table.opaque = true;
    table.has_alias = text::same_word(text_of(end), "AS");
    draft.statement.tables.push_back(std::move(table));
  }
}

void walk_names(std::string_view sql, Draft& draft) {
  const auto& tokens = draft.tokens;
  const auto text_of = [&](std::size_t i) {
    return i < tokens.size() ? sql.substr(tokens[i].span.begin, tokens[i].span.size()) : std::string_view();
  };
  Statement& statement = draft.statement;
  for (std::size_t i = 0; i < tokens.size();) {
    if (tokens[i].kind == TokenKind::Parameter) {
      const auto spelled = text_of(i);
      statement.parameters.emplace_back(std::string(spelled == "?" ? spelled : spelled.substr(1)), tokens[i].span);
    }
    std::vector<std::string> parts;
    const std::size_t end = read_dotted_name(sql, tokens, i, parts);
    if (parts.size() >= 3 && text_of(end) != "(") {
      const Span span{tokens[i].span.begin, tokens[end - 1].span.end};
      const bool is_table = std::any_of(statement.tables.begin(), statement.tables.end(),
                                        [&span](const TableReference& table) { return table.span == span; });
      if (!is_table) statement.columns.push_back({span, std::move(parts)});
    }
    i = std::max(end, i + 1);
  }
}

bool looks_like_file(std::string_view name) {
  if (name.find("://") != std::string_view::npos) return true;
  const std::string lowered = text::lower(name);
  constexpr std::array<std::string_view, 9> kEndings = {".csv",    ".tsv",    ".parquet", ".json",   ".jsonl",
                                                        ".ndjson", ".csv.gz", ".json.gz", ".csv.zst"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&lowered](std::string_view ending) { return lowered.ends_with(ending); });
}

}  // namespace weir::parse
