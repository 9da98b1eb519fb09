// Taking the fork of a lake away, catalog and data.
#pragma once

#include <atomic>
#include <string>

#include "base/result.h"
#include "project/config.h"

namespace weir::lake {

struct DropOptions {
  /// Folder of DuckDB's extensions.
  std::string extensions;
  /// Objects that cannot be removed are only warned of.
  bool leaves_objects = false;
  const std::atomic<bool>& stop;
};

/// Removes the catalog first, so that nobody finds a lake without its data, then the data. What carries another name
/// than a fork's is never touched. Removing what is gone is no error. Returns what is left for somebody else.
/// Failpoints: drop_catalog_removed. Errors: W5424 somebody holds it, W6005 a file or objects cannot be removed, W6001
/// the server refuses.
Result<Diagnostics> drop_fork(const LakeConfig& fork, const Config& config, const DropOptions& options);

}  // namespace weir::lake
