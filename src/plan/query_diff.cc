#include "plan/query_diff.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "plan/query_tree.h"

namespace weir::plan {
namespace {

using tree::is_class;
using tree::is_type;
using tree::Item;
using tree::Json;
using tree::member;
using tree::Names;
using tree::text;
using OutputNames = std::optional<std::vector<std::string>>;

QueryDiff everything(std::string why) { return {.is_everything = true, .why = std::move(why)}; }

bool meet(const Names& one, const Names& other) {
  return std::any_of(one.begin(), one.end(), [&other](const std::string& name) { return other.contains(name); });
}

/// The words of a clause for a reason.
std::string words_of(std::string_view key) {
  if (key == "where_clause") return "its WHERE clause";
  if (key == "having") return "its HAVING clause";
  if (key == "qualify") return "its QUALIFY clause";
  if (key == "sample") return "its sample";
  if (key == "setop_type" || key == "setop_all") return "its set operation";
  return "its grouping";
}

/// What the lists of two SELECTs say of the columns.
class Columns {
 public:
  struct Entry {
    const Item* before = nullptr;
    const Item* after = nullptr;
    bool differs() const {
      return before == nullptr || after == nullptr ||
             !tree::equal_but(*before->expression, *after->expression, {"alias"});
    }
  };

  /// Nothing if the columns cannot be told apart by name.
  static std::optional<Columns> match(const Json& before, const Json& after, const OutputNames& before_names,
                                      const OutputNames& after_names) {
    Columns columns;
    columns.before_ = tree::items_of(before);
    columns.after_ = tree::items_of(after);
    if (!columns.add(columns.before_, before_names, &Entry::before)) return std::nullopt;
    if (!columns.add(columns.after_, after_names, &Entry::after)) return std::nullopt;
    return columns.has_same_unnamed() ? std::optional(std::move(columns)) : std::nullopt;
  }
  Columns(Columns&&) = default;

  const std::map<std::string, Entry>& named() const { return named_; }
  /// Of the new side: stars, and those whose name is not known.
  const std::vector<const Item*>& unnamed() const { return unnamed_after_; }

 private:
  Columns() = default;
  bool add(const std::vector<Item>& items, const OutputNames& names, const Item* Entry::*side) {
    const bool has_star = std::any_of(items.begin(), items.end(), [](const Item& one) { return one.is_star; });
    const bool use_names = names && !has_star && names->size() == items.size();
    auto& unnamed = side == &Entry::before ? unnamed_before_ : unnamed_after_;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::string& name = use_names ? (*names)[i] : items[i].name;
      if (items[i].is_star || name.empty()) {
        unnamed.push_back(&items[i]);
        continue;
      }
      Entry& entry = named_[name];
      if (entry.*side != nullptr) return false;
      entry.*side = &items[i];
    }
    return true;
  }
  bool has_same_unnamed() const {
    if (unnamed_before_.size() != unnamed_after_.size()) return false;
    for (std::size_t i = 0; i < unnamed_after_.size(); ++i)
      if (*unnamed_before_[i]->expression != *unnamed_after_[i]->expression) return false;
    return true;
  }

  std::vector<Item> before_;
  std::vector<Item> after_;
  std::map<std::string, Entry> named_;
  std::vector<const Item*> unnamed_before_;
  std::vector<const Item*> unnamed_after_;
};

class Differ {
 public:
  explicit Differ(const QueryDiffInput& input) : input_(input) {}

  QueryDiff run(const Json& before, const Json& after) {
    relations_ = tree::relations_in(before);
    relations_.merge(tree::relations_in(after));
    return node(before, after, true, input_.before_names, input_.after_names);
  }

