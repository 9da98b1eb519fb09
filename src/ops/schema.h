// `weir schema`: the columns that were captured after publishes, version by version.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ops/workspace.h"

namespace weir::ops {

struct SchemaVersion {
  std::string asset;
  std::int64_t version = 0;
  std::string captured;
  std::string run;
  std::optional<std::int64_t> snapshot_id;
  /// In physical order, the partition column left out.
  std::vector<duck::Column> columns;
};

/// The captured versions of an asset, oldest first. Errors: W2012 nothing was captured of it.
Result<std::vector<SchemaVersion>> schema_versions(Workspace& workspace, const std::string& asset);

/// One of them; the newest without a number. Errors: as above; W2160 no such version.
Result<SchemaVersion> schema(Workspace& workspace, const std::string& asset, std::optional<std::int64_t> version);

/// What happened to one column between two versions.
struct ColumnChange {
  enum class Kind { Added, Removed, Retyped, Moved } kind = Kind::Added;
  std::string column;
  /// Types before and after; empty where there is none. Equal for Moved.
  std::string before;
  std::string after;
};
struct SchemaDiff {
  std::string asset;
  std::int64_t from = 0;
  std::int64_t to = 0;
  /// In the order of the newer version, then what is gone. Empty: the same columns.
  std::vector<ColumnChange> changes;
};
/// Errors: as schema().
Result<SchemaDiff> schema_diff(Workspace& workspace, const std::string& asset, std::int64_t from, std::int64_t to);

}  // namespace weir::ops
