// `weir restore`: the rows of an earlier version of a managed table, put back as a new version.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "audit/audit.h"
#include "ops/workspace.h"
#include "publish/strategy.h"
#include "run/report.h"

namespace weir::ops {

struct RestoreRequest {
  std::string asset;
  /// Exactly one of them.
  std::optional<std::int64_t> version;
  std::optional<std::string> run;
  std::optional<std::string> before;
  std::string environment = "prod";
  /// Restore even what fails the model's tests.
  bool force = false;
  bool no_wait = false;
  /// The version of the table whose difference was shown and agreed to; if it has moved on, nothing is restored.
  std::optional<std::int64_t> agreed;
  /// The command line, for the run's record.
  std::string command;
};

struct RestoreReport {
  std::string asset;  // URI
  std::string model;
  /// The version of the lake whose rows come back, and when it was made.
  std::int64_t version = 0;
  std::string time;
  /// Newest version of the table before it.
  std::int64_t table_version = 0;
  bool is_unchanged = false;
  publish::Counts counts;
  std::int64_t rows = 0;
  /// Columns that stay and are NULL in what comes back, and those whose values do not come back.
  std::vector<std::string> added_since;
  std::vector<std::string> gone_since;
  /// Slices whose record changes: for how many of them a run vouches, which do not hold what any run wrote, and which
  /// had no rows then.
  std::int64_t vouched = 0;
  std::vector<std::string> outdated;
  std::vector<std::string> missing;
  std::vector<audit::Verdict> tests;
  /// Nothing for a preview.
  std::string run;
  std::optional<std::int64_t> snapshot_id;
  Diagnostics notes;
};

/// What restoring would do; touches nothing. Errors: W2012 no such table, W6604 none that a model writes, W6606 not
/// one version, W6601, W6602, W6603, W6605 no such version, table or run; those of publish::prepare_restore().
Result<RestoreReport> preview_restore(Workspace& workspace, const RestoreRequest& request);

/// Claims the table's slices, tests the earlier rows, and commits them as a new version under the lake's lock, with a
/// record from which the ledger can be made again. Errors: as above; W6101 with `no_wait`, W6609 the tests fail, W6611
/// the table moved since `agreed`, W6030 others kept writing, those of the commit, W7010 interrupted.
Result<RestoreReport> restore(Workspace& workspace, const RestoreRequest& request, run::Listener& listener,
                              const std::atomic<bool>& stop);

}  // namespace weir::ops
