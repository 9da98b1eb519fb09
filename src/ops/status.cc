#include <algorithm>
#include <functional>
#include <set>

#include "io/clock.h"
#include "ops/data.h"
#include "plan/fingerprint.h"
#include "plan/windows.h"
#include "project/window_rows.h"
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

/// What the windows of a model count as: stretches, each as the slice says that was written last. Without a range, from
/// the first window that was written on.
class WindowStatus {
 public:
  using Judge = std::function<std::string(const state::SliceRecord&)>;

  WindowStatus(const Model& model, const std::string& fingerprint, const plan::World& world, Judge judge)
      : model_(model), fingerprint_(fingerprint), world_(world), judge_(std::move(judge)) {}

  Result<std::vector<SliceStatus>> stretches(const std::optional<std::string>& from,
                                             const std::optional<std::string>& to) {
    WEIR_TRY(const auto calendar, calendar::WindowCalendar::make(model_.interval, model_.lookback, model_.tz));
    const calendar::Instant now = io::now();
    WEIR_TRY(const plan::Coverage coverage, plan::coverage_of(model_, fingerprint_, world_));
    calendar::Windows missing;
    if (from || to) {
      const std::string& first = from ? *from : *to;
      WEIR_TRY(const calendar::Window asked, calendar.between(first, to ? *to : first));
      open_.add(asked);
      missing.add({asked.begin, std::min(asked.end, calendar.complete_at(now))});
    } else {
      open_.add({calendar::kEver, calendar::kForEver});
      WEIR_TRY(missing, plan::gaps_of(model_, coverage, now));
    }
    paint_slices();
    // What is open still was never written.
    for (const calendar::Window& part : missing.without(missing.without(open_)).parts()) add(part, "missing", {});
    return merged();
  }

 private:
  void paint_slices() {
    std::vector<const state::SliceRecord*> records;
    const std::string key = model_.target->key();
    for (auto at = world_.slices.lower_bound({key, ""}); at != world_.slices.end() && at->first.first == key; ++at)
      records.push_back(&at->second);
    std::sort(records.begin(), records.end(), [](const auto* a, const auto* b) { return a->updated > b->updated; });
    for (const state::SliceRecord* record : records) {
      const auto windows = calendar::Windows::parse(record->slice);
      if (!windows) continue;
      const calendar::Windows rest = open_.without(*windows);
      for (const calendar::Window& part : open_.without(rest).parts()) add(part, judge_(*record), *record);
      open_ = rest;
    }
  }

  void add(const calendar::Window& part, const std::string& status, const state::SliceRecord& record) {
    found_.push_back({part, status, record});
  }

  /// Neighbours of one status are one stretch, with the newer of their records.
  std::vector<SliceStatus> merged() {
    std::sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) { return a.part.begin < b.part.begin; });
    std::vector<SliceStatus> statuses;
    for (std::size_t i = 0; i < found_.size();) {
      calendar::Window part = found_[i].part;
      state::SliceRecord record = found_[i].record;
      const std::string& status = found_[i].status;
      for (++i; i < found_.size() && found_[i].part.begin == part.end && found_[i].status == status; ++i) {
        part.end = found_[i].part.end;
        if (found_[i].record.updated > record.updated) record = found_[i].record;
      }
      calendar::Windows one;
      one.add(part);
      // Rows were counted of the whole slice.
      if (one.name() != record.slice) record.rows.reset();
      statuses.push_back({one.name(), status, std::move(record)});
    }
    return statuses;
  }

  const Model& model_;
  const std::string& fingerprint_;
  const plan::World& world_;
  Judge judge_;
  /// What no slice has spoken for yet.
  calendar::Windows open_;
  struct Found {
    calendar::Window part;
    std::string status;
    state::SliceRecord record;
  };
  std::vector<Found> found_;
};

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
    if (is_windowed(model)) {
      const auto judge = [&](const state::SliceRecord& record) {
        return judged(record, &model, fingerprints, world, running);
      };
      WEIR_TRY(one.slices, WindowStatus(model, fingerprints.at(model.path), world, judge).stretches(from, to));
      if (one.slices.empty()) one.slices.push_back({"", "missing", {}});
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
