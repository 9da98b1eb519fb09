// What changed between the project as an environment has it and the project as it is now: per model the kind of change,
// its category, and whether what the environment reads now is what building it again would give. Whatever is not proven
// counts as breaking and is built.
//
// A proof has two halves. What the model's own text changes is found on the parsed trees of the old and the new query
// (plan/query_diff.h). What its inputs change is followed through the bound column lineage of both: a reader whose
// values and rows come from columns that stayed as they were has stayed as it was.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "bind/bound.h"
#include "graph/graph.h"
#include "parse/functions.h"
#include "parse/trees.h"
#include "state/deployment.h"

namespace weir::plan {

/// Modified: by its own text or options. Indirect: by its inputs alone.
enum class ChangeKind { Unchanged, Added, Removed, Modified, Indirect };
/// None: no reader can tell. Additive: columns were added, and the others kept their values. ForwardOnly: rows that are
/// there stay, and new ones are made by the new definition.
enum class ChangeCategory { None, Additive, Breaking, ForwardOnly };

std::string_view name_of(ChangeKind kind);
std::string_view name_of(ChangeCategory category);

struct ModelChange {
  std::string path;
  /// Null for a removed model.
  const Model* model = nullptr;
  /// As it is deployed; null for an added model, and where its text cannot be read back.
  const Model* before = nullptr;
  /// What the state recorded; null for an added model.
  const state::DeployedModel* deployed = nullptr;
  /// Of the definition as it is now; empty for a removed model.
  std::string fingerprint;
  ChangeKind kind = ChangeKind::Unchanged;
  ChangeCategory category = ChangeCategory::None;
  /// Proven: the rows and columns that are there are those that a build would give.
  bool reuse = false;
  /// In words, always.
  std::string reason;
  /// Any column, or the rows themselves, may differ.
  bool is_everything = false;
  /// Columns that are added, gone, or may have other values; of a change of everything all that there are.
  std::vector<std::string> impacted;
};

/// The project as an environment has it.
struct DeployedProject {
  /// By path.
  const std::vector<state::DeployedModel>* records = nullptr;
  /// Linked from the deployed texts; null where that is not possible.
  const Graph* graph = nullptr;
  /// Of `graph`, with lineage.
  const bind::Bound* bound = nullptr;
};

/// The project as it is now.
struct CurrentProject {
  const Graph* graph = nullptr;
  const bind::Bound* bound = nullptr;
};

struct ChangeOptions {
  /// Models whose rows accumulate keep those that they have.
  bool forward_only = false;
  /// Requires: set where anything is to be compared.
  const parse::FunctionKinds* functions = nullptr;
};

/// Paths of the models on either side whose binding classify() looks at: those that changed. Models above them must be
/// bound for that.
struct ModelsToBind {
  std::set<std::string> deployed;
  std::set<std::string> current;
  bool empty() const { return deployed.empty() && current.empty(); }
};
ModelsToBind models_to_bind(const DeployedProject& deployed, const CurrentProject& current);

/// Texts whose trees classify() looks at.
std::vector<std::string> queries_to_compare(const DeployedProject& deployed, const CurrentProject& current);

/// One change per model: those of the current project in the order of its graph, then those that are gone, by path.
/// A model whose file was moved, and whose relation stayed, is one model. Pure: everything it looks at is passed in.
/// Requires: `trees` holds queries_to_compare().
std::vector<ModelChange> classify(const DeployedProject& deployed, const CurrentProject& current,
                                  const parse::Trees& trees, const ChangeOptions& options);

}  // namespace weir::plan
