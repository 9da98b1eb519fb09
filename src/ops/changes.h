// What the project, as it is now, changes in an environment: the deployed texts loaded as a project of their own, both
// sides bound, every model classified.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ops/workspace.h"
#include "plan/changes.h"

namespace weir::ops {

/// Owns both sides; the changes point into them and into the workspace's graph.
struct EnvironmentChanges {
  std::vector<state::DeployedModel> deployed;
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

}  // namespace weir::ops