 private:
  // Of CTEs and subqueries, whatever scope they are in.
  Names dirty() const {
    Names all = changed_;
    all.insert(added_.begin(), added_.end());
    return all;
  }
  bool is_dirty() const { return !changed_.empty() || !added_.empty(); }
  /// Takes the columns of a CTE or subquery in. False if that cannot be followed by name.
  bool take(const QueryDiff& inner, bool is_renamed) {
    if (!inner.is_clean() && is_renamed) return false;
    changed_.insert(inner.changed.begin(), inner.changed.end());
    changed_.insert(inner.gone.begin(), inner.gone.end());
    added_.insert(inner.added.begin(), inner.added.end());
    return true;
  }

  bool mentions(const Json& part, const Names& own, bool star_is_output = false) const;
  bool mentions_here(const Json& object, const Names& names, const Names& own, bool star_is_output) const;
  bool calls(const Json& object, const Names& own) const;
  Names called_by(const Json& part) const;
  bool is_known(const Json& part) const;
  bool aggregates(const Json& part) const;

  QueryDiff node(const Json& before, const Json& after, bool is_root, const OutputNames& before_names,
                 const OutputNames& after_names);
  QueryDiff select(const Json& before, const Json& after, bool is_root, const OutputNames& before_names,
                   const OutputNames& after_names);
  QueryDiff set_operation(const Json& before, const Json& after, bool is_root, const OutputNames& before_names,
                          const OutputNames& after_names);
  QueryDiff union_by_position(const std::vector<const Json*>& before, const std::vector<const Json*>& after,
                              const OutputNames& before_names, const OutputNames& after_names);
  QueryDiff union_by_name(const std::vector<const Json*>& before, const std::vector<const Json*>& after);
  std::optional<std::string> ctes(const Json& before, const Json& after);
  std::optional<std::string> from(const Json& before, const Json& after);
  bool is_meant_by_name(const Item& item, const Columns::Entry& entry) const;
  std::optional<std::string> clauses(const Json& before, const Json& after, const Names& own);
  std::optional<std::string> grouping(const Json& before, const Json& after, const Names& own);
  std::optional<std::string> modifiers(const Json& before, const Json& after, bool is_root, const Names& own,
                                       QueryDiff& diff);

  const QueryDiffInput& input_;
  Names relations_;
  Names changed_;
  Names added_;
  /// Subqueries in FROM, which may name columns of their neighbours.
  int lateral_depth_ = 0;
  /// Items of the SELECT at hand whose values or being changed, of both sides.
  std::vector<const Json*> dirty_items_;
};

/// Whether a part may read a column that changed. `own` are names of the SELECT's own columns, which its other parts
/// may name without qualifier.
bool Differ::mentions(const Json& part, const Names& own, bool star_is_output) const {
  const Names names = dirty();
  bool found = false;
  tree::walk(part, [&](const Json& object) {
    found = found || mentions_here(object, names, own, star_is_output);
    return !found;
  });
  return found;
}

bool Differ::mentions_here(const Json& object, const Names& names, const Names& own, bool star_is_output) const {
  if (is_class(object, "COLUMN_REF")) {
    const Json& parts = member(object, "column_names");
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!parts[i].is_string()) return true;
      const auto& part = parts[i].get_ref<const std::string&>();
      if (names.contains(part) || (i == 0 && own.contains(part))) return true;
    }
    // A relation's name alone is its whole row.
    return !names.empty() && parts.size() == 1 && relations_.contains(parts[0].get<std::string>());
  }
  if (is_class(object, "FUNCTION") || is_class(object, "WINDOW"))
    if (calls(object, own)) return true;
  if (is_class(object, "STAR") && star_is_output && !own.empty()) return true;
  if (names.empty()) return false;
  if (is_class(object, "STAR") || is_class(object, "POSITIONAL_REFERENCE")) return true;
  const std::string_view type = text(object, "type");
  if (type == "PIVOT" || type == "SHOW_REF" || text(object, "ref_type") == "NATURAL") return true;
  if (type == "TABLE_FUNCTION") {
    const std::string_view name = text(member(object, "function"), "function_name");
    if (name != "unnest" && name != "range" && name != "generate_series" && !parse::reads_files(name)) return true;
  }
  for (const Json& name : member(object, "using_columns"))
    if (name.is_string() && names.contains(name.get<std::string>())) return true;
  return false;
}

