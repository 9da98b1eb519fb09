// Operators with several inputs.
#include <algorithm>

#include "bind/plan_read.h"
#include "bind/plan_walk.h"

namespace weir::bind::plan {
namespace {

std::vector<Column> chosen(std::vector<Column> all, const std::vector<std::uint64_t>& map) {
  if (map.empty()) return all;
  std::vector<Column> some;
  for (const std::uint64_t at : map)
    if (at < all.size()) some.push_back(all[at]);
  return some;
}

void append(std::vector<Column>& all, const std::vector<Column>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// The parts of an AND, however nested.
std::vector<Element> conjuncts(Element condition) {
  std::vector<Element> parts;
  std::vector<Element> open{condition};
  while (!open.empty()) {
    const Element at = open.back();
    open.pop_back();
    if (text(at, "type") == "CONJUNCTION_AND")
      for (const Element child : members(at, "children")) open.push_back(child);
    else
      parts.push_back(at);
  }
  return parts;
}

const Column* plain(Element expression, const std::vector<Column>& columns) {
  if (text(expression, "expression_class") != "BOUND_REF") return nullptr;
  const std::uint64_t index = number(expression, "index", kNoIndex);
  return index < columns.size() ? &columns[index] : nullptr;
}

bool is_same_constant(const Column* left, const Column* right) {
  return left != nullptr && right != nullptr && left->outer && left->outer == right->outer;
}

}  // namespace

void Walk::keep_rows_to_columns(Relation& relation) {
  if (relation.rows.empty()) return;
  for (Column& column : relation.columns) {
    Origin origin = origins_.of(column.origin);
    merge(origin.rows, relation.rows);
    column.origin = origins_.add(std::move(origin));
  }
  relation.rows.clear();
}

// Outside the subquery, a column of the outer row is what it was there.
void Walk::leave_scope(std::vector<Column>& columns) {
  const Scope& scope = scopes_.back();
  for (Column& column : columns)
    if (column.outer && column.outer->scope == scope.id) column.outer = scope.outer[column.outer->index].outer;
}

/// What the join's conditions compare, as row sources in the role of a join.
Result<Numbers> Walk::conditions(const Open& at) {
  const std::vector<Column>& left = at.done[0].columns;
  const std::vector<Column>& right = at.done[1].columns;
  const bool is_delim = at.type == "LOGICAL_DELIM_JOIN";
  Numbers rows;
  for (const Element condition : members(at.node, "conditions")) {
    const auto one = member(condition, "left");
    const auto other = member(condition, "right");
    if (!one || !other) return fail(incomplete("a join has a condition of an unknown form"));
    const Column* here = plain(*one, left);
    const Column* there = plain(*other, right);
    if (text(condition, "comparison") == "COMPARE_NOT_DISTINCT_FROM") {
      if (is_same_constant(here, there)) continue;
      if (is_delim && there != nullptr && there->outer && there->outer->scope == scopes_.back().id) continue;
    }
    WEIR_CHECK(decide(*one, left, origins_, RowRole::Join, false, rows));
    WEIR_CHECK(decide(*other, right, origins_, RowRole::Join, false, rows));
  }
  std::vector<Column> both = left;
  append(both, right);
  for (const std::string_view key : {"condition", "predicate"}) {
    const auto condition = member(at.node, key);
    if (!condition) continue;
    for (const Element part : conjuncts(*condition)) {
      const auto one = member(part, "left");
      const auto other = member(part, "right");
      if (text(part, "type") == "COMPARE_NOT_DISTINCT_FROM" && one && other &&
          is_same_constant(plain(*one, both), plain(*other, both)))
        continue;
      WEIR_CHECK(decide(part, both, origins_, RowRole::Join, false, rows));
    }
  }
  return rows;
}

Result<Relation> Walk::join(Open& at) {
  WEIR_TRY(const Numbers compared, conditions(at));
  Relation relation = std::move(at.done[0]);
  Relation right = std::move(at.done[1]);
  if (at.type == "LOGICAL_DELIM_JOIN") {
    leave_scope(right.columns);
    scopes_.pop_back();
  }
  const std::string_view kind = text(at.node, "join_type");
  relation.columns = chosen(std::move(relation.columns), numbers(at.node, "left_projection_map"));
  if (kind == "MARK") {
    // x IN (…) as a value: formed by both sides, over the rows of the subquery. EXISTS compares nothing.
    Origin mark;
    for (const std::uint32_t each : compared) {
      if (static_cast<RowRole>(each & 3U) == RowRole::Join)
        mark.values.push_back((each & ~3U) | static_cast<std::uint32_t>(ValueKind::Expression));
    }
    mark.rows = right.rows;
    Column column;
    column.table_index = number(at.node, "mark_index");
    column.origin = origins_.add(std::move(mark));
    relation.columns.push_back(column);
    return relation;
  }
  relation.is_single_row = false;
  if (kind == "SINGLE") {
    // A scalar subquery: what decides its rows concerns its value.
    merge(right.rows, compared);
    keep_rows_to_columns(right);
  } else {
    merge(relation.rows, right.rows);
    merge(relation.rows, compared);
  }
  if (kind == "SEMI" || kind == "ANTI") return relation;
  right.columns = chosen(std::move(right.columns), numbers(at.node, "right_projection_map"));
  if (kind == "RIGHT_SEMI" || kind == "RIGHT_ANTI")
    relation.columns = std::move(right.columns);
  else
    append(relation.columns, right.columns);
  return relation;
}

Result<Relation> Walk::cross(Open& at) {
  Relation relation = std::move(at.done[0]);
  Relation right = std::move(at.done[1]);
  if (right.is_single_row) keep_rows_to_columns(right);
  relation.is_single_row = false;
  merge(relation.rows, right.rows);
  append(relation.columns, right.columns);
  return relation;
}

Column Walk::united(const Column& one, const Column& other) {
  Column column = one;
  Origin all = origins_.of(one.origin);
  merge(all, origins_.of(other.origin), ValueKind::Copy);
  if (all != origins_.of(one.origin)) column.origin = origins_.add(std::move(all));
  if (one.outer != other.outer) column.outer.reset();
  column.is_unpivot_list = one.is_unpivot_list && other.is_unpivot_list;
  return column;
}

bool Walk::same(const Relation& one, const Relation& other) const {
  if (one.rows != other.rows) return false;
  for (std::size_t i = 0; i < one.columns.size(); ++i) {
    if (one.columns[i].outer != other.columns[i].outer) return false;
    if (origins_.of(one.columns[i].origin) != origins_.of(other.columns[i].origin)) return false;
  }
  return true;
}

// UNION takes values from every input. EXCEPT and INTERSECT take them from the first; all columns of both decide which
// rows stay, as in a join. That repeated rows are dropped is a DISTINCT above in the plan.
Result<Relation> Walk::set_operation(Open& at) {
  Relation relation = std::move(at.done.front());
  relation.is_single_row = false;
  const bool is_union = at.type == "LOGICAL_UNION";
  const auto compare = [&](const std::vector<Column>& columns) {
    for (const Column& column : columns)
      if (!column.outer) decide(relation.rows, origins_.of(column.origin), RowRole::Join);
  };
  if (!is_union) compare(relation.columns);
  for (std::size_t i = 1; i < at.done.size(); ++i) {
    const Relation& other = at.done[i];
    if (other.columns.size() != relation.columns.size())
      return fail(incomplete("the inputs of a set operation have different numbers of columns"));
    merge(relation.rows, other.rows);
    if (!is_union) compare(other.columns);
    for (std::size_t c = 0; is_union && c < relation.columns.size(); ++c)
      relation.columns[c] = united(relation.columns[c], other.columns[c]);
  }
  for (std::size_t c = 0; c < relation.columns.size(); ++c) {
    relation.columns[c].table_index = number(at.node, "table_index");
    relation.columns[c].column_index = c;
  }
  return relation;
}

Relation Walk::recursive(Open& at) {
  Relation relation = ctes_[number(at.node, "table_index")];
  bool is_all = false;
  if (at.node["union_all"].get(is_all) == simdjson::SUCCESS && is_all) return relation;
  // Rows that are known already are dropped; USING KEY compares its key alone.
  const std::vector<Element> keys = members(at.node, "key_targets");
  for (std::size_t i = 0; i < relation.columns.size(); ++i) {
    const bool is_key = keys.empty() || std::any_of(keys.begin(), keys.end(),
                                                    [i](Element key) { return number(key, "index", kNoIndex) == i; });
    if (is_key && !relation.columns[i].outer)
      decide(relation.rows, origins_.of(relation.columns[i].origin), RowRole::Group);
  }
  return relation;
}

// PIVOT of many values: below, the values of each group are gathered in lists, one for each aggregate and a last one of
// the pivoted names; here they are spread over the columns.
Result<Relation> Walk::pivot(Open& at) {
  const Relation input = std::move(at.done.front());
  const auto bound = member(at.node, "bound_pivot");
  if (!bound) return fail(incomplete("a PIVOT of an unknown form"));
  const std::uint64_t groups = number(*bound, "group_count");
  const std::size_t aggregates = std::max<std::size_t>(1, members(*bound, "aggregates").size());
  const std::vector<Element> types = members(*bound, "types");
  if (input.columns.size() != groups + aggregates + 1) return fail(incomplete("a PIVOT of an unknown form"));
  Relation relation;
  relation.rows = input.rows;
  for (std::size_t i = 0; i < types.size(); ++i) {
    Column column;
    if (i < groups) {
      column = input.columns[i];
    } else {
      Origin origin = origins_.of(input.columns[groups + (i - groups) % aggregates].origin);
      merge(origin, origins_.of(input.columns.back().origin), ValueKind::Aggregate);
      column.origin = origins_.add(std::move(origin));
      column.type = types[i];
    }
    column.table_index = number(at.node, "pivot_index");
    column.column_index = i;
    relation.columns.push_back(column);
  }
  return relation;
}

}  // namespace weir::bind::plan
