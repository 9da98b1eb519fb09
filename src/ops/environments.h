// `weir env`: environments are made, listed, looked at and dropped.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "env/registry.h"
#include "ops/workspace.h"
#include "run/report.h"

namespace weir::ops {

struct CreateRequest {
  std::string name;
  std::string from = std::string(env::kProd);
  /// "main=shared" or "main=isolated".
  std::vector<std::string> lakes;
  /// What the parents' lakes hold now is what it reads for ever.
  bool pin_parent = false;
  /// "copy" or "empty": what tables that grow start from.
  std::string seed = "empty";
};

/// Records an environment and makes its forks, with a view on every table of the parents. Errors: W5401 no such parent,
/// W5402, W5403, W5422, W5426, W5429.
Result<env::Settings> create_environment(Workspace& workspace, const CreateRequest& request,
                                         const std::atomic<bool>& stop);

struct ForkedLake {
  std::string lake;
  /// Empty where the lake is shared.
  std::string fork;
  std::string catalog;
  std::string data;
};

struct EnvironmentEntry {
  env::Settings settings;
  std::optional<std::int64_t> generation;
  std::vector<ForkedLake> lakes;
};

/// Every environment, prod first.
Result<std::vector<EnvironmentEntry>> environments(Workspace& workspace);

struct EnvironmentAsset {
  std::string model;
  /// Where its rows are read.
  std::string asset;
  /// The table behind it: of an owned model weir's own.
  std::string rows;
  /// own, deferred or missing.
  std::string state;
  /// Whose rows are read.
  std::string environment;
  /// The version at which they are read for ever.
  std::optional<std::int64_t> version = {};
};

struct EnvironmentView {
  EnvironmentEntry entry;
  std::vector<EnvironmentAsset> assets;
  /// The ATTACH statements by which DuckDB opens its forks, and the parents that views in them name.
  std::vector<std::string> attach;
};

/// What the environment that the workspace was opened for has of each model.
Result<EnvironmentView> environment(Workspace& workspace);

struct DropRequest {
  std::string name;
  bool force = false;
  bool is_dry_run = false;
  std::string command;
};

struct Dropped {
  std::string name;
  std::vector<std::string> views;
  std::vector<ForkedLake> lakes;
  /// Tables of owned models that it built; `weir gc` removes them once nothing shows them.
  std::int64_t tables = 0;
  /// What is left for somebody else to remove.
  Diagnostics notes;
};

/// Takes away the environment's views, its forks with their data, and what the state knows of it; in this order, so
/// that a drop that failed can be given again. Errors: W5401, W5424 it is in use, W5425 prod without force.
Result<Dropped> drop_environment(Workspace& workspace, const DropRequest& request, run::Listener& listener,
                                 const std::atomic<bool>& stop);

}  // namespace weir::ops