/// A call of a macro that changed, or whose body may read a changed column by name.
bool Differ::calls(const Json& object, const Names& own) const {
  const auto macro = input_.macros.find(std::string(text(object, "function_name")));
  if (macro == input_.macros.end()) return false;
  const MacroFacts& facts = macro->second;
  return facts.is_changed || (facts.has_query && is_dirty()) || meet(facts.words, own) || meet(facts.words, dirty());
}

/// Names of the functions that a part calls, through macros, subqueries left out: these have their own rows.
Names Differ::called_by(const Json& part) const {
  Names names;
  tree::walk(part, [&](const Json& object) {
    if (is_class(object, "SUBQUERY")) return false;
    if (!is_class(object, "FUNCTION")) return true;
    const std::string name(text(object, "function_name"));
    names.insert(name);
    if (const auto macro = input_.macros.find(name); macro != input_.macros.end())
      names.insert(macro->second.calls.begin(), macro->second.calls.end());
    return true;
  });
  return names;
}

/// Whether every function is one whose nature is known.
bool Differ::is_known(const Json& part) const {
  bool known = true;
  tree::walk(part, [&](const Json& object) {
    if (is_class(object, "FUNCTION") && object.value("is_operator", false)) return true;
    if (is_class(object, "FUNCTION") && !(text(object, "schema").empty() && text(object, "catalog").empty()))
      known = false;
    return known;
  });
  const Names names = called_by(part);
  return known && std::all_of(names.begin(), names.end(), [this](const std::string& name) {
           return input_.functions.known.contains(name) || input_.macros.contains(name);
         });
}

bool Differ::aggregates(const Json& part) const { return meet(called_by(part), input_.functions.aggregates); }

QueryDiff Differ::node(const Json& before, const Json& after, bool is_root, const OutputNames& before_names,
                       const OutputNames& after_names) {
  const std::string_view type = text(after, "type");
  if (type != text(before, "type")) return everything("its query is of another kind");
  if (type == "SELECT_NODE") return select(before, after, is_root, before_names, after_names);
  if (type == "SET_OPERATION_NODE") return set_operation(before, after, is_root, before_names, after_names);
  if (before == after && !mentions(after, {})) return {};
  return everything("its recursive query changed");
}

QueryDiff Differ::select(const Json& before, const Json& after, bool is_root, const OutputNames& before_names,
                         const OutputNames& after_names) {
  if (auto why = ctes(before, after)) return everything(std::move(*why));
  if (auto why = from(member(before, "from_table"), member(after, "from_table"))) return everything(std::move(*why));
  const auto columns = Columns::match(before, after, before_names, after_names);
  if (!columns) return everything("its columns cannot be told apart by name");

  QueryDiff diff;
  Names all;  // dirty columns
  Names own;  // of these, what WHERE and the like may mean by the name alone
  dirty_items_.clear();
  const auto note = [&](const std::string& name, const Columns::Entry& entry) {
    all.insert(name);
    for (const Item* item : {entry.before, entry.after}) {
      if (item == nullptr) continue;
      all.insert(item->name);
      dirty_items_.push_back(item->expression);
      if (is_meant_by_name(*item, entry)) own.insert({name, item->name});
    }
  };
  for (const auto& [name, entry] : columns->named()) {
    if (!entry.differs()) continue;
    (entry.before == nullptr ? diff.added : entry.after == nullptr ? diff.gone : diff.changed).insert(name);
    note(name, entry);
  }
  // Columns that read changed ones, until no more are found.
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& [name, entry] : columns->named()) {
      if (all.contains(name) || !mentions(*entry.after->expression, own)) continue;
      diff.changed.insert(name);
      note(name, entry);
      grew = true;
    }
  }
  for (const Item* item : columns->unnamed()) {
    const Json& star = *item->expression;
    const bool is_plain = item->is_star && is_class(star, "STAR") && !star.value("columns", false);
    if (!is_plain && mentions(star, own)) return everything("a column without a name may read what changed");
    if (!is_plain || !is_dirty()) continue;
    if (!member(star, "rename_list").empty()) return everything("its * renames columns, and some of them changed");
    diff.changed.insert(changed_.begin(), changed_.end());
    diff.added.insert(added_.begin(), added_.end());
    for (const Json& one : member(star, "replace_list"))
      if (mentions(member(one, "value"), {})) diff.changed.emplace(text(one, "key"));
  }
  for (const std::string& name : diff.changed) diff.added.erase(name);
  if (auto why = clauses(before, after, own)) return everything(std::move(*why));
  // ORDER BY takes the name of a column of the list first.
  if (auto why = modifiers(before, after, is_root, all, diff)) return everything(std::move(*why));
  return diff;
}

