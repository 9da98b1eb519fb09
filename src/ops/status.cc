#include <algorithm>
#include <set>

#include "io/clock.h"
#include "ops/data.h"
#include "ops/slice_judge.h"
#include "ops/window_status.h"
#include "plan/fingerprint.h"
#include "project/window_rows.h"
#include "run/observe.h"
#include "run/recovery.h"
#include "state/liveness.h"

namespace weir::ops {
namespace {

/// The partition of time that ends last among those that are over now; nothing before the first one is.
std::optional<std::string> last_over(const calendar::Partitioning& partitioning) {
  const calendar::Instant now = io::now();
  const auto current = calendar::slot_named(partitioning, calendar::identity_of(partitioning, now));
  if (!current) return std::nullopt;
  return calendar::identity_of(partitioning, current->begin - std::chrono::microseconds(1));
}

/// The first partition of time that the ledger knows of.
std::optional<std::string> first_known(const Model& model, const plan::World& world) {
  std::optional<calendar::Slot> first;
  const std::string key = model.target->key();
  for (auto at = world.slices.lower_bound({key, ""}); at != world.slices.end() && at->first.first == key; ++at) {
    const auto slot = calendar::slot_named(*model.partitioning, at->first.second);
    if (slot && (!first || slot->begin < first->begin)) first = *slot;
  }
  if (!first) return std::nullopt;
  return first->identity;
}

struct AskedRange {
  /// Slices outside of it are not shown.
  bool is_narrow = false;
  std::vector<calendar::Slot> slots;
};

Result<AskedRange> asked_range(const Model& model, const plan::World& world, const StatusRequest& request) {
  AskedRange range{.is_narrow = request.from || request.to, .slots = {}};
  if (!model.partitioning || model.partitioning->kind == calendar::PartitionKind::Dynamic) return AskedRange();
  if (!range.is_narrow && !request.asset && !request.gaps) return range;
  const auto over = last_over(*model.partitioning);
  std::optional<std::string> from = request.from ? request.from : model.partitioning->start;
  if (!from) from = first_known(model, world);
  const std::optional<std::string> to = request.to ? request.to : over;
  if (!from || !to) return range;
  auto slots = calendar::slots_between(*model.partitioning, *from, *to);
  if (slots) {
    range.slots = std::move(*slots);
    return range;
  }
  // Begins after what is over: nothing is missing yet.
  const bool is_early = !request.to && slots.error().front().code == Code::W0155;
  if (!is_early) return fail(std::move(slots).error());
  return range;
}

Result<std::vector<SliceStatus>> partition_status(const Model& model, const plan::World& world,
                                                  const ClaimedSlices& claimed, const StatusRequest& request,
                                                  SliceJudge& judge) {
  // In order of time where the kind has one.
  std::map<std::string, SliceStatus> slices;
  WEIR_TRY(const AskedRange range, asked_range(model, world, request));
  for (const calendar::Slot& slot : range.slots)
    slices.emplace(slot.identity, SliceStatus{slot.identity, "missing", {}, {}});
  const std::string target = model.target->key();
  for (auto at = world.slices.lower_bound({target, ""}); at != world.slices.end() && at->first.first == target; ++at) {
    const std::string& name = at->first.second;
    if (range.is_narrow && !slices.contains(name)) continue;
    WEIR_TRY(const Judgement judged, judge.judge(model, at->second));
    slices[name] = {name, judged.status, at->second, judged.reason};
  }
  for (const auto& [key, standing] : claimed)
    if (const std::string& slice = key.second; key.first == target && (!range.is_narrow || slices.contains(slice)))
      slices.try_emplace(slice, SliceStatus{slice, {}, {}, {}}).first->second.status = standing;
  if (slices.empty() && !model.partitioning) slices.emplace("", SliceStatus{"", "missing", {}, {}});
  std::vector<SliceStatus> listed;
  for (auto& [name, slice] : slices) listed.push_back(std::move(slice));
  return listed;
}

/// What a killed run holds goes with the next command that writes; nobody works at it until then.
Result<ClaimedSlices> claimed_slices(state::Store& store, const std::string& locks) {
  ClaimedSlices claimed;
  WEIR_TRY(const std::vector<state::Lease> leases, store.leases());
  if (leases.empty()) return claimed;
  WEIR_TRY(const std::string now, store.lease_time());
  const std::vector<std::string> dead = state::dead_runs(locks, leases, now);
  for (const state::Lease& lease : leases) {
    const bool is_dead = std::find(dead.begin(), dead.end(), lease.run) != dead.end();
    claimed.emplace(std::pair(lease.asset, lease.slice), is_dead ? "interrupted" : "running");
  }
  return claimed;
}

}  // namespace

Result<std::vector<AssetStatus>> status(Workspace& workspace, const std::string& environment,
                                        const StatusRequest& request) {
  WEIR_TRY(const Graph* graph, workspace.sound_graph());
  WEIR_TRY(state::Store * store, workspace.store());
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(false));
  WEIR_TRY(const Project* project, workspace.project());
  std::set<std::string> all;
  for (const Model& model : graph->models()) all.insert(model.path);
  WEIR_TRY(const env::Environment shown, env::look(*store, environment, *graph));
  WEIR_TRY(const env::Placed* placed, workspace.placed());
  WEIR_TRY(const plan::World world, run::observe(*project, *placed->graph, all, *lakes, *store, shown));
  WEIR_TRY(auto fingerprints, workspace.fingerprints(*graph));
  // What stands above a model is part of its definition, and is not known while that has errors.
  WEIR_TRY(const auto* blocked, workspace.blocked());
  for (const auto& [path, fault] : *blocked) fingerprints.erase(path);
  WEIR_TRY(const ClaimedSlices claimed, claimed_slices(*store, run::locks_folder(*project)));
  std::optional<Asset> wanted;
  if (request.asset) {
    WEIR_TRY(wanted, workspace.asset_named(*request.asset));
  }
  SliceJudge judge(*lakes, {*placed->graph, world, fingerprints, claimed});
  std::vector<AssetStatus> statuses;
  for (const Model& model : placed->graph->models()) {
    if (!model.target) continue;
    const bool is_delivery = model.plane == Plane::Table || model.plane == Plane::File;
    const Asset& shown_as = is_delivery ? *model.target : model.relation;
    if (wanted && !(*wanted == shown_as) && !(*wanted == model.relation)) continue;
    AssetStatus one{.model = model.path, .asset = shown_as.uri()};
    const auto print = fingerprints.find(model.path);
    if (const auto fault = blocked->find(model.path); fault != blocked->end()) one.blocked_by = fault->second.by();
    if (is_delivery && std::count(model.environments.begin(), model.environments.end(), environment) == 0) {
      one.slices.push_back({"", "gated", {}, {}});
    } else if (!is_delivery && !env::is_owned(model) && !placed->forks.may_write(model.target->place)) {
      // The environment has no rows of its own: readers see the parent's.
      one.slices.push_back({"", "deferred", {}, {}});
    } else if (is_windowed(model) && print != fingerprints.end()) {
      WEIR_TRY(one.slices, window_status(model, print->second, world, request.from, request.to, claimed, judge));
      if (one.slices.empty()) one.slices.push_back({"", "missing", {}, {}});
    } else {
      WEIR_TRY(one.slices, partition_status(model, world, claimed, request, judge));
    }
    statuses.push_back(std::move(one));
  }
  for (const Model& model : project->broken_models) {
    if (!model.target || (wanted && !(*wanted == model.relation) && !(*wanted == *model.target))) continue;
    statuses.push_back({.model = model.path, .asset = model.relation.uri(), .blocked_by = model.source->path});
  }
  if (wanted && statuses.empty())
    return fail(Diagnostic{.code = Code::W2012,
                           .message = "no model produces " + wanted->uri(),
                           .hint = workspace.hint_for(*request.asset)});
  return statuses;
}

}  // namespace weir::ops
