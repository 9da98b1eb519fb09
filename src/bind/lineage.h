// Column lineage: from DuckDB's bound plan of one query to the columns that each output comes from, and those that only
// decide which rows there are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace weir::bind {

/// A column of a table as the plan names it. The table is the stand-in's name, or a temporary table's.
struct TableColumn {
  std::string table;
  std::string column;
  friend auto operator<=>(const TableColumn&, const TableColumn&) = default;
};

/// How a source forms an output, from the weakest change to the strongest: along a path of several steps, and among
/// several paths from one source, the later enumerator wins.
enum class ValueKind { Copy, Expression, Aggregate, Window };
/// How a column decides which rows there are, whether or not it forms a value too. ON and USING, and the comparison of
/// rows by EXCEPT and INTERSECT, are Join, as is a list whose elements become rows; WHERE, HAVING, QUALIFY and the
/// expression of a LIMIT are Where; GROUP BY and DISTINCT are Group.
enum class RowRole { Where, Join, Group, Order };

std::string_view name_of(ValueKind kind);
std::string_view name_of(RowRole role);

struct ValueSource {
  TableColumn from;
  ValueKind kind = ValueKind::Copy;
  friend auto operator<=>(const ValueSource&, const ValueSource&) = default;
};

struct RowSource {
  TableColumn from;
  RowRole role = RowRole::Where;
  friend auto operator<=>(const RowSource&, const RowSource&) = default;
};

struct OutputColumn {
  std::string name;
  /// DuckDB's spelling of the type.
  std::string type;
  /// Sorted, without repeats. Empty: a constant, or rows counted.
  std::vector<ValueSource> from;
};

/// What one query's plan tells.
struct QueryLineage {
  std::vector<OutputColumn> outputs;
  /// Of the whole query; sorted, without repeats.
  std::vector<RowSource> rows;
};

/// Follows every output of a plan that `json_serialize_plan` wrote (bound, not optimised) to base table columns.
/// `names` are the output names, since the plan does not carry aliases of the topmost projection in every form.
/// `sql` is the text that was bound: where an inner join's ON holds more than comparisons, DuckDB writes the rest as a
/// filter, and only the text tells it from a WHERE; without it such a filter counts as one.
/// A table is named without the catalog `memory` or `temp` and the schema `main`; files are `file:a.parquet`, several
/// separated by commas; what another function reads is `function()`.
/// Errors: W2190 an operator or expression that this version does not know (named): lineage would be incomplete. It is
/// a warning in severity: the query itself is sound.
Result<QueryLineage> trace(std::string_view plan_json, const std::vector<std::string>& names,
                           std::string_view sql = {});

}  // namespace weir::bind
