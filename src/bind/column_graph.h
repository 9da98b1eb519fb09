// Which columns of the project come from which: what binding found in each model, joined into one graph.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bind/bound.h"
#include "graph/graph.h"

namespace weir::bind {

class ColumnGraph {
 public:
  /// One source of one column of a model's result.
  struct Edge {
    AssetColumn from;
    AssetColumn to;
    ValueKind kind = ValueKind::Copy;
    bool is_declared = false;
    /// A declared line speaks for this column, so what was inferred is only shown.
    bool is_overruled = false;
    std::size_t model = 0;
  };
  /// A column that decides the rows of a model's result.
  struct RowEdge {
    AssetColumn from;
    RowRole role = RowRole::Where;
    std::size_t model = 0;
  };

  /// Requires: `bound` is of `graph`, and both outlive this.
  ColumnGraph(const Graph& graph, const Bound& bound);

  const Graph& graph() const { return graph_; }
  const Bound& bound() const { return bound_; }

  /// Numbers of the edges that end at a column, or start from it. Names compare without case.
  const std::vector<std::size_t>& into(const AssetColumn& column) const;
  const std::vector<std::size_t>& out_of(const AssetColumn& column) const;
  /// Numbers of the row edges that start from a column.
  const std::vector<std::size_t>& decided_by(const AssetColumn& column) const;
  /// Numbers of the row edges of a model.
  const std::vector<std::size_t>& rows_of(std::size_t model) const { return rows_of_[model]; }
  const Edge& edge(std::size_t number) const { return edges_[number]; }
  const RowEdge& row_edge(std::size_t number) const { return row_edges_[number]; }

  /// Index of the model whose result the asset is; nothing for a source. `asset` is a URI.
  std::optional<std::size_t> model_of(std::string_view asset) const;

 private:
  const Graph& graph_;
  const Bound& bound_;
  std::vector<Edge> edges_;
  std::vector<RowEdge> row_edges_;
  std::vector<std::vector<std::size_t>> rows_of_;
  std::map<std::string, std::vector<std::size_t>> into_;
  std::map<std::string, std::vector<std::size_t>> out_of_;
  std::map<std::string, std::vector<std::size_t>> decided_by_;
  std::map<std::string, std::size_t, std::less<>> models_;
};

/// The URI under which a model's result is known in lineage: its target, or its relation.
std::string asset_of(const Model& model);
/// Column names and assets compare without case: the identity of both.
std::string key_of(const AssetColumn& column);

/// A walk from some columns, up to what they come from or down to what comes from them.
struct Step {
  std::size_t edge = 0;
  /// Steps from the start; 1 for its own edges.
  std::size_t distance = 1;
  /// Of the whole way from the start: the strongest kind on it.
  ValueKind kind = ValueKind::Copy;
};
enum class Direction { Up, Down };
/// Every counting edge within `depth` steps, nearest first, each once. A way that is found twice has its strongest
/// kind.
std::vector<Step> walk(const ColumnGraph& columns, const std::vector<AssetColumn>& start, Direction direction,
                       std::size_t depth);

/// What a change of one column reaches.
struct Impact {
  struct Value {
    AssetColumn column;
    std::size_t model = 0;
    ValueKind kind = ValueKind::Copy;
    std::size_t distance = 1;
  };
  struct Rows {
    std::size_t model = 0;
    /// How the model uses a reached column; empty if only the rows of `through` reach it.
    std::vector<RowRole> roles;
    /// The column that decides them, as read by this model.
    std::vector<AssetColumn> columns;
    /// A producer whose rows are reached.
    std::optional<std::size_t> through;
  };
  /// Columns whose values may change, nearest first.
  std::vector<Value> values;
  /// Models whose rows may change, producers first.
  std::vector<Rows> rows;
  /// Models that read a reached asset, and of whose columns nothing is known.
  std::vector<std::size_t> unknown;
};
Impact impact_of(const ColumnGraph& columns, const AssetColumn& column);

}  // namespace weir::bind
