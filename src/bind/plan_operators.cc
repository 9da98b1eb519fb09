// Operators with one input or none.
#include <fmt/format.h>

#include <array>

#include "bind/plan_read.h"
#include "bind/plan_walk.h"
#include "bind/query_text.h"

namespace weir::bind::plan {
namespace {

std::string table_name(Element data) {
  const std::string_view catalog = text(data, "catalog");
  const std::string_view schema = text(data, "schema");
  std::string name(text(data, "table"));
  if (!schema.empty() && schema != "main") name = fmt::format("{}.{}", schema, name);
  if (!catalog.empty() && catalog != "memory" && catalog != "temp") name = fmt::format("{}.{}", catalog, name);
  return name;
}

/// Functions that read nothing: what they return depends on their arguments alone.
bool makes_rows(std::string_view function) {
  for (const std::string_view known : {"range", "generate_series", "repeat", "repeat_row", "unnest"})
    if (function == known) return true;
  return false;
}

/// The table that a GET reads: a stand-in, files, or whatever a function reads by its name; empty if it reads nothing.
std::string source_of(Element node) {
  if (const auto data = member(node, "function_data")) {
    if (!text(*data, "table").empty()) return table_name(*data);
    if (const auto files = members(*data, "files"); !files.empty()) {
      std::string all;
      for (const Element file : files) {
        std::string_view name;
        if (file.get(name) == simdjson::SUCCESS) all += (all.empty() ? "file:" : ",") + std::string(name);
      }
      return all;
    }
  }
  const std::string_view function = text(node, "name");
  return makes_rows(function) ? std::string() : fmt::format("{}()", function);
}

template <class T>
std::vector<T> chosen(std::vector<T> all, const std::vector<std::uint64_t>& map) {
  if (map.empty()) return all;
  std::vector<T> some;
  for (const std::uint64_t at : map)
    if (at < all.size()) some.push_back(all[at]);
  return some;
}

/// Numbers above mark what is no column of the table: rowid, filename, and the like.
constexpr std::uint64_t kFirstVirtual = std::uint64_t{1} << 63;

}  // namespace

Result<Relation> Walk::get(Open& at) {
  const std::vector<Element> names = members(at.node, "names");
  const std::vector<Element> types = members(at.node, "returned_types");
  const std::string table = source_of(at.node);
  Relation relation;
  for (const Element index : members(at.node, "column_indexes")) {
    const std::uint64_t from = number(index, "index", kNoIndex);
    Column column;
    column.table_index = number(at.node, "table_index");
    column.column_index = relation.columns.size();
    std::string_view name;
    if (from < names.size() && names[from].get(name) == simdjson::SUCCESS && !table.empty()) {
      const std::uint32_t base = origins_.number_of(table, std::string(name));
      const bool is_whole = members(index, "child_indexes").empty();
      const auto kind = static_cast<std::uint32_t>(is_whole ? ValueKind::Copy : ValueKind::Expression);
      column.origin = origins_.add({{base << 2 | kind}, {}});
    }
    if (from < types.size()) column.type = types[from];
    if (from >= names.size() && from < kFirstVirtual)
      return fail(incomplete("a scan names a column that is not there"));
    relation.columns.push_back(column);
  }
  relation.columns = chosen(std::move(relation.columns), numbers(at.node, "projection_ids"));
  return relation;
}

// A table function with columns as arguments: range(t.n), unnest(t.list). It is called once for each row, so its
// arguments decide how many rows there are.
Result<Relation> Walk::call(Open& at) {
  Relation input = std::move(at.done.front());
  Relation relation;
  relation.rows = input.rows;
  Origin arguments;
  const std::size_t count = members(at.node, "input_table_types").size();
  for (std::size_t i = 0; i < count && i < input.columns.size(); ++i)
    merge(arguments, origins_.of(input.columns[i].origin), ValueKind::Expression);
  decide(relation.rows, arguments, RowRole::Join);
  const OriginId value = origins_.add(std::move(arguments));
  const std::vector<Element> types = members(at.node, "returned_types");
  const std::uint64_t ordinality = number(at.node, "ordinality_idx", kNoIndex);
  for (const Element index : members(at.node, "column_indexes")) {
    const std::uint64_t from = number(index, "index", kNoIndex);
    Column column;
    column.table_index = number(at.node, "table_index");
    column.column_index = relation.columns.size();
    if (from != ordinality) column.origin = value;
    if (from < types.size()) column.type = types[from];
    relation.columns.push_back(column);
  }
  for (const std::uint64_t passed : numbers(at.node, "projected_input")) {
    if (passed >= input.columns.size()) return fail(incomplete("a function passes on a column that is not there"));
    Column column = input.columns[passed];
    column.table_index = number(at.node, "table_index");
    column.column_index = relation.columns.size();
    relation.columns.push_back(column);
  }
  return relation;
}

Result<Relation> Walk::values(Open& at) {
  Relation relation;
  const Relation& input = at.done.front();
  const std::vector<Element> types = members(at.node, "expr_types");
  std::vector<Origin> all(types.size());
  simdjson::dom::array rows;
  if (at.node["expressions"].get(rows) != simdjson::SUCCESS) return fail(incomplete("VALUES without expressions"));
  for (const Element row : rows) {
    simdjson::dom::array cells;
    if (row.get(cells) != simdjson::SUCCESS) continue;
    std::size_t i = 0;
    for (const Element cell : cells) {
      WEIR_TRY(const Value value, evaluate(cell, input.columns, origins_, ValueKind::Expression));
      if (i < all.size()) merge(all[i++], value.origin, ValueKind::Copy);
    }
  }
  relation.rows = input.rows;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Column column;
    column.table_index = number(at.node, "table_index");
    column.column_index = i;
    column.origin = origins_.add(std::move(all[i]));
    column.type = types[i];
    relation.columns.push_back(column);
  }
  return relation;
}

