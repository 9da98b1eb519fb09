#include "plan/choices.h"

#include <nlohmann/json.hpp>

#include <algorithm>

#include "plan/query_tree.h"

namespace weir::plan {
namespace {

using tree::is_class;
using tree::Item;
using tree::Json;
using tree::member;
using tree::text;

/// Aggregates and windows whose result depends on an order of rows that the query need not settle.
bool depends_on_order(std::string_view name) {
  static const std::set<std::string_view> names = {"first",
                                                   "last",
                                                   "any_value",
                                                   "arbitrary",
                                                   "arg_min",
                                                   "arg_max",
                                                   "argmin",
                                                   "argmax",
                                                   "min_by",
                                                   "max_by",
                                                   "arg_min_null",
                                                   "arg_max_null",
                                                   "arg_min_nulls_last",
                                                   "arg_max_nulls_last",
                                                   "list",
                                                   "array_agg",
                                                   "string_agg",
                                                   "group_concat",
                                                   "listagg",
                                                   "mode",
                                                   "approx_quantile",
                                                   "reservoir_quantile",
                                                   "approx_top_k",
                                                   "row_number",
                                                   "ntile",
                                                   "lag",
                                                   "lead",
                                                   "first_value",
                                                   "last_value",
                                                   "nth_value",
                                                   "fill",
                                                   "rowid"};
  return names.contains(name);
}

/// Whether an object of a tree may choose among rows or change by itself; in words.
std::optional<std::string> choice_at(const Json& object, const parse::FunctionKinds& functions,
                                     const std::map<std::string, MacroFacts>& macros) {
  const std::string_view type = text(object, "type");
  if (type.starts_with("LIMIT") && object.contains("limit")) return "its LIMIT takes some of the rows";
  if (type == "LIMIT_MODIFIER") return "its OFFSET leaves some of the rows out";
  if (type == "DISTINCT_MODIFIER" && !member(object, "distinct_on_targets").empty())
    return "its DISTINCT ON takes one row of several";
  if (!member(object, "sample").is_null()) return "it takes a sample";
  const std::string_view kind = text(object, "ref_type");
  if (kind == "POSITIONAL" || kind == "ASOF") return "its join takes one row of several";
  const auto named = [&](std::string_view name) -> std::optional<std::string> {
    if (functions.volatiles.contains(std::string(name))) return "`" + std::string(name) + "` changes by itself";
    return std::nullopt;
  };
  if (is_class(object, "COLUMN_REF")) {
    const Json& names = member(object, "column_names");
    if (names.size() == 1 && names[0].is_string()) return named(names[0].get_ref<const std::string&>());
    return std::nullopt;
  }
  if (!is_class(object, "FUNCTION") && !is_class(object, "WINDOW")) return std::nullopt;
  const std::string name(text(object, "function_name"));
  if (const auto macro = macros.find(name); macro != macros.end()) {
    for (const std::string& call : macro->second.calls)
      if (auto why = named(call)) return why;
    const bool chooses = macro->second.may_choose ||
                         std::any_of(macro->second.calls.begin(), macro->second.calls.end(), depends_on_order);
    if (chooses) return "`" + name + "` may go by the order of rows";
  }
  if (depends_on_order(name)) return "`" + name + "` goes by an order in which rows may be equal";
  for (const char* end : {"start", "end"})
    if (is_class(object, "WINDOW") && text(object, end).ends_with("_ROWS"))
      return "its window counts rows in an order in which they may be equal";
  return named(name);
}

}  // namespace

Choices choices_of(const std::string& answer, const parse::FunctionKinds& functions,
                   const std::map<std::string, MacroFacts>& macros,
                   const std::optional<std::vector<std::string>>& names) {
  const auto root = tree::comparable(answer);
  Choices choices;
  if (!root) {
    choices.in_rows = true;
    choices.why = "DuckDB gives no tree of its query";
    return choices;
  }
  const auto find = [&](const Json& part) {
    std::optional<std::string> found;
    tree::walk(part, [&](const Json& object) {
      if (!found) found = choice_at(object, functions, macros);
      return !found;
    });
    return found;
  };
  Json rest = *root;
  rest.erase("select_list");
  if (auto why = find(rest)) {
    choices.in_rows = true;
    choices.why = std::move(*why);
    return choices;
  }
  const std::vector<Item> items = tree::items_of(*root);
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto why = find(*items[i].expression);
    if (!why) continue;
    const bool is_named = names && names->size() == items.size();
    const std::string name = is_named ? (*names)[i] : items[i].name;
    choices.why = std::move(*why);
    if (name.empty() || items[i].is_star) choices.in_rows = true;
    choices.columns.insert(name);
  }
  return choices;
}

}  // namespace weir::plan
