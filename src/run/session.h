// What every step of one run shares: the project, the lakes, the state store, the options, and whether somebody asked
// to stop.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>

#include "env/placement.h"
#include "graph/graph.h"
#include "lake/lakes.h"
#include "plan/plan.h"
#include "project/project.h"
#include "run/batch.h"
#include "run/images.h"
#include "run/read_versions.h"
#include "run/report.h"
#include "run/running.h"
#include "state/store.h"

namespace weir::run {

struct RunOptions {
  std::string environment = "prod";
  std::string command;
  int jobs = 2;
  bool atomic = false;
  bool no_wait = false;
  bool force = false;
  bool full_refresh = false;
  /// Models that were built are shown although others of the selection failed.
  bool partial = false;
  /// Changed models whose rows accumulate keep those that they have.
  bool forward_only = false;
  /// Breaking changes are meant.
  bool approved = false;
  /// All steps read one version of each lake: the newest when the run began. What the run builds itself is read as it
  /// builds it.
  bool pin = false;
};

struct Session {
  const Project& project;
  const Graph& graph;
  const plan::Plan& plan;
  const plan::World& world;
  /// Where the rows of owned models lie, by path.
  const std::map<std::string, env::Placement>& owned;
  const env::Placed& placed;
  lake::Lakes& lakes;
  state::Store& store;
  Listener& listener;
  const RunOptions& options;
  std::string run;
  /// Effective time of the run, UTC microseconds.
  std::int64_t effective_micros = 0;
  std::atomic<bool>& stop;
  /// Set when the state store did not take what a step did: then the next command must read the lakes' commit records.
  std::atomic<bool> unrecorded{false};
  ReadVersions read_versions = {};
  Images images;
  Running running{listener.wants_shares()};
  /// Targets of the run's steps as they were when it began; key is Asset::key().
  std::map<std::string, lake::TableState> targets;
  /// Models, by path, whose slices one query may compute.
  std::map<std::string, std::unique_ptr<Batch>> batches = {};

  /// The lake of the model's target; the default one for a target that lies in none.
  const lake::Lake& lake_of(const Model& model) const {
    return model.target->kind == AssetKind::Lake ? lakes.lake(model.target->place) : lakes.all().front();
  }
};

}  // namespace weir::run