/// Whether a name without qualifier in another part of the SELECT may mean this column of its list. DuckDB looks for a
/// column of FROM first (measured for the list itself, WHERE, GROUP BY, HAVING and QUALIFY), then for a column of the
/// list, then in the query around. So a column that came or went is never meant where there is no query around, or the
/// edited text would not bind; and a name that the column's own expression uses is one of FROM.
bool Differ::is_meant_by_name(const Item& item, const Columns::Entry& entry) const {
  if (item.name.empty()) return false;
  const auto uses_own_name = [&item](const Item* side) {
    if (side == nullptr) return false;
    bool uses = false;
    tree::walk(*side->expression, [&](const Json& object) {
      if (is_class(object, "SUBQUERY") || is_class(object, "LAMBDA")) return false;
      const Json& parts = member(object, "column_names");
      uses = uses || (is_class(object, "COLUMN_REF") && parts.size() == 1 && parts[0] == item.name);
      return true;
    });
    return uses;
  };
  const bool is_plain = is_class(*item.expression, "COLUMN_REF") &&
                        member(*item.expression, "column_names").size() == 1 && uses_own_name(&item);
  const bool came_or_went = entry.before == nullptr || entry.after == nullptr;
  if (came_or_went && is_plain) return false;
  if (lateral_depth_ > 0) return true;
  return !came_or_went && !uses_own_name(entry.before) && !uses_own_name(entry.after);
}

std::optional<std::string> Differ::clauses(const Json& before, const Json& after, const Names& own) {
  static const std::set<std::string_view> kElsewhere = {"select_list", "from_table", "cte_map", "modifiers",
                                                        "group_expressions"};
  std::set<std::string> keys;
  for (const Json* side : {&before, &after})
    for (const auto& [key, value] : side->items())
      if (!kElsewhere.contains(key)) keys.insert(key);
  for (const std::string& key : keys) {
    if (member(before, key) != member(after, key)) return words_of(key) + " changed";
    if (mentions(member(after, key), own)) return words_of(key) + " may read what changed";
  }
  return grouping(before, after, own);
}

/// GROUP BY with its ordinals replaced by what they stand for; nothing if that cannot be told.
std::optional<Json> groups_of(const Json& select) {
  Json groups = member(select, "group_expressions");
  if (!groups.is_array()) return Json::array();
  const std::vector<Item> items = tree::items_of(select);
  for (Json& group : groups) {
    if (!is_type(group, "VALUE_CONSTANT")) continue;
    const Json& value = member(member(group, "value"), "value");
    if (!value.is_number_integer()) continue;
    const auto ordinal = value.get<std::int64_t>();
    if (ordinal < 1 || ordinal > std::ssize(items)) return std::nullopt;
    for (std::int64_t i = 0; i < ordinal; ++i)
      if (items[static_cast<std::size_t>(i)].is_star) return std::nullopt;
    group = *items[static_cast<std::size_t>(ordinal - 1)].expression;
    group.erase("alias");
  }
  return groups;
}

