// `weir plan`: what applying the project to an environment would do, model by model, with reasons. Touches nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ops/changes.h"

namespace weir::ops {

struct PlanRequest {
  std::string environment = "prod";
  std::vector<std::string> select;
  std::vector<std::string> exclude;
  bool forward_only = false;
};

/// Nothing: unchanged, put into its readers, or left to another command. Deliver: into a database or file that weir
/// does not own. Gated: a delivery that this environment does not make. Demote: the model is gone, its view goes.
enum class PlanAction { Nothing, Build, Reuse, Deliver, Gated, Demote };
std::string_view name_of(PlanAction action);

/// What a build will read, by the records of its inputs' files.
struct Estimate {
  std::int64_t rows = 0;
  std::int64_t bytes = 0;
  /// Inputs whose size is not known: files, databases, tables that are not there yet.
  std::int64_t unknown = 0;
};

struct PlannedModel {
  plan::ModelChange change;
  PlanAction action = PlanAction::Nothing;
  /// What else there is to know, in words; often empty.
  std::string note;
  std::optional<Estimate> estimate;
  /// Of a partitioned managed model: partitions that the definition before made.
  std::int64_t outdated_partitions = 0;
};

/// What a saved plan was made from. Equal values: the world did not move.
struct PlanBasis {
  /// Hash of each file's text, by path; weir.yaml among them.
  std::map<std::string, std::string> files;
  /// Of everything that is deployed in the environment.
  std::string deployed;
  /// Of what the environment shows; 0 before its first promotion.
  std::int64_t generation = 0;
  /// Newest version of each lake.
  std::map<std::string, std::int64_t> lakes;
  /// Keys of the tables that the plan's builds read or write.
  std::vector<std::string> tables;
};

struct PlanReport {
  PlanRequest request;
  std::string created;
  EnvironmentChanges changes;
  /// Selected models, with every changed model above them, in the graph's order; then those that are gone.
  std::vector<PlannedModel> models;
  PlanBasis basis;
  Diagnostics warnings;

  std::int64_t count(PlanAction action) const;
  std::int64_t count(plan::ChangeCategory category) const;
};

/// Errors: of the project, W2010 and the like of a selector, W60xx, W70xx.
Result<PlanReport> plan(Workspace& workspace, const PlanRequest& request);

/// Hash of the text of every file of the project, weir.yaml included, by path.
Result<std::map<std::string, std::string>> file_hashes(Workspace& workspace);

}  // namespace weir::ops
