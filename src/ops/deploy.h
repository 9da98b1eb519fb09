// `weir deploy`: what an environment runs, recorded in the state store.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "ops/workspace.h"

namespace weir::ops {

struct DeployRequest {
  std::string environment = "prod";
  /// Say what would change; write nothing.
  bool is_dry_run = false;
  /// The command line, for the record.
  std::string command;
};

struct Deployed {
  /// Empty if nothing differed, or nothing was written.
  std::string deployment;
  state::DeploymentChanges changes;
  std::int64_t models = 0;
  std::int64_t metrics = 0;
  /// Everything that `weir check` warns of.
  Diagnostics warnings;
};

/// Records the whole project: models, assets, edges, metrics, macros and schedules, in one transaction; what the
/// project no longer holds disappears. Errors: whatever `weir check` calls an error, W2230, W70xx.
Result<Deployed> deploy(Workspace& workspace, const DeployRequest& request);

/// Records the given models as they are now; `definitions` are their fingerprints by path. Costs one question when
/// nothing differs.
Result<void> deploy_models(Workspace& workspace, const std::map<std::string, std::string>& definitions,
                           const std::string& environment, const std::string& run, const std::string& command);

/// Takes models out of an environment that the project no longer has; those that it has from an environment that it
/// comes from are noted as taken out. Requires: everything that the project has was just run there.
Result<void> take_out_removed(Workspace& workspace, const std::string& environment, const std::string& run,
                              const std::string& command);

}  // namespace weir::ops