Result<Relation> Walk::delim_get(const Open& at) {
  const std::size_t count = members(at.node, "chunk_types").size();
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (scope->outer.size() != count) continue;
    Relation relation;
    for (std::uint32_t i = 0; i < count; ++i) {
      Column column = scope->outer[i];
      column.table_index = number(at.node, "table_index");
      column.column_index = i;
      column.outer = OuterColumn{scope->id, i};
      relation.columns.push_back(column);
    }
    return relation;
  }
  return fail(incomplete("a correlated subquery reads columns that no outer query has"));
}

Result<Relation> Walk::cte_ref(const Open& at) {
  const auto found = ctes_.find(number(at.node, "cte_index"));
  const std::size_t count = members(at.node, "chunk_types").size();
  if (found == ctes_.end() || found->second.columns.size() < count)
    return fail(incomplete("a common table expression is read before it is known"));
  Relation relation = found->second;
  relation.is_single_row = false;
  relation.columns.resize(count);
  for (std::size_t i = 0; i < relation.columns.size(); ++i) {
    relation.columns[i].table_index = number(at.node, "table_index");
    relation.columns[i].column_index = i;
  }
  return relation;
}

Result<Relation> Walk::projection(Open& at) {
  Relation relation;
  relation.rows = std::move(at.done.front().rows);
  relation.is_single_row = at.done.front().is_single_row;
  const std::vector<Column>& input = at.done.front().columns;
  for (const Element expression : members(at.node, "expressions")) {
    WEIR_TRY(Value value, evaluate(expression, input, origins_, ValueKind::Expression));
    Column column;
    if (value.column != nullptr) {
      column = *value.column;
      column.is_single_value = false;
    } else {
      column.origin = origins_.add(std::move(value.origin));
      column.is_unpivot_list = text(expression, "name") == "unpivot_list";
      column.type = value.type;
    }
    column.table_index = number(at.node, "table_index");
    column.column_index = relation.columns.size();
    relation.columns.push_back(column);
  }
  return relation;
}

