#include "bind/lineage.h"

#include <fmt/format.h>

#include <algorithm>

#include "bind/plan_read.h"
#include "bind/plan_walk.h"

namespace weir::bind {

std::string_view name_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::Copy:
      return "copy";
    case ValueKind::Expression:
      return "expression";
    case ValueKind::Aggregate:
      return "aggregate";
    case ValueKind::Window:
      return "window";
  }
  return "";
}

std::string_view name_of(RowRole role) {
  switch (role) {
    case RowRole::Where:
      return "where";
    case RowRole::Join:
      return "join";
    case RowRole::Group:
      return "group";
    case RowRole::Order:
      return "order";
  }
  return "";
}

namespace {

// Open brackets, not bytes: some hundred CTEs within each other take a few thousand.
constexpr std::size_t kDeepest = 65536;

QueryLineage spelled(const plan::Relation& relation, const plan::Origins& origins,
                     const std::vector<std::string>& names) {
  QueryLineage lineage;
  plan::Numbers rows = relation.rows;
  for (std::size_t i = 0; i < relation.columns.size(); ++i) {
    const plan::Column& column = relation.columns[i];
    OutputColumn output{names[i], column.type ? plan::spelling(*column.type) : "BOOLEAN", {}};
    for (const std::uint32_t value : origins.of(column.origin).values)
      output.from.push_back({origins.column(value >> 2), static_cast<ValueKind>(value & 3U)});
    std::sort(output.from.begin(), output.from.end());
    lineage.outputs.push_back(std::move(output));
    plan::merge(rows, origins.of(column.origin).rows);
  }
  for (const std::uint32_t row : rows)
    lineage.rows.push_back({origins.column(row >> 2), static_cast<RowRole>(row & 3U)});
  std::sort(lineage.rows.begin(), lineage.rows.end());
  return lineage;
}

}  // namespace

Result<QueryLineage> trace(std::string_view plan_json, const std::vector<std::string>& names, std::string_view sql) {
  simdjson::dom::parser parser;
  if (parser.allocate(plan_json.size(), kDeepest) != simdjson::SUCCESS)
    return fail(plan::incomplete("the plan is too large"));
  plan::Element document;
  if (parser.parse(plan_json.data(), plan_json.size(), true).get(document) != simdjson::SUCCESS)
    return fail(plan::incomplete("the plan is not readable"));
  const auto plans = plan::members(document, "plans");
  if (plans.size() != 1) return fail(plan::incomplete("there is no plan of one statement"));
  plan::Walk walk(sql);
  WEIR_TRY(const plan::Relation relation, walk.follow(plans.front()));
  if (relation.columns.size() != names.size())
    return fail(
        plan::incomplete(fmt::format("the plan has {} columns, the query {}", relation.columns.size(), names.size())));
  return spelled(relation, walk.origins(), names);
}

}  // namespace weir::bind
