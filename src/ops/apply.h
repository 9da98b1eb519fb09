// `weir apply`: builds what changed and moves the environment, all of it or nothing.
#pragma once

#include "ops/run.h"

namespace weir::ops {

struct ApplyRequest {
  run::RunOptions options;
  std::vector<std::string> select;
  std::vector<std::string> exclude;
  /// A saved plan: its environment and selection are applied, if the world is the one that it was made from.
  std::optional<std::string> plan_file;
};

struct ApplyOutcome {
  RunOutcome run;
  /// Models whose definition changed and whose rows provably did not: shown as they are.
  std::set<std::string> reused;
  /// False: every model is what the environment has already.
  bool has_changes = true;
};

/// Builds the models of the selection whose definition the environment does not have, with those of their producers
/// that it lacks, and moves it. Partitioned tables are left to `weir run`, which writes them partition by partition.
/// Errors: as run(), W5405 a breaking change that nobody approved, W5501 to W5505 of a saved plan.
Result<ApplyOutcome> apply(Workspace& workspace, const ApplyRequest& request, run::Listener& listener,
                           std::atomic<bool>& stop);

}  // namespace weir::ops