std::optional<std::string> Differ::grouping(const Json& before, const Json& after, const Names& own) {
  const auto old_groups = groups_of(before);
  const auto groups = groups_of(after);
  if (!groups || !old_groups || *groups != *old_groups) return "its grouping changed";
  if (mentions(*groups, own)) return "its grouping may read what changed";
  for (const Json* item : dirty_items_) {
    if (!is_known(*item)) return "a column that changed calls a function that weir does not know";
    if (meet(called_by(*item), input_.functions.row_makers)) return "a column that changed makes several rows of one";
  }
  const bool groups_by_all = text(after, "aggregate_handling") == "FORCE_AGGREGATES";
  if (groups_by_all) {
    for (const Json* item : dirty_items_)
      if (!aggregates(*item)) return "a column that it groups by changed";
    for (const Item& item : tree::items_of(after))
      if (item.is_star && is_dirty()) return "a column that it groups by changed";
    return std::nullopt;
  }
  if (!groups->empty() || !member(after, "group_sets").empty()) return std::nullopt;
  // Without groups an aggregate makes one row of all.
  const auto is_one_row = [this](const Json& select) { return aggregates(member(select, "select_list")); };
  if (is_one_row(before) != is_one_row(after)) return "an aggregate came or went that makes one row of all";
  return std::nullopt;
}

std::optional<std::string> Differ::modifiers(const Json& before, const Json& after, bool is_root, const Names& own,
                                             QueryDiff& diff) {
  const auto all_of = [](const Json& node) {
    std::vector<const Json*> all;
    for (const Json& one : member(node, "modifiers")) all.push_back(&one);
    return all;
  };
  auto old_ones = all_of(before);
  auto ones = all_of(after);
  const auto is_order = [](const Json* one) { return is_type(*one, "ORDER_MODIFIER"); };
  const auto is_limit = [](const Json* one) { return text(*one, "type").starts_with("LIMIT"); };
  const auto is_pick = [](const Json* one) {
    return is_type(*one, "DISTINCT_MODIFIER") && !member(*one, "distinct_on_targets").empty();
  };
  const bool order_matters =
      !is_root || std::any_of(ones.begin(), ones.end(), is_limit) || std::any_of(ones.begin(), ones.end(), is_pick) ||
      std::any_of(old_ones.begin(), old_ones.end(), is_limit) || std::any_of(old_ones.begin(), old_ones.end(), is_pick);
  if (!order_matters) {
    const auto orders = [&](const std::vector<const Json*>& all) {
      Json found = Json::array();
      for (const Json* one : all)
        if (is_order(one)) found.push_back(*one);
      return found;
    };
    const Json old_orders = orders(old_ones);
    const Json new_orders = orders(ones);
    diff.is_ordered_anew = old_orders != new_orders;
    for (const Json* side : {&old_orders, &new_orders}) {
      const bool makes_rows = meet(called_by(*side), input_.functions.row_makers) || !is_known(*side);
      if (diff.is_ordered_anew && (makes_rows || aggregates(*side))) return "its ORDER BY changed";
    }
    std::erase_if(old_ones, is_order);
    std::erase_if(ones, is_order);
  }
  const bool are_equal = std::equal(ones.begin(), ones.end(), old_ones.begin(), old_ones.end(),
                                    [](const Json* one, const Json* other) { return *one == *other; });
  if (!are_equal) return "its ORDER BY, LIMIT or DISTINCT changed";
  for (const Json* one : ones) {
    const bool is_distinct = is_type(*one, "DISTINCT_MODIFIER");
    if (is_distinct && !is_pick(one) && !diff.is_clean()) return "a column changed, and it keeps distinct rows";
    // An ordinal stands for a column of the list.
    bool has_ordinal = false;
    tree::walk(*one, [&has_ordinal](const Json& object) {
      has_ordinal = has_ordinal || is_class(object, "CONSTANT");
      return true;
    });
    if (!is_limit(one) && has_ordinal && !diff.is_clean()) return "its ORDER BY goes by position, and a column changed";
    if (mentions(*one, own, true)) return "its ORDER BY, LIMIT or DISTINCT may read what changed";
  }
  return std::nullopt;
}

