// Where columns come from and where they go: `weir lineage`, `weir impact`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bind/column_graph.h"
#include "ops/workspace.h"

namespace weir::ops {

struct LineageRequest {
  /// MODEL, MODEL.COLUMN, an asset URI, or URI.COLUMN.
  std::string what;
  bool up = true;
  bool down = false;
  /// Steps to follow; nothing: all.
  std::optional<std::size_t> depth;
  /// Look at no lake.
  bool offline = false;
};

struct LineageColumn {
  std::string name;
  /// Empty if it is not known.
  std::string type;
};

struct LineageStep {
  bind::AssetColumn from;
  bind::AssetColumn to;
  bind::ValueKind kind = bind::ValueKind::Copy;
  bool is_declared = false;
  /// Inferred, but a declared line speaks for the column.
  bool is_overruled = false;
  /// The model that makes `to` from `from`.
  std::string model;
  std::size_t distance = 1;
  /// Of the whole way from the start.
  bind::ValueKind way = bind::ValueKind::Copy;
};

struct LineageRow {
  bind::AssetColumn from;
  bind::RowRole role = bind::RowRole::Where;
  std::string model;
  /// The asset whose rows it decides.
  std::string asset;
};

/// A model whose columns are not known, and why.
struct LineageGap {
  std::string model;
  std::string why;
};

struct LineageReport {
  std::string asset;
  /// Empty for a source.
  std::string model;
  /// The columns asked about.
  std::vector<LineageColumn> columns;
  std::vector<LineageStep> up;
  std::vector<LineageStep> down;
  /// What decides the rows of the models on the way up, and the rows that the columns on the way down decide.
  std::vector<LineageRow> rows;
  std::vector<LineageGap> gaps;
  /// All columns of every asset above, with their types, where they are known.
  std::map<std::string, std::vector<LineageColumn>> schemas;
};
/// Errors: W2010 no such model, W2016 no such column, and those of checking that prevent looking at all.
Result<LineageReport> lineage(Workspace& workspace, const LineageRequest& request);

struct ImpactReport {
  std::string asset;
  std::string column;
  struct Value {
    bind::AssetColumn column;
    std::string model;
    bind::ValueKind kind = bind::ValueKind::Copy;
    std::size_t distance = 1;
  };
  struct Rows {
    std::string model;
    std::string asset;
    std::vector<bind::RowRole> roles;
    std::vector<bind::AssetColumn> columns;
    std::string through;
  };
  /// What a model's header says about a reached column: tests, key, measures.
  struct Mention {
    std::string model;
    std::string what;
    std::string column;
  };
  std::vector<Value> values;
  std::vector<Rows> rows;
  std::vector<Mention> mentions;
  std::vector<LineageGap> gaps;
};
/// What a change of one column reaches. `what` is MODEL.COLUMN or URI.COLUMN. Errors: as lineage().
Result<ImpactReport> impact(Workspace& workspace, const std::string& what, bool offline);

}  // namespace weir::ops
