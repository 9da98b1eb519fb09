// `weir rollback`: an environment shows an earlier generation again.
#pragma once

#include <atomic>
#include <optional>

#include "ops/workspace.h"
#include "run/promote.h"

namespace weir::ops {

struct RollbackRequest {
  std::string environment = "prod";
  /// Number of the generation; nothing: the one before the newest.
  std::optional<std::int64_t> to;
  bool is_dry_run = false;
  std::string command;
};

struct Rollback {
  std::int64_t from = 0;
  std::int64_t to = 0;
  /// The generation that was made; nothing for a dry run.
  std::optional<std::int64_t> made;
  struct Move {
    std::string model;
    std::string before;  // URI of the physical table; empty: it was not shown
    std::string after;   // empty: it is shown no more
  };
  std::vector<Move> moves;
};

/// Moves all views in one commit. Errors: W5401, W5409 no such generation, W5408 a table of it is gone (all are named),
/// and those of run::promote().
Result<Rollback> rollback(Workspace& workspace, const RollbackRequest& request, run::Listener& listener,
                          const std::atomic<bool>& stop);

/// The generations of an environment, newest first.
Result<std::vector<state::PromotionRecord>> generations(Workspace& workspace, const std::string& environment,
                                                        std::size_t limit);

}  // namespace weir::ops
