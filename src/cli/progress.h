// What a run shows while it goes on: one live line per running step on a terminal, and a settled line per finished one
// everywhere.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <utility>

#include "cli/output.h"
#include "run/report.h"

namespace weir::cli {

/// The settled line of a step:
///   ✓ sales/orders_daily [2026-07-05]  merge  12,408 rows (+311 ~27 =12,070)  v42  5 tests  0.42 s
/// On a terminal a few rows that failed a test stand below it; elsewhere a line says what shows them: messages that
/// travel to logs hold counts only. `options`: what the command line said of the run, " --env dev", to be repeated.
std::string settled_line(const run::StepReport& step, const Streams& streams, const std::string& options = {});

/// "3 min left": how long `total - ended` steps take if they take as long as those that ended since `begun` were done,
/// in `elapsed`. Empty until three have ended.
std::string time_left(std::size_t begun, std::size_t ended, std::size_t total, std::chrono::duration<double> elapsed);

/// Writes to `err`. With `events`, NDJSON of events to `out` instead. Threads: safe.
class Progress : public run::Listener {
 public:
  /// `options`: see settled_line().
  Progress(Streams& streams, bool quiet, bool events, std::string options = {})
      : streams_(streams), quiet_(quiet), events_(events), options_(std::move(options)) {}
  void started(std::size_t steps) override;
  void step_started(const std::string& label) override;
  void step_ended(const run::StepReport& step) override;
  void tick(const std::vector<Running>& running, std::size_t ended, std::size_t total) override;
  bool wants_shares() const override { return is_live(); }
  void message(const std::string& text) override;
  /// Takes the live lines away.
  void clear();

 private:
  bool is_live() const { return !quiet_ && !events_ && streams_.err_is_terminal; }
  void erase_live();

  std::mutex mutex_;
  Streams& streams_;
  bool quiet_;
  bool events_;
  std::string options_;
  std::size_t live_lines_ = 0;
  /// The first tick, and what had ended by then: fresh steps take no time.
  std::optional<std::chrono::steady_clock::time_point> began_;
  std::size_t ended_at_first_ = 0;
};

}  // namespace weir::cli
