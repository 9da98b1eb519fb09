// What the project, as it is now, changes in an environment: the deployed texts loaded as a project of their own, both
// sides bound, every model classified.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ops/definitions.h"
#include "plan/changes.h"

namespace weir::ops {

/// Owns both sides; the changes point into them and into the workspace's graph.
struct EnvironmentChanges {
  Definitions deployed;
  std::unique_ptr<Project> deployed_project;
  std::unique_ptr<Graph> deployed_graph;
  std::vector<plan::ModelChange> changes;
  /// What binding the changed models says, warnings and hints.
  Diagnostics warnings;
};

/// Classifies every model of the project. Touches nothing; binds changed models and those above them only, so nothing
/// is bound where nothing changed.
/// Errors: of the project, of binding a changed model, W60xx a lake that cannot be read, W70xx.
Result<EnvironmentChanges> changes_in(Workspace& workspace, const std::string& environment, bool forward_only = false);

/// Models that `weir apply` gives to a run.
struct Work {
  std::set<std::string> models;
  /// Of them those whose rows stay as they are under the new definition.
  std::set<std::string> reused;
};

/// The same against definitions that an environment has or had.
Result<EnvironmentChanges> changes_between(Workspace& workspace, Definitions before, const std::string& environment,
                                           bool forward_only = false);

/// The selection and the changed models above it.
std::set<std::string> with_changed_above(const Graph& graph, const EnvironmentChanges& changes,
                                         std::set<std::string> selected);

/// What of the selection, and of the changed models above it, the environment of the workspace lacks: changed models
/// that are built as a whole, and owned ones that it does not show with their definition and the rows that they read,
/// whatever a run that failed has recorded. Requires: `changes` are of that environment.
Result<Work> work_of(Workspace& workspace, const EnvironmentChanges& changes, const std::set<std::string>& selection);

}  // namespace weir::ops
