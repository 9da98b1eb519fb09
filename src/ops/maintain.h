// `weir maintain`: what keeps a lake small and quick to read, without changing a row of any version that is needed.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lake/maintenance.h"
#include "ops/workspace.h"
#include "run/report.h"

namespace weir::ops {

struct MaintainRequest {
  /// Nothing: every lake.
  std::optional<std::string> lake;
  /// Files that no version has any more stay this long (`90s`, `1h`, `0`): somebody may still read an earlier version.
  /// A day, if nothing is said.
  std::optional<std::string> grace;
  bool dry_run = false;
};

struct MaintainedLake {
  std::string lake;
  /// Nothing: `retention:` is not set, so no version expires.
  std::optional<std::string> retention;
  lake::Expiry expiry;
  lake::Compacted merged;
  lake::Compacted rewritten;
  /// Files of expired versions and of merged ones, and files that no version ever had.
  std::int64_t old_files = 0;
  std::int64_t unknown_files = 0;
};

/// Expires, merges, rewrites and removes, in that order; each step takes the lake's lock for itself, so that runs get
/// in between. With `dry_run` only counts. Errors: W2012 no such lake, W0105 a grace that is no
/// duration, W6620 and what else the steps say, W7010.
Result<std::vector<MaintainedLake>> maintain(Workspace& workspace, const MaintainRequest& request,
                                             run::Listener& listener, const std::atomic<bool>& stop);

}  // namespace weir::ops
