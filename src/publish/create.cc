// Making the table: with the query's columns, and with what an earlier table of the name carried: a new table under the
// same name keeps none of it, so comments, defaults, NOT NULL, partitioning and order are said again in the same
// transaction.
#include <algorithm>

#include "project/window_rows.h"
#include "publish/draft.h"

namespace weir::publish {
namespace {

duck::Sql column_definition(const lake::ColumnState& column) {
  duck::Sql definition("{} {}", duck::Identifier(column.name), duck::Sql::verbatim(column.type));
  if (!column.nullable) definition += duck::Sql(" NOT NULL");
  if (column.default_sql) definition += duck::Sql(" DEFAULT {}", duck::Sql::verbatim(*column.default_sql));
  return definition;
}

bool has_column(const Shape& shape, const std::string& name) {
  return std::any_of(shape.columns.begin(), shape.columns.end(),
                     [&](const ShapedColumn& column) { return build::same_name(column.state.name, name); });
}

bool is_date(const Shape& shape, const std::string& name) {
  return std::any_of(shape.columns.begin(), shape.columns.end(), [&](const ShapedColumn& column) {
    return build::same_name(column.state.name, name) && column.state.type == "DATE";
  });
}

// Sort expressions are the lake's text. They can be restated if every column they may name is still there.
bool keeps_order(const Shape& shape, const lake::TableState& earlier) {
  const auto kept = [&](const std::string& expression) { return has_column(shape, expression); };
  if (std::all_of(earlier.sorted_by.begin(), earlier.sorted_by.end(), kept)) return true;
  return std::all_of(earlier.columns.begin(), earlier.columns.end(),
                     [&](const lake::ColumnState& column) { return has_column(shape, column.name); });
}

}  // namespace

std::vector<duck::Sql> make_like(const duck::TableName& table, const lake::TableState& like) {
  std::vector<duck::Sql> statements;
  std::vector<duck::Sql> definitions;
  for (const lake::ColumnState& column : like.columns) definitions.push_back(column_definition(column));
  statements.push_back(duck::Sql("CREATE OR REPLACE TABLE {} ({})", table, duck::Sql::join(definitions, ", ")));
  if (!like.partitioned_by.empty())
    statements.push_back(
        duck::Sql("ALTER TABLE {} SET PARTITIONED BY ({})", table, duck::Sql::names(like.partitioned_by)));
  if (!like.sorted_by.empty()) {
    std::vector<duck::Sql> order;
    for (const std::string& expression : like.sorted_by) order.push_back(duck::Sql::verbatim(expression));
    statements.push_back(duck::Sql("ALTER TABLE {} SET SORTED BY ({})", table, duck::Sql::join(order, ", ")));
  }
  if (like.comment) statements.push_back(duck::Sql("COMMENT ON TABLE {} IS {}", table, duck::Literal(*like.comment)));
  for (const lake::ColumnState& column : like.columns)
    if (column.comment)
      statements.push_back(duck::Sql("COMMENT ON COLUMN {}.{} IS {}", table, duck::Identifier(column.name),
                                     duck::Literal(*column.comment)));
  return statements;
}

std::vector<duck::Sql> Draft::create() {
  const lake::TableState& earlier = request.target;
  effect.needs_schema = !earlier.exists;
  lake::TableState made;
  made.comment = earlier.comment;
  for (const ShapedColumn& column : shape.columns) {
    const lake::ColumnState* before = earlier.column(column.state.name);
    made.columns.push_back(column.state);
    if (before == nullptr || before->type != column.state.type) made.columns.back().default_sql.reset();
  }
  const bool is_by_time = earlier.partitioned_by.size() == 1 && is_windowed(request.model) &&
                          build::same_name(earlier.partitioned_by[0], request.model.time_column);
  if (!request.stage.folders_of.empty() && (earlier.partition_columns.empty() || is_by_time)) {
    made.partitioned_by = {request.stage.folders_of};
  } else if (is_partitioned()) {
    made.partitioned_by = {std::string(lake::kPartitionColumn)};
  } else if (earlier.has_other_partitioning ||
             !std::all_of(earlier.partitioned_by.begin(), earlier.partitioned_by.end(),
                          [&](const auto& name) { return has_column(shape, name); })) {
    warn(Code::W6023, "the partitioning that was set on " + request.model.target->uri() + " by hand could not be kept",
         "set it again with ALTER TABLE … SET PARTITIONED BY");
  } else if (!earlier.is_partitioned() && (!is_by_time || is_date(shape, request.model.time_column))) {
    made.partitioned_by = earlier.partitioned_by;
  }
  if (keeps_order(shape, earlier))
    made.sorted_by = earlier.sorted_by;
  else
    warn(Code::W6023,
         "the sort order of " + request.model.target->uri() + " could not be kept: a column it may use is gone");
  return make_like(writable(), made);
}

}  // namespace weir::publish
