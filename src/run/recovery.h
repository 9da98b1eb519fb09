// Recovery: the lakes' commit records say what really happened; the state store is brought in line with them.
#pragma once

#include <atomic>

#include "lake/lakes.h"
#include "project/project.h"
#include "run/report.h"
#include "run/session.h"
#include "state/store.h"

namespace weir::run {

/// Runs that are recorded as open, or hold leases, but whose process is gone (same host: their lock file is free;
/// elsewhere: their leases' heartbeat has expired, or they are as old as that and hold none).
Result<std::vector<std::string>> dead_runs(const Project& project, state::Store& store);
/// Where live runs of this host keep their lock files.
std::string locks_folder(const Project& project);

/// At the start of any command that writes: reads commit records newer than the last reconciled version, marks their
/// steps materialized, marks steps of dead runs without a record failed, removes what those runs left behind.
/// Idempotent; may be killed itself. `stop` ends waiting for a lake's lock. Errors: W6103 stopped while waiting.
Result<void> recover(const Project& project, lake::Lakes& lakes, state::Store& store, Listener& listener,
                     const std::atomic<bool>& stop);

/// After a run whose own commits are the only new ones: they need not be read again.
Result<void> note_reconciled(Session& session, const RunReport& report);

/// What `weir state rebuild` did.
struct Rebuilt {
  std::int64_t commits = 0;
  std::int64_t slices = 0;
  /// Assets (with slice) that only the state store knew.
  std::vector<std::string> only_in_state;
};

/// Forgets the ledger and makes it anew from the lakes' commit records.
Result<Rebuilt> rebuild(const Project& project, lake::Lakes& lakes, state::Store& store, Listener& listener,
                        const std::atomic<bool>& stop);

}  // namespace weir::run