std::optional<std::string> Differ::ctes(const Json& before, const Json& after) {
  const Json& old_ones = member(member(before, "cte_map"), "map");
  const Json& ones = member(member(after, "cte_map"), "map");
  const auto named = [](const Json& all, std::string_view name) -> const Json* {
    for (const Json& one : all)
      if (text(one, "key") == name) return &one;
    return nullptr;
  };
  for (const Json& one : old_ones) {
    const std::string name(text(one, "key"));
    if (named(ones, name) == nullptr && tree::tables_in(after).contains(name))
      return "CTE `" + name + "` is gone, and a table of that name is read";
  }
  for (const Json& one : ones) {
    const std::string name(text(one, "key"));
    const Json* old_one = named(old_ones, name);
    if (old_one == nullptr) {
      if (tree::tables_in(before).contains(name)) return "CTE `" + name + "` hides a table of that name";
      continue;
    }
    const Json& value = member(one, "value");
    const Json& old_value = member(*old_one, "value");
    if (!tree::equal_but(old_value, value, {"query", "materialized"})) return "CTE `" + name + "` changed";
    const QueryDiff inner =
        node(member(member(old_value, "query"), "node"), member(member(value, "query"), "node"), false, {}, {});
    if (inner.is_everything) return "in CTE `" + name + "` " + inner.why;
    if (!take(inner, !member(value, "aliases").empty())) return "CTE `" + name + "` names its columns anew";
  }
  return std::nullopt;
}

std::optional<std::string> Differ::from(const Json& before, const Json& after) {
  const std::string_view type = text(after, "type");
  if (type != text(before, "type")) return "its FROM clause changed";
  if (type == "JOIN") {
    for (const char* side : {"left", "right"})
      if (auto why = from(member(before, side), member(after, side))) return why;
    if (!tree::equal_but(before, after, {"left", "right"})) return "its joins changed";
    Json rest = after;
    rest.erase("left");
    rest.erase("right");
    if (mentions(rest, {})) return "its joins may read what changed";
    return std::nullopt;
  }
  if (type == "SUBQUERY") {
    if (!tree::equal_but(before, after, {"subquery"})) return "its FROM clause changed";
    ++lateral_depth_;
    const QueryDiff inner =
        node(member(member(before, "subquery"), "node"), member(member(after, "subquery"), "node"), false, {}, {});
    --lateral_depth_;
    if (inner.is_everything) return "in a subquery " + inner.why;
    if (!take(inner, !member(after, "column_name_alias").empty())) return "a subquery names its columns anew";
    return std::nullopt;
  }
  if (before != after) return "its FROM clause changed";
  if (is_dirty() && !member(after, "column_name_alias").empty()) return "its FROM clause names columns anew";
  if (mentions(after, {})) return "its FROM clause may read what changed";
  return std::nullopt;
}

/// The operands of set operations of one kind in a row.
void flatten(const Json& node, const Json& like, std::vector<const Json*>& operands) {
  for (const char* side : {"left", "right"}) {
    const Json& operand = member(node, side);
    const bool is_same = is_type(operand, "SET_OPERATION_NODE") && tree::equal_but(operand, like, {"left", "right"});
    if (is_same && member(operand, "modifiers").empty() && member(member(operand, "cte_map"), "map").empty())
      flatten(operand, like, operands);
    else
      operands.push_back(&operand);
  }
}

/// The names that a query gives its columns, if its text tells all of them.
OutputNames names_of(const Json& node) {
  if (is_type(node, "SET_OPERATION_NODE")) return names_of(member(node, "left"));
  if (!is_type(node, "SELECT_NODE")) return std::nullopt;
  std::vector<std::string> names;
  for (const Item& item : tree::items_of(node)) {
    if (item.is_star || item.name.empty()) return std::nullopt;
    names.push_back(item.name);
  }
  return names;
}

