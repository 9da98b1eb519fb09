#include "plan/query_tree.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/lexer.h"

namespace weir::plan::tree {
namespace {

/// Objects and lists within each other; the walks call themselves.
constexpr int kDeepest = 3000;

bool is_too_deep(const std::string& json) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
      continue;
    }
    if (c == '"') in_text = true;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > kDeepest) return true;
  }
  return false;
}

/// Members that hold names of tables and columns, which compare without case.
bool holds_names(std::string_view key) {
  static const std::set<std::string_view> keys = {
      "column_names", "table_name",        "schema_name",   "catalog_name", "alias",       "using_columns",
      "exclude_list", "column_name_alias", "relation_name", "aliases",      "key",         "ctename",
      "rename_list",  "identifier",        "unpivot_names", "pivot_enum",   "column_alias"};
  return keys.contains(key);
}

void fold(Json& value) {
  if (value.is_string())
    value = text::lower(value.get_ref<const std::string&>());
  else if (value.is_array())
    for (Json& one : value)
      if (one.is_string()) fold(one);
}

void make_comparable(Json& part) {
  if (part.is_object()) {
    part.erase("query_location");
    for (auto& [key, value] : part.items()) {
      if (holds_names(key)) fold(value);
      make_comparable(value);
    }
  } else if (part.is_array()) {
    for (Json& one : part) make_comparable(one);
  }
}

}  // namespace

std::optional<Json> document(const std::string& answer) {
  if (answer.empty() || is_too_deep(answer)) return std::nullopt;
  Json whole = Json::parse(answer, nullptr, false);
  if (!whole.is_object()) return std::nullopt;
  const auto statements = whole.find("statements");
  if (statements == whole.end() || statements->size() != 1) return std::nullopt;
  const auto node = statements->front().find("node");
  if (node == statements->front().end() || !node->is_object()) return std::nullopt;
  return whole;
}

std::optional<Json> comparable(const std::string& answer) {
  auto whole = document(answer);
  if (!whole) return std::nullopt;
  Json root = std::move((*whole)["statements"][0]["node"]);
  make_comparable(root);
  return root;
}

void walk(const Json& part, const std::function<bool(const Json&)>& visit) {
  if (part.is_object()) {
    if (!visit(part)) return;
    for (const auto& [key, value] : part.items()) walk(value, visit);
  } else if (part.is_array()) {
    for (const Json& one : part) walk(one, visit);
  }
}

std::string_view text(const Json& object, std::string_view key) {
  const Json& value = member(object, key);
  return value.is_string() ? std::string_view(value.get_ref<const std::string&>()) : std::string_view();
}

const Json& member(const Json& object, std::string_view key) {
  static const Json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(key);
  return found == object.end() ? nothing : *found;
}

bool is_class(const Json& object, std::string_view wanted) { return text(object, "class") == wanted; }
bool is_type(const Json& object, std::string_view wanted) { return text(object, "type") == wanted; }

Names relations_in(const Json& node) {
  Names names;
  walk(node, [&names](const Json& object) {
    const std::string_view type = text(object, "type");
    if (type == "BASE_TABLE") names.emplace(text(object, "table_name"));
    if (!object.contains("class")) names.emplace(text(object, "alias"));
    for (const Json& cte : member(member(object, "cte_map"), "map")) names.emplace(text(cte, "key"));
    // A table function without alias is named as the function.
    if (type == "TABLE_FUNCTION") names.emplace(text(member(object, "function"), "function_name"));
    return true;
  });
  names.erase("");
  return names;
}

Names tables_in(const Json& node) {
  Names names;
  walk(node, [&names](const Json& object) {
    if (is_type(object, "BASE_TABLE")) names.emplace(text(object, "table_name"));
    return true;
  });
  return names;
}

bool equal_but(const Json& one, const Json& other, const std::set<std::string_view>& keys) {
  const auto holds = [&keys](const Json& all, const Json& in) {
    for (const auto& [key, value] : all.items())
      if (!keys.contains(key) && member(in, key) != value) return false;
    return true;
  };
  return holds(one, other) && holds(other, one);
}

std::vector<Item> items_of(const Json& select) {
  std::vector<Item> items;
  for (const Json& one : member(select, "select_list")) {
    Item item{.name = std::string(text(one, "alias")), .expression = &one};
    item.is_star = is_class(one, "STAR");
    if (item.name.empty() && is_class(one, "COLUMN_REF"))
      if (const Json& names = member(one, "column_names"); !names.empty() && names.back().is_string())
        item.name = names.back().get<std::string>();
    // unnest(struct) and the like may give several columns, so no name is theirs alone; COLUMNS(…) within an
    // expression repeats it.
    walk(one, [&item](const Json& object) {
      if (is_class(object, "STAR")) item.is_star = true;
      return !is_class(object, "SUBQUERY");
    });
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace weir::plan::tree
