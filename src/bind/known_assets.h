// What is known of each asset's columns while the project is bound, and where that knowledge comes from.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "bind/binder.h"
#include "bind/stand_ins.h"

namespace weir::bind {

class KnownAssets {
 public:
  KnownAssets(const Graph& graph, const Project& project, const Surroundings& surroundings)
      : graph_(graph), project_(project), surroundings_(surroundings) {}

  /// Null if nothing is known.
  SharedColumns columns(const Asset& asset) const;
  void set(const std::string& key, SharedColumns columns) { columns_[key] = std::move(columns); }
  /// The columns to bind a read of the asset with: what its model returns, what its source has, or what was captured
  /// last of a model's own table and of a source. Null if none of it is known. `is_own`: the reader makes the asset.
  SharedColumns columns_to_read(const Asset& asset, bool is_own);
  /// What readers of the model's assets see when its query returns `columns`.
  void set_output(const Model& model, const std::vector<BoundColumn>& columns);
  /// The same from the last capture, for a model whose query does not bind. Returns it, if there is one.
  std::optional<KnownSchema> set_captured(const Model& model);

  /// The last captured columns of an asset; `<t>_current` has its history's.
  const KnownSchema* captured(const Asset& asset);
  /// As the lake has them, for what no model returns.
  const KnownSchema* source(const Asset& asset) const;

  /// The asset itself; of `<t>_current` its history, where its columns come from.
  Asset history_of(const Asset& asset) const;

  /// Captures were asked for.
  bool has_looked_at_captures() const { return captured_.has_value(); }

  const Graph& graph() const { return graph_; }
  const Project& project() const { return project_; }
  std::map<std::string, SharedColumns> take() { return std::move(columns_); }

 private:
  const Graph& graph_;
  const Project& project_;
  const Surroundings& surroundings_;
  std::map<std::string, SharedColumns> columns_;
  std::optional<KnownSchemas> captured_;
};

/// The table that the model makes when its query returns `columns`.
SharedColumns table_of(const Model& model, const std::vector<BoundColumn>& columns);
/// Names of the assets under which readers find what a model makes.
std::vector<Asset> readable_assets(const Model& model);
bool has_column(const Columns& columns, std::string_view name);

}  // namespace weir::bind
