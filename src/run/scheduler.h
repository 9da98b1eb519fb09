// Runs a plan: worker threads compute and audit steps whose inputs are readable, one publisher commits them in groups,
// and the calling thread shows progress and watches for a request to stop.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "run/publisher.h"
#include "run/session.h"
#include "run/step.h"

namespace weir::run {

class Scheduler {
 public:
  explicit Scheduler(Session& session);

  /// Runs every step to its end and returns their reports in the plan's order.
  /// Errors: only what prevents working at all (no connection to the instance).
  Result<std::vector<StepReport>> run(std::vector<state::Lease> leases);

 private:
  enum class Phase {
    Waiting,     // for its producers
    Working,     // on a worker
    Staged,      // computed and audited, may be read, waits for its group
    Publishing,  // in the group that is being committed
    Committed,   // published, `audit: after` still to come
    Ended,
  };
  struct Slot {
    Phase phase = Phase::Waiting;
    StepWork work;
    /// Steps that read it.
    std::vector<std::size_t> readers;
    std::chrono::steady_clock::time_point staged_at;
    /// What read a failed producer must not run.
    bool broken = false;
    /// Nothing is to be built: the table is audited as it is.
    bool only_audited = false;
    /// Its stage was given up, or is about to be.
    bool released = false;
  };

  void work();
  void publish_groups();
  void watch();
  /// The functions below require mutex_ to be held, unless they say otherwise.
  bool finished() const { return ended_ == slots_.size(); }
  /// The only way to another phase, so that the counts hold.
  void enter(std::size_t id, Phase phase);
  /// A step that a worker can take now; marks steps that can't run any more on the way. Requires: mutex_ held.
  std::optional<std::size_t> next_step();
  enum class Inputs { Readable, NotYet, Broken };
  Inputs inputs_of_step(const Slot& slot, std::string& blamed) const;
  std::optional<std::string> reason_to_build_now(const Slot& slot) const;
  void begin_step(std::size_t id);
  void note_versions(StepWork& work);
  void take_step(std::size_t id, duck::Connection& clean);
  void end_step(std::size_t id);
  bool group_is_due() const;
  bool waits_for_batch() const;
  std::vector<std::size_t> take_group(std::string& lake) const;
  bool is_unneeded(const Slot& slot) const;
  void note_unneeded(std::size_t id);
  void release_unneeded(std::unique_lock<std::mutex>& lock, duck::Connection& clean);
  static void release(StepWork& work, duck::Connection& clean);
  void cancel_waiting();
  void fail_rest_of_atomic_run();
  void skip_readers_of_failed();

  Session& session_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable all_ended_;
  std::vector<Slot> slots_;
  // What is asked after every step is counted, never looked for: a run may have ten thousand.
  std::size_t ended_ = 0;
  std::size_t busy_ = 0;
  /// Steps to look at: those waiting whose producers moved, in the plan's order, and those whose audit is due.
  std::set<std::size_t> candidates_;
  std::set<std::pair<std::chrono::steady_clock::time_point, std::size_t>> staged_;
  /// Of those the ones whose commit takes long.
  std::set<std::size_t> slow_;
  /// Steps whose stages nobody reads any more and that still exist.
  std::vector<std::size_t> unneeded_large_;
  std::vector<std::size_t> unneeded_small_;
  std::optional<Publisher> publisher_;
  Diagnostics broken_;
};

}  // namespace weir::run
