// The walk: observe, plan, claim, build, audit, publish, record. Reads as the list of its passes.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "env/placement.h"
#include "graph/graph.h"
#include "lake/lakes.h"
#include "plan/plan.h"
#include "project/project.h"
#include "run/report.h"
#include "run/session.h"
#include "state/store.h"

namespace weir::run {

struct Planned;

struct RunRequest {
  RunOptions options;
  /// The run's id, whose lock the caller holds; nothing: one is made.
  std::optional<std::string> run = {};
  /// Paths of the selected models.
  std::set<std::string> selected;
  /// --partition: for every partitioned model of the selection. Those whose kind has no such partition are skipped.
  std::optional<std::string> partition;
  /// Models that were asked for by name: a partition that does not fit one of them is an error.
  std::set<std::string> named = {};
  /// A backfill: the slices to build of these models, by path, and the models that build what follows from those.
  std::map<std::string, plan::SliceRange> ranges;
  std::set<std::string> following;
  /// Slices of a model are built one after another, in their order.
  bool one_by_one = false;
  /// --at: the instant that stands for now, ISO 8601.
  std::optional<std::string> at;
  /// "" or a model path -> argument -> value.
  std::map<std::string, std::map<std::string, std::string>> arguments;
  /// Owned models whose changed definition provably leaves their rows as they are: shown as they are, not built.
  std::set<std::string> reused;
  /// --as-of: steps read the versions that this run read. Everything that is selected is built.
  std::optional<std::string> as_of;
  /// No selector narrowed the selection: models that are gone from the project are taken out of the environment.
  bool is_whole = false;
  /// Called with the fingerprints of models by path and the run's id: records their definitions. Before anything is
  /// built; for models whose rows weir owns once the environment shows them.
  std::function<Result<void>(const std::map<std::string, std::string>& definitions, const std::string& run)> deploy;
  /// Asked before anything is claimed where the environment would show a changed definition, or no longer show a model;
  /// may refuse the run.
  std::function<Result<void>(const Planned& planned)> approve;
  /// Selected models that errors of files hold up, as they are reported; none of them is among the selected.
  std::vector<StepReport> held_up;
  /// Asked before anything is claimed, with the paths of the models that have something to build: the errors of those
  /// that cannot be built, by path. They and what needs them are reported and left out; the run is refused where
  /// nothing is left of what it selected.
  std::function<Result<std::map<std::string, Diagnostics>>(const std::set<std::string>&)> judge;
};

/// A plan with what it was made from; planning touches nothing.
struct Planned {
  Diagnostics notes;
  env::Environment environment;
  /// Fingerprints of all models, as this environment has their inputs.
  std::map<std::string, std::string> fingerprints;
  /// The graph with owned models at their physical tables; the plan's models live in it.
  env::Placed placed;
  plan::World world;
  plan::Plan plan;
};

/// Takes models out of the selection that have no partition because nothing gives a value, and those that need them,
/// and adds them to what is held up. Errors: theirs where nothing else was selected.
Result<void> hold_up_undecided(const Graph& graph, RunRequest& request);

/// Observes lakes, files and ledger and plans the selection.
/// Errors: W8004 unknown argument, W8005 a value that its argument's type does not take, W0153 … a partition value of
/// another kind.
Result<Planned> plan_run(const Project& project, const Graph& graph, lake::Lakes& lakes, state::Store& store,
                         const RunRequest& request);

/// Plans, claims the slices that are to be built, and runs them. A report comes back even if steps failed; its status
/// says so. Errors: what prevents running at all. W6101 with --no-wait: a slice is held by another run.
Result<RunReport> run(const Project& project, const Graph& graph, lake::Lakes& lakes, state::Store& store,
                      const RunRequest& request, Listener& listener, std::atomic<bool>& stop);

}  // namespace weir::run