QueryDiff Differ::set_operation(const Json& before, const Json& after, bool is_root, const OutputNames& before_names,
                                const OutputNames& after_names) {
  if (auto why = ctes(before, after)) return everything(std::move(*why));
  if (!tree::equal_but(before, after, {"left", "right", "modifiers", "cte_map"}))
    return everything("its set operation is another one");
  std::vector<const Json*> old_ones;
  std::vector<const Json*> ones;
  flatten(before, before, old_ones);
  flatten(after, after, ones);
  if (old_ones.size() != ones.size()) return everything("a part of its set operation came or went");
  const std::string_view type = text(after, "setop_type");
  const bool is_all = after.value("setop_all", false);
  QueryDiff diff;
  if (is_all && type == "UNION") {
    diff = union_by_position(old_ones, ones, before_names, after_names);
  } else if (is_all && type == "UNION_BY_NAME") {
    diff = union_by_name(old_ones, ones);
  } else {
    diff = union_by_position(old_ones, ones, before_names, after_names);
    if (!diff.is_everything && !diff.is_clean()) diff = everything("a column changed, and it compares whole rows");
  }
  if (diff.is_everything) return diff;
  Names own = diff.changed;
  for (const Names* more : {&diff.gone, &diff.added}) own.insert(more->begin(), more->end());
  if (auto why = modifiers(before, after, is_root, own, diff)) return everything(std::move(*why));
  return diff;
}

QueryDiff Differ::union_by_position(const std::vector<const Json*>& before, const std::vector<const Json*>& after,
                                    const OutputNames& before_names, const OutputNames& after_names) {
  // The first part names the columns of all.
  const OutputNames old_names = before_names ? before_names : names_of(*before.front());
  const OutputNames names = after_names ? after_names : names_of(*after.front());
  QueryDiff diff;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const auto fits = [](const Json& part, const OutputNames& given) {
      const auto items = tree::items_of(part);
      return given && is_type(part, "SELECT_NODE") && items.size() == given->size() &&
             std::none_of(items.begin(), items.end(), [](const Item& one) { return one.is_star; });
    };
    const bool has_names = fits(*before[i], old_names) && fits(*after[i], names);
    const QueryDiff part =
        has_names ? node(*before[i], *after[i], false, old_names, names) : node(*before[i], *after[i], false, {}, {});
    if (part.is_everything) return part;
    if (!has_names && !part.is_clean()) return everything("a column of a UNION changed that has no name");
    diff.changed.insert(part.changed.begin(), part.changed.end());
    diff.gone.insert(part.gone.begin(), part.gone.end());
    diff.added.insert(part.added.begin(), part.added.end());
  }
  return diff;
}

QueryDiff Differ::union_by_name(const std::vector<const Json*>& before, const std::vector<const Json*>& after) {
  QueryDiff diff;
  Names old_names;
  bool are_all_known = true;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const QueryDiff part = node(*before[i], *after[i], false, {}, {});
    if (part.is_everything) return part;
    diff.changed.insert(part.changed.begin(), part.changed.end());
    diff.changed.insert(part.gone.begin(), part.gone.end());
    diff.added.insert(part.added.begin(), part.added.end());
    const OutputNames names = names_of(*before[i]);
    are_all_known = are_all_known && names;
    if (names) old_names.insert(names->begin(), names->end());
  }
  if (!diff.added.empty() && !are_all_known) return everything("a UNION BY NAME got a column");
  for (const std::string& name : old_names)
    if (diff.added.erase(name) > 0) diff.changed.insert(name);
  return diff;
}

}  // namespace

QueryDiff diff_queries(const QueryDiffInput& input) {
  const auto before = tree::comparable(input.before);
  const auto after = tree::comparable(input.after);
  if (!before || !after) return everything("DuckDB gives no tree of its query");
  return Differ(input).run(*before, *after);
}

}  // namespace weir::plan