// DuckDB writes HAVING, QUALIFY, WHERE and parts of ON as filters. A filter straight below a join was part of an ON;
// one above an inner join was either, which only the text tells.
RowRole Walk::role_of_filter(const Open& at) const {
  for (std::size_t i = open_.size() - 1; i > 0; --i) {
    const Open& parent = open_[i - 1];
    if (parent.type == "LOGICAL_FILTER") continue;
    const bool is_left = parent.next == 1;
    const std::string_view kind = text(parent.node, "join_type");
    const bool compares = parent.type == "LOGICAL_COMPARISON_JOIN" || parent.type == "LOGICAL_ANY_JOIN" ||
                          parent.type == "LOGICAL_ASOF_JOIN" || (parent.type == "LOGICAL_DELIM_JOIN" && is_left);
    if (!compares || kind == "MARK" || kind == "SINGLE") break;
    for (const Element child : parent.children)
      if (text(child, "type") == "LOGICAL_DELIM_GET") return RowRole::Where;
    return RowRole::Join;
  }
  const std::string_view below = text(at.children.front(), "type");
  if (below != "LOGICAL_COMPARISON_JOIN" || text(at.children.front(), "join_type") != "INNER") return RowRole::Where;
  for (const Element expression : members(at.node, "expressions"))
    if (const std::uint64_t place = number(expression, "query_location", kNoIndex); place < sql_.size())
      return is_in_on(sql_, place) ? RowRole::Join : RowRole::Where;
  return RowRole::Where;
}

Result<Relation> Walk::filter(Open& at) {
  const RowRole role = role_of_filter(at);
  Relation relation = std::move(at.done.front());
  for (const Element expression : members(at.node, "expressions"))
    WEIR_CHECK(decide(expression, relation.columns, origins_, role, false, relation.rows));
  relation.columns = chosen(std::move(relation.columns), numbers(at.node, "projection_map"));
  return relation;
}

// Below a PIVOT of many values DuckDB groups twice: first by the pivoted columns too, whose values become columns and
// no rows.
std::uint64_t Walk::first_pivoted_group() const {
  constexpr std::array kChain{"LOGICAL_PROJECTION", "LOGICAL_AGGREGATE_AND_GROUP_BY", "LOGICAL_PROJECTION",
                              "LOGICAL_PIVOT"};
  if (open_.size() <= kChain.size()) return kNoIndex;
  for (std::size_t i = 0; i < kChain.size(); ++i)
    if (open_[open_.size() - 2 - i].type != kChain[i]) return kNoIndex;
  const auto bound = member(open_[open_.size() - 1 - kChain.size()].node, "bound_pivot");
  return bound ? number(*bound, "group_count") : kNoIndex;
}

Result<Relation> Walk::aggregate(Open& at) {
  const Relation input = std::move(at.done.front());
  Relation relation;
  relation.rows = input.rows;
  // The aggregates that DuckDB makes to turn a subquery into one value have no index for groupings.
  relation.is_single_row = number(at.node, "groupings_index") == kNoIndex;
  const std::uint64_t pivoted = first_pivoted_group();
  for (const Element group : members(at.node, "groups")) {
    if (relation.columns.size() < pivoted)
      WEIR_CHECK(decide(group, input.columns, origins_, RowRole::Group, true, relation.rows));
    WEIR_TRY(Value value, evaluate(group, input.columns, origins_, ValueKind::Expression));
    Column column;
    if (value.column != nullptr)
      column = *value.column;
    else
      column.origin = origins_.add(std::move(value.origin));
    if (value.type) column.type = value.type;
    column.table_index = number(at.node, "group_index");
    column.column_index = relation.columns.size();
    relation.columns.push_back(column);
  }
  std::uint64_t index = 0;
  for (const Element expression : members(at.node, "expressions")) {
    const std::vector<Element> operands = members(expression, "children");
    const bool is_first = relation.is_single_row && text(expression, "name") == "first" && operands.size() == 1;
    WEIR_TRY(Value value,
             evaluate(is_first ? operands.front() : expression, input.columns, origins_, ValueKind::Aggregate));
    Column column;
    if (is_first && value.column != nullptr)
      column = *value.column;
    else
      column.origin = origins_.add(std::move(value.origin));
    column.is_single_value = is_first;
    column.type = value.type;
    column.table_index = number(at.node, "aggregate_index");
    column.column_index = index++;
    relation.columns.push_back(column);
  }
  // GROUPING(…) tells which set a row belongs to: it holds no value of a column.
  for (std::size_t i = 0; i < members(at.node, "grouping_functions").size(); ++i) {
    Column column;
    column.table_index = number(at.node, "groupings_index");
    column.column_index = i;
    relation.columns.push_back(column);
  }
  return relation;
}

