#include "plan/changes.h"

#include <algorithm>
#include <map>

#include "plan/fingerprint.h"

namespace weir::plan {
namespace {

/// Which deployed model each current one is: by path, and for a moved file by the relation that it kept.
class Pairs {
 public:
  Pairs(const DeployedProject& deployed, const Graph& current) {
    std::map<std::string, const state::DeployedModel*> by_path;
    for (const state::DeployedModel& record : *deployed.records) by_path.emplace(record.model, &record);
    std::map<std::string, const state::DeployedModel*> gone;
    for (const Model& model : current.models())
      if (const auto found = by_path.find(model.path); found != by_path.end()) {
        pairs_.emplace(model.path, found->second);
        by_path.erase(found);
      }
    for (const auto& [path, record] : by_path)
      if (!record->asset.empty()) gone.emplace(record->asset, record);
    for (const Model& model : current.models()) {
      if (pairs_.contains(model.path) || !model.target) continue;
      const auto found = gone.find(model.target->key());
      if (found == gone.end()) continue;
      pairs_.emplace(model.path, found->second);
      by_path.erase(found->second->model);
    }
    for (const auto& [path, record] : by_path) removed_.push_back(record);
  }

  const state::DeployedModel* of(const Model& model) const {
    const auto found = pairs_.find(model.path);
    return found == pairs_.end() ? nullptr : found->second;
  }
  const std::vector<const state::DeployedModel*>& removed() const { return removed_; }

 private:
  std::map<std::string, const state::DeployedModel*> pairs_;
  std::vector<const state::DeployedModel*> removed_;
};

const Model* model_named(const Graph* graph, const std::string& path) {
  if (graph == nullptr) return nullptr;
  const auto& models = graph->models();
  const auto found = std::find_if(models.begin(), models.end(), [&](const Model& one) { return one.path == path; });
  return found == models.end() ? nullptr : &*found;
}

ModelChange removal(const state::DeployedModel& record, const Graph* graph) {
  ModelChange change{.path = record.model, .before = model_named(graph, record.model), .deployed = &record};
  change.kind = ChangeKind::Removed;
  const bool has_view = record.plane == name_of(Plane::Virtual) || record.plane == name_of(Plane::View);
  change.is_everything = has_view;
  change.category = has_view ? ChangeCategory::Breaking : ChangeCategory::None;
  change.reason = has_view ? "the project no longer has it: its view goes" : "the project no longer has it";
  return change;
}

}  // namespace

std::string_view name_of(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::Unchanged:
      return "unchanged";
    case ChangeKind::Added:
      return "added";
    case ChangeKind::Removed:
      return "removed";
    case ChangeKind::Modified:
      return "modified";
    case ChangeKind::Indirect:
      break;
  }
  return "indirect";
}

std::string_view name_of(ChangeCategory category) {
  switch (category) {
    case ChangeCategory::None:
      return "none";
    case ChangeCategory::Additive:
      return "additive";
    case ChangeCategory::Breaking:
      return "breaking";
    case ChangeCategory::ForwardOnly:
      break;
  }
  return "forward-only";
}

ModelsToBind models_to_bind(const DeployedProject&, const CurrentProject&) { return {}; }

std::vector<std::string> queries_to_compare(const DeployedProject&, const CurrentProject&) { return {}; }

std::vector<ModelChange> classify(const DeployedProject& deployed, const CurrentProject& current, const parse::Trees&,
                                  const ChangeOptions&) {
  const Pairs pairs(deployed, *current.graph);
  const auto prints = fingerprints(*current.graph);
  std::vector<ModelChange> changes;
  for (const Model& model : current.graph->models()) {
    ModelChange change{.path = model.path, .model = &model, .deployed = pairs.of(model)};
    change.fingerprint = prints.at(model.path);
    if (change.deployed == nullptr) {
      change.kind = ChangeKind::Added;
      change.is_everything = true;
      change.reason = "the environment does not have it yet";
    } else if (change.deployed->fingerprint == change.fingerprint) {
      change.reason = "its definition and those of its inputs are as deployed";
    } else {
      change.before = model_named(deployed.graph, change.deployed->model);
      const bool is_own = change.before == nullptr || local_fingerprint(*change.before) != local_fingerprint(model);
      change.kind = is_own ? ChangeKind::Modified : ChangeKind::Indirect;
      change.category = ChangeCategory::Breaking;
      change.is_everything = true;
      change.reason = is_own ? "its definition changed" : "an input of it changed";
    }
    changes.push_back(std::move(change));
  }
  for (const state::DeployedModel* record : pairs.removed()) changes.push_back(removal(*record, deployed.graph));
  return changes;
}

}  // namespace weir::plan
