// `weir run`: select, plan, and build.
#pragma once

#include <atomic>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <set>

#include "graph/select.h"
#include "ops/workspace.h"
#include "run/run.h"

namespace weir::ops {

struct RunRequest {
  run::RunOptions options;
  std::vector<std::string> select;
  std::vector<std::string> exclude;
  std::optional<std::string> from;
  std::vector<std::string> to;
  std::optional<std::string> partition;
  std::optional<std::string> at;
  /// See run::RunRequest.
  std::optional<std::string> as_of = {};
  /// A backfill: the slices to build of the model `ranged`; what else is selected builds what follows from those.
  std::optional<plan::SliceRange> range = {};
  std::optional<std::string> ranged = {};
  /// See arguments_of().
  std::vector<std::string> arguments;
  std::vector<std::string> uploads = {};
  /// Exactly these models, whatever `select` says.
  std::optional<std::set<std::string>> models = {};
  /// See run::RunRequest.
  std::set<std::string> reused = {};
  bool takes_out_removed = false;
  /// The run's id, whose lock the caller holds; nothing: one is made.
  std::optional<std::string> run = {};
  /// Called with the paths of the selected models before the run begins.
  std::function<Result<void>(const std::set<std::string>& selected)> begin = {};
};

struct RunOutcome {
  run::RunReport report;
  /// `--to` that are not downstream of `--from`, and the like.
  Diagnostics warnings;
  /// Where `--from` or `--to` was given.
  std::optional<PathBetween> path = {};
};
/// The report, and the path as keys `start`, `ends`, `dropped_ends` and `barriers`.
nlohmann::ordered_json to_json(const RunOutcome& outcome);
nlohmann::ordered_json to_json(const PathBetween& path);

/// Models that errors in files hold up are reported, the others run. Errors: those of the files where they hold up all
/// that is selected, an unknown selector, W8003 a malformed --arg, and what prevents running at all.
Result<RunOutcome> run(Workspace& workspace, const RunRequest& request, run::Listener& listener,
                       std::atomic<bool>& stop);

struct DryRun {
  run::Planned planned;
  /// Selected models that errors in files hold up.
  std::vector<run::StepReport> held_up;
  Diagnostics warnings;
  /// As above.
  std::optional<PathBetween> path = {};
};

/// The numbered order with reasons; touches nothing.
Result<DryRun> dry_run(Workspace& workspace, const RunRequest& request);

}  // namespace weir::ops
