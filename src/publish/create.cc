// Making the table: with the query's columns, and with what an earlier table of the name carried: a new table under the
// same name keeps none of it, so comments, defaults, NOT NULL, partitioning and order are said again in the same
// transaction.
#include <algorithm>

#include "publish/draft.h"

namespace weir::publish {
namespace {

duck::Sql column_definition(const ShapedColumn& column, bool keeps_default) {
  duck::Sql definition("{} {}", duck::Identifier(column.state.name), duck::Sql::verbatim(column.state.type));
  if (!column.state.nullable) definition += duck::Sql(" NOT NULL");
  if (keeps_default && column.state.default_sql)
    definition += duck::Sql(" DEFAULT {}", duck::Sql::verbatim(*column.state.default_sql));
  return definition;
}

bool has_column(const Shape& shape, const std::string& name) {
  return std::any_of(shape.columns.begin(), shape.columns.end(),
                     [&](const ShapedColumn& column) { return build::same_name(column.state.name, name); });
}

// Sort expressions are the lake's text. They can be restated if every column they may name is still there.
bool keeps_order(const Shape& shape, const lake::TableState& earlier) {
  const auto kept = [&](const std::string& expression) { return has_column(shape, expression); };
  if (std::all_of(earlier.sorted_by.begin(), earlier.sorted_by.end(), kept)) return true;
  return std::all_of(earlier.columns.begin(), earlier.columns.end(),
                     [&](const lake::ColumnState& column) { return has_column(shape, column.name); });
}

}  // namespace

std::vector<duck::Sql> Draft::create() {
  const lake::TableState& earlier = request.target;
  const duck::TableName table = writable();
  std::vector<duck::Sql> statements;
  effect.needs_schema = !earlier.exists;
  std::vector<duck::Sql> definitions;
  for (const ShapedColumn& column : shape.columns) {
    const lake::ColumnState* before = earlier.column(column.state.name);
    definitions.push_back(column_definition(column, before != nullptr && before->type == column.state.type));
  }
  statements.push_back(duck::Sql("CREATE OR REPLACE TABLE {} ({})", table, duck::Sql::join(definitions, ", ")));
  if (is_partitioned()) {
    statements.push_back(duck::Sql("ALTER TABLE {} SET PARTITIONED BY ({})", table,
                                   duck::Identifier(std::string(lake::kPartitionColumn))));
  } else if (earlier.has_other_partitioning ||
             !std::all_of(earlier.partitioned_by.begin(), earlier.partitioned_by.end(),
                          [&](const auto& name) { return has_column(shape, name); })) {
    warn(Code::W6023, "the partitioning that was set on " + request.model.target->uri() + " by hand could not be kept",
         "set it again with ALTER TABLE … SET PARTITIONED BY");
  } else if (!earlier.partitioned_by.empty() && !earlier.is_partitioned()) {
    statements.push_back(
        duck::Sql("ALTER TABLE {} SET PARTITIONED BY ({})", table, duck::Sql::names(earlier.partitioned_by)));
  }
  if (!earlier.sorted_by.empty()) {
    if (keeps_order(shape, earlier)) {
      std::vector<duck::Sql> order;
      for (const std::string& expression : earlier.sorted_by) order.push_back(duck::Sql::verbatim(expression));
      statements.push_back(duck::Sql("ALTER TABLE {} SET SORTED BY ({})", table, duck::Sql::join(order, ", ")));
    } else {
      warn(Code::W6023,
           "the sort order of " + request.model.target->uri() + " could not be kept: a column it may use is gone");
    }
  }
  if (earlier.comment)
    statements.push_back(duck::Sql("COMMENT ON TABLE {} IS {}", table, duck::Literal(*earlier.comment)));
  for (const ShapedColumn& column : shape.columns)
    if (column.state.comment)
      statements.push_back(duck::Sql("COMMENT ON COLUMN {}.{} IS {}", table, duck::Identifier(column.state.name),
                                     duck::Literal(*column.state.comment)));
  return statements;
}

}  // namespace weir::publish
