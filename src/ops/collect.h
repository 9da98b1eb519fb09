// `weir gc`: removes physical tables and views that nothing needs any more.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "ops/workspace.h"
#include "run/report.h"

namespace weir::ops {

struct CollectRequest {
  /// How long a table stays after the last environment ceased to show it.
  std::string grace = "7d";
  /// So many of the newest generations of each environment keep their tables.
  std::size_t keep = 5;
  bool is_dry_run = false;
};

struct Collected {
  struct Table {
    std::string uri;
    std::string model;  // empty: the state does not know the table
    std::string why;
    bool is_view = false;
  };
  std::vector<Table> removed;
  /// Tables that weir owns and that stay.
  std::int64_t kept = 0;
};

/// Removes in one commit. A table is kept while an environment shows it, while one of the newest generations does,
/// while a run holds it, and until its grace is over; of what the state does not know nothing goes while a run is open.
/// Errors: W8003 a grace that is no duration, W60xx, W70xx.
Result<Collected> collect(Workspace& workspace, const CollectRequest& request, run::Listener& listener,
                          const std::atomic<bool>& stop);

}  // namespace weir::ops
