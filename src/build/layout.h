// What happens to each column of a result on its way into the stage: its name, its type, the cast that brings it there
// and the proof it needs.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "build/stage.h"

namespace weir::build {

struct Cell {
  /// Name and type in the user's result.
  std::string source;
  std::string raw_type;
  /// Name and type in the stage.
  std::string name;
  std::string type;
  /// The value is cast to `type`.
  bool is_cast = false;
  /// The cast may lose values: each is cast back and compared.
  bool needs_proof = false;
  /// A plain CAST is exact or raises an error: whole numbers to whole numbers and decimals.
  bool is_exact_or_raises = false;
  /// The target refuses NULL.
  bool is_required = false;
};

struct Layout {
  std::vector<Cell> cells;
  /// The stage's columns without the partition column.
  std::vector<lake::ColumnState> columns;
  Drift drift;
  Diagnostics notes;
};

/// What no run could store, whatever the table holds now: W4101, W4104, W4105. Pure.
Diagnostics judge_columns(const Model& model, const std::vector<duck::Column>& result);

/// Judges the names and types of a result and decides what each column becomes. Pure.
/// Errors: W4101 a type that a lake cannot hold, W4104 duplicate names, W4105 a reserved name, W4201 drift under
/// on_schema_change=fail, W4203 a column that the target requires is missing.
Result<Layout> lay_out(const StageRequest& request, const std::vector<duck::Column>& result);

/// The columns of the query placed in the stage, from a relation called "result". `lost_prefix` names the proof
/// columns; empty: no proofs, which requires that every cast is exact or raises.
duck::Sql select_list(const Layout& layout, const StageRequest& request, const std::string& lost_prefix);
/// True where `cell`'s value in relation "result" does not survive its cast.
duck::Sql is_lost(const Cell& cell);

/// Errors: W4106 a partition value that a lake cannot name a folder by.
Result<void> check_partition_value(const StageRequest& request);
/// The value as DuckDB writes it into a hive folder's name.
std::string hive_encoded(std::string_view value);

}  // namespace weir::build
