// Whether a run lives. On its own host an OS lock on a file says so at once, even after kill -9; elsewhere, and where
// the file is gone, the heartbeat of its leases does.
#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "state/store.h"

namespace weir::state {

/// Held by a run for its life: the lock on `<folder>/<run>.lock`, which no child process inherits. Gone with the
/// process, however it ends.
class RunLock {
 public:
  /// Errors: W7006 the folder cannot be written, or another process holds this run's lock.
  static Result<RunLock> take(const std::filesystem::path& folder, const std::string& run);
  RunLock(RunLock&& other) noexcept;
  RunLock& operator=(RunLock&& other) noexcept;
  ~RunLock();

 private:
  RunLock(std::filesystem::path file, int descriptor) : file_(std::move(file)), descriptor_(descriptor) {}
  void give_back();

  std::filesystem::path file_;
  int descriptor_ = -1;
};

enum class Liveness { Alive, Dead, Unknown };

/// What the lock file in `folder` says; Unknown if there is none: the run ended in order, or belongs to another copy of
/// the project.
Liveness liveness_of(const std::filesystem::path& folder, const std::string& run);
/// True if the lock file says that the run lives.
bool is_alive(const std::filesystem::path& folder, const std::string& run);
/// Removes the lock file of a dead run, once its leftovers are recovered. Does nothing if it lives.
void forget_run(const std::filesystem::path& folder, const std::string& run);

/// Runs whose lock file nobody holds: they died, or are just about to lock it.
std::vector<std::string> unheld_runs(const std::filesystem::path& folder);
/// When the run began, in seconds of the clock that stamps files: its lock file's time, or `started` where there is no
/// such file.
std::int64_t began(const std::filesystem::path& folder, const std::string& run, const std::string& started);

/// Seconds without a heartbeat after which a lease has expired: 30, or WEIR_LEASE_SECONDS.
std::int64_t lease_seconds();
/// How often a lease is renewed: every five seconds, six times before it expires if that is shorter.
std::chrono::milliseconds heartbeat_interval();
/// True if a heartbeat at `heartbeat` has expired at `now` (both as the store writes times).
bool is_expired(const std::string& heartbeat, const std::string& now);

/// The holders among `leases` that are certainly dead, each once: on this host by their lock file (by their heartbeat
/// where there is none), on others by their heartbeat. `now` is the time by the leases' clock. What Store::claim takes
/// as `dead_runs`.
std::vector<std::string> dead_runs(const std::filesystem::path& folder, const std::vector<Lease>& leases,
                                   const std::string& now);

/// Renews the leases of a run until it is destroyed, in a thread of its own.
class Heartbeat {
 public:
  /// Requires: `store` outlives it.
  Heartbeat(Store& store, std::string run, std::chrono::milliseconds interval = heartbeat_interval());
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;
  ~Heartbeat();
  /// Why the last renewal failed; empty if it did not. The next one is tried all the same, and Store::check has the
  /// last word.
  Diagnostics last_failure() const;

 private:
  void beat();

  Store& store_;
  const std::string run_;
  const std::chrono::milliseconds interval_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  Diagnostics failure_;
  std::thread thread_;
};

}  // namespace weir::state
