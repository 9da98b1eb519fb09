// Expressions over the columns of one table: for metrics, and for whoever else has a piece of SQL and a table.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "bind/binder.h"
#include "bind/lineage.h"
#include "bind/plan_answer.h"
#include "bind/stand_ins.h"

namespace weir::bind {
namespace {

constexpr std::string_view kTable = "_weir_expression_table";
constexpr std::string_view kHead = "SELECT (\n";

/// True if some operator of the plan is of this type.
bool has_operator(const std::string& plan, std::string_view type) {
  return plan.find("{\"type\":\"" + std::string(type) + "\"") != std::string::npos;
}

BoundExpression read_answer(PlanAnswer& answer, const std::string& text) {
  BoundExpression bound;
  if (answer.refusal) {
    duck::Failure failure{answer.refusal->type, first_line(answer.refusal->message), std::nullopt};
    if (const auto at = answer.refusal->position; at && *at >= kHead.size() && *at < kHead.size() + text.size())
      failure.position = *at - static_cast<std::uint32_t>(kHead.size());
    bound.failure = std::move(failure);
    bound.failure_kind = answer.refusal->subtype;
    bound.missing_name = answer.refusal->name;
    return bound;
  }
  bound.has_aggregate = has_operator(answer.plan, "LOGICAL_AGGREGATE_AND_GROUP_BY");
  bound.has_window = has_operator(answer.plan, "LOGICAL_WINDOW");
  const auto lineage = trace(answer.plan, answer.names, answer.sql);
  if (!lineage || lineage->outputs.size() != 1) return bound;
  bound.type = lineage->outputs.front().type;
  for (const ValueSource& source : lineage->outputs.front().from) bound.columns.push_back(source.from.column);
  for (const RowSource& source : lineage->rows) bound.columns.push_back(source.from.column);
  std::sort(bound.columns.begin(), bound.columns.end());
  bound.columns.erase(std::unique(bound.columns.begin(), bound.columns.end()), bound.columns.end());
  return bound;
}

}  // namespace

duck::Outcome<std::vector<BoundExpression>> bind_over(StandIns& stand_ins, const Columns& columns,
                                                      const std::vector<std::string>& texts) {
  duck::Connection& connection = stand_ins.connection();
  if (auto made = connection.execute(create_stand_in(std::string(kTable), columns)); !made)
    return tl::unexpected(made.error());
  std::vector<std::string> queries;
  for (const std::string& text : texts)
    queries.push_back(std::string(kHead) + text + "\n) AS value FROM " + duck::quote_identifier(kTable));
  auto answers = bind_queries(connection, queries);
  if (!answers) return tl::unexpected(answers.error());
  std::vector<BoundExpression> bound;
  for (std::size_t i = 0; i < texts.size(); ++i) bound.push_back(read_answer((*answers)[i], texts[i]));
  return bound;
}

}  // namespace weir::bind
