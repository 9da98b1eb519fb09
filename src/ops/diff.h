// `weir diff`: how the rows and columns of two assets, of two versions of one, or of two environments differ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ops/workspace.h"

namespace weir::ops {

/// What one side of a comparison names.
struct DiffOperand {
  /// `asset`, or `asset@version`: an `@` with a whole number behind it.
  std::string asset;
  std::optional<std::int64_t> version;
};
/// Errors: W6630 nothing before the `@`, or a version that is no whole number.
Result<DiffOperand> parse_operand(const std::string& text);

struct DiffRequest {
  std::string left;
  std::string right;
  /// Columns by which rows are paired; empty: rows are compared as a whole.
  std::vector<std::string> key;
  /// A condition that rows of both sides must meet; empty: all rows.
  std::string where;
  /// Sample rows of each kind.
  std::int64_t samples = 20;
};

using DiffCells = std::vector<std::optional<std::string>>;

struct DiffReport {
  struct Side {
    std::string asset;  // URI
    std::optional<std::int64_t> version;
    std::int64_t rows = 0;
  };
  Side left;
  Side right;
  struct ColumnDelta {
    enum class Kind { OnlyLeft, OnlyRight, Retyped } kind = Kind::OnlyLeft;
    std::string column;
    std::string left_type;
    std::string right_type;
  };
  std::vector<ColumnDelta> schema;
  /// Columns that both sides have, in the left one's order: those whose values are compared.
  std::vector<duck::Column> columns;
  std::vector<std::string> key;
  std::int64_t only_left = 0;
  std::int64_t only_right = 0;
  /// Rows of one key with other values, and in how many each column differs; nothing without a key.
  std::optional<std::int64_t> changed;
  std::vector<std::pair<std::string, std::int64_t>> changed_columns;
  /// Rows as text in the order of `columns`; private columns are masked.
  std::vector<DiffCells> left_samples;
  std::vector<DiffCells> right_samples;
  struct Change {
    DiffCells left;
    DiffCells right;
    /// Which of the columns differ.
    std::vector<bool> differs;
  };
  std::vector<Change> changes;
  Diagnostics warnings;

  bool is_equal() const { return schema.empty() && only_left == 0 && only_right == 0 && changed.value_or(0) == 0; }
};

/// Compares two tables or views, all of it in DuckDB. Columns pair by name without case; where their types differ, in
/// the wider type if there is one, else as text. NULL equals NULL.
/// Errors: W6630 no operand, or no column in common; W2012 no such asset; W6601, W6602, W6603 no such version or no
/// table in it; W6634 a version of a view; W6631 a key column that is not on both sides; W6633 a condition that is
/// none, and the gate's; W4001 the engine's.
Result<DiffReport> diff(Workspace& workspace, const DiffRequest& request);

/// The rows of every model of the project in two environments.
struct EnvironmentRows {
  struct Model {
    std::string path;
    bool in_left = false;
    bool in_right = false;
    /// Set where both have rows of it, in other places.
    std::optional<DiffReport> report;
    bool is_equal() const { return report ? report->is_equal() : in_left == in_right; }
  };
  /// Models whose rows differ, or that only one of them has, in the graph's order.
  std::vector<Model> models;
  std::int64_t same = 0;
  Diagnostics warnings;
};

/// True if both texts name environments: then `weir diff` compares those.
Result<bool> are_environments(Workspace& workspace, const std::string& left, const std::string& right);
/// Compares two environments of the project in `folder`, model by model. What lies in one place for both is not read.
/// Rows are paired by the key of the request, or by the model's own. Delivered tables and files are the same for both.
/// Errors: as diff(), naming the model; W6635 the two read one lake at different versions.
Result<EnvironmentRows> diff_rows(const std::string& folder, const DiffRequest& request);

}  // namespace weir::ops
