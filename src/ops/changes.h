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
  /// Of an owned model with the definition that the environment shows; without those that it does not show.
  std::vector<state::DeployedModel> deployed;
  /// Of all that is deployed.
  std::string digest;
  /// Number of what it shows; 0 before the first promotion.
  std::int64_t generation = 0;
  std::unique_ptr<Project> deployed_project;
  std::unique_ptr<Graph> deployed_graph;
  std::vector<plan::ModelChange> changes;
  /// What binding the changed models says, warnings and hints.
  Diagnostics warnings;
};

/// Of everything that is deployed in an environment.
std::string digest_of(const std::vector<state::DeployedModel>& models);

/// Classifies every model of the project. Touches nothing; binds changed models and those above them only, so nothing
/// is bound where nothing changed.
/// Errors: of the project, of binding a changed model, W60xx a lake that cannot be read, W70xx.
Result<EnvironmentChanges> changes_in(Workspace& workspace, const std::string& environment, bool forward_only = false);

}  // namespace weir::ops
