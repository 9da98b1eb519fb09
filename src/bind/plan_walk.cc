#include "bind/plan_walk.h"

#include <fmt/format.h>

#include "bind/plan_read.h"

namespace weir::bind::plan {

Result<Relation> Walk::follow(Element root) {
  open(root);
  while (true) {
    Open& at = open_.back();
    if (at.next < at.children.size()) {
      WEIR_CHECK(before_child(at));
      const Element child = at.children[at.next++];
      open(child);
      continue;
    }
    if (must_repeat(at)) continue;
    WEIR_TRY(Relation relation, close(at));
    open_.pop_back();
    if (open_.empty()) return relation;
    open_.back().done.push_back(std::move(relation));
  }
}

void Walk::open(Element node) { open_.push_back({node, text(node, "type"), members(node, "children"), 0, false, {}}); }

Result<void> Walk::before_child(Open& at) {
  if (at.next != 1) return {};
  if (at.type == "LOGICAL_MATERIALIZED_CTE" || at.type == "LOGICAL_CTE" || at.type == "LOGICAL_RECURSIVE_CTE") {
    if (!at.is_repeated) ctes_[number(at.node, "table_index")] = at.done.front();
  } else if (at.type == "LOGICAL_DELIM_JOIN") {
    Scope scope{.id = scopes_made_++, .outer = {}};
    for (const Element each : members(at.node, "duplicate_eliminated_columns")) {
      WEIR_TRY(const Value value, evaluate(each, at.done.front().columns, origins_, ValueKind::Expression));
      Column column;
      if (value.column != nullptr)
        column = *value.column;
      else
        column.origin = origins_.add(value.origin);
      scope.outer.push_back(column);
    }
    scopes_.push_back(std::move(scope));
  }
  return {};
}

bool Walk::must_repeat(Open& at) {
  if (at.type != "LOGICAL_RECURSIVE_CTE" || at.done.size() != 2) return false;
  Relation& known = ctes_[number(at.node, "table_index")];
  if (at.done[1].columns.size() < known.columns.size()) return false;
  Relation all = known;
  for (std::size_t i = 0; i < known.columns.size(); ++i)
    all.columns[i] = united(known.columns[i], at.done[1].columns[i]);
  merge(all.rows, at.done[1].rows);
  const bool is_new = !same(known, all);
  known = std::move(all);
  if (is_new) {
    at.done.pop_back();
    at.next = 1;
    at.is_repeated = true;
  }
  return is_new;
}

Result<Relation> Walk::close(Open& at) {
  bool is_leaf = false;
  WEIR_TRY(Relation leaf, close_leaf(at, is_leaf));
  if (is_leaf) return leaf;
  if (at.done.empty()) return fail(incomplete(fmt::format("the operator {} is not known", at.type)));
  if (at.type == "LOGICAL_PROJECTION") return projection(at);
  if (at.type == "LOGICAL_FILTER") return filter(at);
  if (at.type == "LOGICAL_AGGREGATE_AND_GROUP_BY") return aggregate(at);
  if (at.type == "LOGICAL_WINDOW") return window(at);
  if (at.type == "LOGICAL_UNNEST") return unnest(at);
  if (at.type == "LOGICAL_DISTINCT") return distinct(at);
  if (at.type == "LOGICAL_ORDER_BY") return order(at);
  if (at.type == "LOGICAL_LIMIT") return limit(at);
  if (at.type == "LOGICAL_PIVOT") return pivot(at);
  if (at.type == "LOGICAL_EXPRESSION_GET") return values(at);
  if (at.type == "LOGICAL_GET") return call(at);
  if (at.type == "LOGICAL_SAMPLE" || at.type == "LOGICAL_CREATE_TABLE" || at.type == "LOGICAL_INSERT")
    return std::move(at.done.front());
  if (at.done.size() < 2) return fail(incomplete(fmt::format("the operator {} is not known", at.type)));
  if (at.type == "LOGICAL_MATERIALIZED_CTE" || at.type == "LOGICAL_CTE") return std::move(at.done.back());
  return close_join(at);
}

Result<Relation> Walk::close_join(Open& at) {
  if (at.type == "LOGICAL_CROSS_PRODUCT" || at.type == "LOGICAL_POSITIONAL_JOIN") return cross(at);
  if (at.type == "LOGICAL_UNION" || at.type == "LOGICAL_EXCEPT" || at.type == "LOGICAL_INTERSECT")
    return set_operation(at);
  if (at.type == "LOGICAL_RECURSIVE_CTE") return recursive(at);
  if (at.type == "LOGICAL_COMPARISON_JOIN" || at.type == "LOGICAL_ANY_JOIN" || at.type == "LOGICAL_ASOF_JOIN" ||
      at.type == "LOGICAL_DELIM_JOIN")
    return join(at);
  return fail(incomplete(fmt::format("the operator {} is not known", at.type)));
}

Result<Relation> Walk::close_leaf(const Open& at, bool& is_leaf) {
  is_leaf = true;
  Relation relation;
  if (at.type == "LOGICAL_GET" && at.children.empty()) return get(open_.back());
  if (at.type == "LOGICAL_DELIM_GET") return delim_get(at);
  if (at.type == "LOGICAL_CTE_REF") return cte_ref(at);
  if (at.type == "LOGICAL_DUMMY_SCAN") {
    relation.columns.emplace_back();
    return relation;
  }
  if (at.type == "LOGICAL_CHUNK_GET" || at.type == "LOGICAL_EMPTY_RESULT") {
    for (const Element type : members(at.node, at.type == "LOGICAL_CHUNK_GET" ? "chunk_types" : "return_types")) {
      Column column;
      column.table_index = number(at.node, "table_index");
      column.column_index = relation.columns.size();
      column.type = type;
      relation.columns.push_back(column);
    }
    return relation;
  }
  is_leaf = false;
  return relation;
}

}  // namespace weir::bind::plan