Result<Relation> Walk::window(Open& at) {
  Relation relation = std::move(at.done.front());
  const std::vector<Column> input = relation.columns;
  std::uint64_t index = 0;
  for (const Element expression : members(at.node, "expressions")) {
    const std::vector<Element> partitions = members(expression, "partitions");
    Origin origin;
    std::size_t outer = 0;
    for (const Element partition : partitions) {
      WEIR_TRY(const Value value, evaluate(partition, input, origins_, ValueKind::Window));
      if (value.column != nullptr && value.column->outer)
        ++outer;
      else
        merge(origin, value.origin, ValueKind::Window);
    }
    Column column;
    // LIMIT in a correlated subquery becomes a rank within the outer row: its order is an order, not a value.
    const bool is_limit = outer > 0 && outer == partitions.size() && text(expression, "type") == "WINDOW_ROW_NUMBER" &&
                          text(expression, "end") == "CURRENT_ROW_ROWS";
    if (is_limit) {
      WEIR_CHECK(decide_by_orders(expression, "orders", input, origin.rows));
    } else {
      WEIR_TRY(const Value value, evaluate(expression, input, origins_, ValueKind::Window, "partitions"));
      merge(origin, value.origin, ValueKind::Window);
      column.type = value.type;
    }
    column.origin = origins_.add(std::move(origin));
    column.table_index = number(at.node, "window_index");
    column.column_index = index++;
    relation.columns.push_back(column);
  }
  return relation;
}

Result<Relation> Walk::unnest(Open& at) {
  Relation relation = std::move(at.done.front());
  const std::vector<Column> input = relation.columns;
  std::uint64_t index = 0;
  for (const Element expression : members(at.node, "expressions")) {
    const auto list = member(expression, "child");
    if (!list) return fail(incomplete("an UNNEST without a list"));
    WEIR_TRY(Value value, evaluate(*list, input, origins_, ValueKind::Expression));
    Column column;
    if (value.column != nullptr && value.column->is_unpivot_list) {
      column.origin = value.column->origin;
    } else {
      // The length of the list decides how many rows there are.
      decide(relation.rows, value.origin, RowRole::Join);
      Origin element;
      merge(element, value.origin, ValueKind::Expression);
      column.origin = origins_.add(std::move(element));
    }
    if (const auto type = member(expression, "return_type")) column.type = type;
    column.table_index = number(at.node, "unnest_index");
    column.column_index = index++;
    relation.columns.push_back(column);
  }
  return relation;
}

Result<void> Walk::decide_by_orders(Element holder, std::string_view key, const std::vector<Column>& columns,
                                    Numbers& rows) {
  for (const Element order : members(holder, key))
    if (const auto expression = member(order, "expression"))
      WEIR_CHECK(decide(*expression, columns, origins_, RowRole::Order, true, rows));
  return {};
}

Result<Relation> Walk::distinct(Open& at) {
  Relation relation = std::move(at.done.front());
  for (const Element target : members(at.node, "distinct_targets"))
    WEIR_CHECK(decide(target, relation.columns, origins_, RowRole::Group, true, relation.rows));
  if (const auto order = member(at.node, "order_by"))
    WEIR_CHECK(decide_by_orders(*order, "orders", relation.columns, relation.rows));
  return relation;
}

Result<Relation> Walk::order(Open& at) {
  Relation relation = std::move(at.done.front());
  WEIR_CHECK(decide_by_orders(at.node, "orders", relation.columns, relation.rows));
  relation.columns = chosen(std::move(relation.columns), numbers(at.node, "projections"));
  return relation;
}

Result<Relation> Walk::limit(Open& at) {
  Relation relation = std::move(at.done.front());
  for (const std::string_view key : {"limit_val", "offset_val"})
    if (const auto value = member(at.node, key))
      if (const auto expression = member(*value, "expression"))
        WEIR_CHECK(decide(*expression, relation.columns, origins_, RowRole::Where, false, relation.rows));
  return relation;
}

}  // namespace weir::bind::plan
