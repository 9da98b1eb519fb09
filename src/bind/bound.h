// The project as DuckDB understands it: every model's columns and types, where each comes from, and what is wrong.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bind/lineage.h"
#include "duck/database.h"
#include "graph/graph.h"
#include "project/project.h"

namespace weir::bind {

using Columns = std::vector<duck::Column>;

/// Columns of an asset as they were captured after a publish, or as its lake holds them now.
struct KnownSchema {
  Columns columns;
  /// Number of the captured version; nothing if read live.
  std::optional<std::int64_t> version;
  /// When it was captured, ISO 8601 UTC.
  std::string captured;
};
/// By Asset::key().
using KnownSchemas = std::map<std::string, KnownSchema>;

/// Where a value of an output comes from, by asset. A file that a query reads is an asset of its own
/// ("file:orders.csv").
struct AssetColumn {
  std::string asset;  // URI
  std::string column;
  friend auto operator<=>(const AssetColumn&, const AssetColumn&) = default;
};

struct ColumnOrigin {
  AssetColumn from;
  ValueKind kind = ValueKind::Copy;
  bool is_declared = false;
};

struct RowOrigin {
  AssetColumn from;
  RowRole role = RowRole::Where;
};

struct BoundColumn {
  std::string name;
  std::string type;
  std::vector<ColumnOrigin> from;
};

struct BoundModel {
  enum class State {
    Bound,
    Failed,   // its own query is wrong: diagnostics say how
    Blocked,  // a producer's columns are not known
    Opaque,   // no query that could be bound: manual scripts
  };
  State state = State::Bound;
  /// Of the result query, in order. A failed or blocked model has the columns of its last capture, if there is one.
  std::vector<BoundColumn> columns;
  std::vector<RowOrigin> rows;
  /// Path of the model that is to blame, or URI of a source whose columns are not known; for Blocked.
  std::string blocked_by;
  /// Bound: where the columns come from is known in full. False where the engine gives no plan, or one with an operator
  /// that is not known: names and types are all there is then.
  bool is_traced = true;
  /// Tests whose queries could not be looked at, each with what is to blame as above.
  std::vector<std::pair<std::string, std::string>> blocked_tests;
  /// Opaque: why the columns cannot be known before it runs.
  std::string opaque_because;
};

struct Bound {
  /// As graph.models().
  std::vector<BoundModel> models;
  /// Sorted by file and position.
  Diagnostics diagnostics;
  /// The same project over the same sources gives the same: no capture, file or place outside it took part.
  bool is_lasting = true;
  /// What readers of an asset see, by Asset::key(): what models return with `_wm_partition` or a history's validity
  /// columns behind it (also under `<t>_current`), and sources. Assets whose columns are not known are absent.
  std::map<std::string, std::shared_ptr<const Columns>> assets;

  /// Null if they are not known.
  const Columns* columns_of(const Asset& asset) const {
    const auto found = assets.find(asset.key());
    return found == assets.end() ? nullptr : found->second.get();
  }
};

}  // namespace weir::bind
