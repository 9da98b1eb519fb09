#include <algorithm>
#include <set>

#include "ops/data.h"
#include "plan/fingerprint.h"
#include "run/observe.h"

namespace weir::ops {
namespace {

/// What one recorded slice counts as, judged against the definition and the inputs as they are now.
std::string judged(const state::SliceRecord& record, const Model* model,
                   const std::map<std::string, std::string>& fingerprints, const plan::World& world,
                   const std::set<std::pair<std::string, std::string>>& running) {
  if (running.contains({record.asset, record.slice})) return "running";
  if (record.status != "materialized" || model == nullptr) return record.status;
  const plan::Proof proof =
      model->plane == Plane::Manual ? plan::Proof{} : plan::proof_of(record, *model->target, world);
  if (proof.kind == plan::Proof::Kind::Gone) return "missing";
  // A restore put back a version that had no rows of it.
  if (record.fingerprint.empty() && record.rows.value_or(0) == 0) return "missing";
  const auto print = fingerprints.find(model->path);
  if (print != fingerprints.end() && print->second != record.fingerprint) return "outdated";
  if (proof.kind == plan::Proof::Kind::Foreign) return "stale";
  for (const state::InputRecord& input : record.inputs) {
    if (input.asset.starts_with("file:")) {
      const auto now = world.files.find(input.asset.substr(5));
      if (now == world.files.end() || !now->second || *now->second != input.version) return "stale";
      continue;
    }
    for (const auto& [name, view] : world.lakes) {
      const auto changed = view.changed.find(input.asset);
      if (changed != view.changed.end() && changed->second > std::stoll(input.version)) return "stale";
      // Once the version that dropped it has expired, nothing else tells.
      if (input.asset.starts_with("ducklake://" + name + "/") && !view.made.contains(input.asset)) return "stale";
    }
  }
  return record.status;
}

Result<std::vector<calendar::Slot>> asked_range(const Model& model, const std::optional<std::string>& from,
                                                const std::optional<std::string>& to) {
  if (!model.partitioning || model.partitioning->kind == calendar::PartitionKind::Dynamic || (!from && !to))
    return std::vector<calendar::Slot>{};
  const std::string first = from ? *from : *to;
  const std::string last = to ? *to : *from;
  return calendar::slots_between(*model.partitioning, first, last);
}

}  // namespace

Result<std::vector<AssetStatus>> status(Workspace& workspace, const std::string& environment,
                                        const std::optional<std::string>& asset, const std::optional<std::string>& from,
                                        const std::optional<std::string>& to) {
  WEIR_TRY(const Graph* graph, workspace.sound_graph());
  WEIR_TRY(state::Store * store, workspace.store());
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(false));
  WEIR_TRY(const Project* project, workspace.project());
  std::set<std::string> all;
  for (const Model& model : graph->models()) all.insert(model.path);
  WEIR_TRY(const env::Environment shown, env::look(*store, environment));
  WEIR_TRY(const env::Placed* placed, workspace.placed());
  WEIR_TRY(const plan::World world, run::observe(*project, *placed->graph, all, *lakes, *store, shown));
  WEIR_TRY(auto fingerprints, workspace.fingerprints(*graph));
  // What stands above a model is part of its definition, and is not known while that has errors.
  WEIR_TRY(const auto* blocked, workspace.blocked());
  for (const auto& [path, fault] : *blocked) fingerprints.erase(path);
  std::set<std::pair<std::string, std::string>> running;
  WEIR_TRY(const std::vector<state::Lease> leases, store->leases());
  for (const state::Lease& lease : leases) running.emplace(lease.asset, lease.slice);
  std::optional<Asset> wanted;
  if (asset) {
    WEIR_TRY(wanted, workspace.asset_named(*asset));
  }
  std::vector<AssetStatus> statuses;
  for (const Model& model : placed->graph->models()) {
    if (!model.target || model.plane == Plane::Table || model.plane == Plane::File) continue;
    if (wanted && !(*wanted == model.relation)) continue;
    AssetStatus one{.model = model.path, .asset = model.relation.uri()};
    if (!env::is_owned(model) && !placed->forks.may_write(model.target->place)) {
      // The environment has no rows of its own: readers see the parent's.
      one.slices.push_back({"", "deferred", {}});
      statuses.push_back(std::move(one));
      continue;
    }
    std::map<std::string, SliceStatus> slices;
    WEIR_TRY(const std::vector<calendar::Slot> range, asked_range(model, from, to));
    for (const calendar::Slot& slot : range) slices.emplace(slot.identity, SliceStatus{slot.identity, "missing", {}});
    for (const auto& [key, record] : world.slices) {
      if (key.first != model.target->key() || (!range.empty() && !slices.contains(key.second))) continue;
      slices[key.second] = {key.second, judged(record, &model, fingerprints, world, running), record};
    }
    for (const auto& [key, slice] : running)
      if (key == model.target->key() && (range.empty() || slices.contains(slice)))
        slices.try_emplace(slice, SliceStatus{slice, {}, {}}).first->second.status = "running";
    if (slices.empty() && !model.partitioning) slices.emplace("", SliceStatus{"", "missing", {}});
    if (const auto fault = blocked->find(model.path); fault != blocked->end()) one.blocked_by = fault->second.by();
    for (auto& [name, slice] : slices) one.slices.push_back(std::move(slice));
    statuses.push_back(std::move(one));
  }
  for (const Model& model : project->broken_models) {
    if (!model.target || (wanted && !(*wanted == model.relation))) continue;
    statuses.push_back({.model = model.path, .asset = model.relation.uri(), .blocked_by = model.source->path});
  }
  if (wanted && statuses.empty())
    return fail(Diagnostic{
        .code = Code::W2012, .message = "no model produces " + wanted->uri(), .hint = workspace.hint_for(*asset)});
  return statuses;
}

}  // namespace weir::ops
