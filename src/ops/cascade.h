// `weir run --cascade`: runs a selection, and then the subscribers of what it wrote, and theirs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "ops/run.h"
#include "state/cascade.h"

namespace weir::ops {

struct CascadeOutcome {
  RunOutcome run;
  /// Runs of subscribers, in their order.
  std::vector<run::RunReport> runs;
  /// What was decided of the writes of all these runs, and dispatches of earlier ones that were finished.
  std::vector<state::DispatchRecord> decisions;
  /// A subscriber failed, and is not tried again.
  bool has_failed = false;
};

/// Dispatches that earlier cascades of the environment left open are finished too. Subscribers run one after the other,
/// producers first; one that waits (debounce, retry) is waited for, unless the options say that nothing is.
/// Errors: as run(); the failure of a subscriber is none.
Result<CascadeOutcome> run_cascade(Workspace& workspace, const RunRequest& request, run::Listener& listener,
                                   std::atomic<bool>& stop);

/// The newest decisions of an environment, of one subscriber or of all. Errors: W8001 … no such model.
Result<std::vector<state::DispatchRecord>> cascade_events(Workspace& workspace, const std::optional<std::string>& model,
                                                          std::size_t limit);

/// "done", "failed", "pending", "running", "replaced", "waiting" or "skipped".
const std::string& status_of(const state::DispatchRecord& decision);
nlohmann::ordered_json to_json(const state::DispatchRecord& decision);
/// The run's result with `cascade`: `{decisions, runs}`.
nlohmann::ordered_json to_json(const CascadeOutcome& outcome);

}  // namespace weir::ops
