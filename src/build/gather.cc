#include "build/gather.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "build/work.h"
#include "text/lexer.h"

namespace weir::build {
namespace {

/// Names that a subquery would change, and types that a table would.
Result<void> check_columns(const Work& work, const BoundPlan& plan, const std::vector<duck::Column>& columns,
                           const std::string& partition_column) {
  std::set<std::string> names;
  for (const duck::Column& column : columns)
    if (!names.insert(text::lower(column.name)).second)
      return fail(work.about(Code::W4001, fmt::format("the query returns two columns {}", column.name)));
  if (!plan.untyped.empty()) return fail(work.about(Code::W4001, "the query returns a column without a type"));
  const std::size_t last = columns.size() - 1;
  const bool is_plain = columns.back().type == "VARCHAR" && text::same_word(columns.back().name, partition_column) &&
                        std::find(plan.collated.begin(), plan.collated.end(), last) == plan.collated.end();
  if (!is_plain)
    return fail(work.about(
        Code::W4001, fmt::format("what is compared with the partition is {}, not plain text", columns.back().type)));
  return {};
}

}  // namespace

duck::Sql Gathered::rows_of(std::size_t partition) const {
  const duck::Identifier name(partition_column);
  return {"SELECT * EXCLUDE ({}) FROM {} WHERE {} = {}", name, table, name, static_cast<std::int64_t>(partition)};
}

Result<Gathered> gather(duck::Connection& connection, const GatherRequest& request) {
  const StageRequest stage{.model = request.model,
                           .partition = {},
                           .windows = {},
                           .run = request.run,
                           .step = request.step,
                           .setup = request.setup,
                           .query = request.query,
                           .target = {},
                           .lake = request.lake,
                           .earlier_rows = {}};
  Work work{connection, stage, request.query.sql(), {}, {}, {}, {}, {}, MacroPlaces(longest_of(stage))};
  WEIR_CHECK(run_setup(work));
  const auto plan = bind_plan(connection, request.query.sql());
  WEIR_CHECK(pass_gate(connection, plan, request.query, suspect_of(request.model, request.model.result())));
  if (!plan) return work.failed(plan.error(), request.query, std::nullopt);
  auto columns = connection.describe(request.query.sql());
  if (!columns) return work.failed(columns.error(), request.query, std::nullopt);
  WEIR_CHECK(check_columns(work, *plan, *columns, request.partition_column));

  Gathered gathered{
      .table = {std::string(lake::kStageDatabase), "main", fmt::format("weir-{}-{}-all", request.run, request.step)},
      .partition_column = request.partition_column};
  std::vector<duck::Sql> values;
  for (std::size_t i = 0; i < request.partitions.size(); ++i)
    values.push_back(duck::Sql("({}, {})", static_cast<std::int64_t>(i), duck::Literal(request.partitions[i])));
  const duck::Identifier name(request.partition_column);
  // Numbers, not names: the bounds that a table keeps of its row groups hold only the first bytes of a text.
  const auto made = connection.execute(
      duck::Sql("CREATE OR REPLACE TABLE {} AS SELECT gathered.* REPLACE (wanted.number AS {}) FROM ({}\n) AS gathered "
                "JOIN (VALUES {}) AS wanted(number, name) ON gathered.{} = wanted.name ORDER BY wanted.number",
                gathered.table, name, request.query.sql(), duck::Sql::join(values, ", "), name));
  if (!made) return work.failed(made.error(), request.query, std::nullopt);
  return gathered;
}

}  // namespace weir::build
