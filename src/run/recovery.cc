#include "run/recovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/failpoint.h"
#include "env/environment.h"
#include "env/registry.h"
#include "io/installation.h"
#include "lake/commit.h"
#include "lake/strays.h"
#include "run/ledger.h"
#include "run/open_run.h"
#include "state/liveness.h"
#include "text/lexer.h"

namespace weir::run {
namespace {

using SliceKey = std::pair<std::string, std::string>;
using Ledger = std::map<SliceKey, state::SliceRecord>;

Result<Ledger> ledger_of(state::Store& store, const std::string& environment) {
  WEIR_TRY(std::vector<state::SliceRecord> rows, store.slices(environment, std::nullopt));
  Ledger ledger;
  for (state::SliceRecord& row : rows) ledger.emplace(SliceKey{row.asset, row.slice}, std::move(row));
  return ledger;
}

/// The entry of a physical table of weir's own; nothing for any other.
std::optional<state::OwnedRecord> owned_from(const lake::CommitRecord& commit, const lake::CommittedStep& step,
                                             const lake::VersionRecord& version) {
  const auto asset = parse_asset(step.asset);
  if (!asset || !env::is_physical(*asset)) return std::nullopt;
  state::OwnedRecord owned{.asset = step.asset, .uri = step.asset, .model = step.model};
  owned.fingerprint = step.definition;
  owned.environment = commit.environment;
  owned.plane = step.strategy == name_of(Plane::View) ? step.strategy : std::string(name_of(Plane::Virtual));
  owned.run = commit.run;
  owned.created = version.time;
  owned.unreferenced = version.time;
  return owned;
}

/// The generation that a promotion's commit made.
state::PromotionRecord promotion_from(const lake::CommitRecord& commit, const lake::VersionRecord& version) {
  state::PromotionRecord promotion{.environment = commit.environment, .generation = commit.generation};
  promotion.time = version.time;
  promotion.run = commit.run;
  promotion.token = commit.token;
  promotion.lake_version = version.version;
  for (const auto& [view, shown] : commit.views)
    promotion.models.push_back({shown.model, shown.fingerprint, shown.table, view, shown.definition});
  std::sort(promotion.models.begin(), promotion.models.end(),
            [](const state::ShownModel& a, const state::ShownModel& b) { return a.model < b.model; });
  return promotion;
}

/// The step's row of a run that published and died before it could write it.
state::StepRecord step_from(const lake::CommitRecord& commit, const lake::CommittedStep& step,
                            const lake::VersionRecord& version) {
  nlohmann::json result{{"model", step.model},       {"materialized", step.asset}, {"status", "materialized"},
                        {"strategy", step.strategy}, {"rows", step.rows},          {"snapshot_id", version.version},
                        {"recovered", true}};
  if (!step.slice.empty())
    result[step.inputs.contains(std::string(plan::kTimeInput)) ? "window" : "partition"] = step.slice;
  for (const auto& [name, count] : step.counts) result[name] = count;
  state::StepRecord row;
  row.run = commit.run;
  row.model = step.model;
  row.asset = step.asset;
  row.slice = step.slice;
  row.status = "materialized";
  row.token = commit.token;
  row.finished = version.time;
  row.result_json = result.dump();
  return row;
}

/// Brings the ledger in line with one lake's commit records after its last reconciled version. Returns how many records
/// were new.
Result<std::int64_t> reconcile(const lake::Lake& lake, duck::Connection& connection, state::Store& store) {
  WEIR_TRY(const std::int64_t reconciled, store.reconciled_version(lake.name()));
  WEIR_TRY(const std::int64_t newest, lake.newest_version(connection));
  if (newest == reconciled) return 0;
  WEIR_TRY(const std::vector<lake::VersionRecord> versions, lake.commits_after(connection, reconciled));
  std::map<std::string, Ledger> ledgers;
  state::Store::Outcome outcome;
  std::vector<state::PromotionRecord> promotions;
  std::int64_t applied = 0;
  for (const lake::VersionRecord& version : versions) {
    const auto commit = lake::CommitRecord::from_json(version.extra_info);
    if (!commit) continue;
    ++applied;
    if (!ledgers.contains(commit->environment)) {
      WEIR_TRY(ledgers[commit->environment], ledger_of(store, commit->environment));
    }
    Ledger& ledger = ledgers[commit->environment];
    if (commit->generation > 0) promotions.push_back(promotion_from(*commit, version));
    for (const lake::CommittedStep& step : commit->steps) {
      const auto known = ledger.find(SliceKey{step.asset, step.slice});
      const bool is_known =
          known != ledger.end() && known->second.snapshot_id && *known->second.snapshot_id >= version.version;
      if (auto owned = owned_from(*commit, step, version)) outcome.owned.push_back(std::move(*owned));
      if (is_known) continue;
      state::SliceRecord slice = slice_of(*commit, step, version.version, version.time);
      ledger[SliceKey{step.asset, step.slice}] = slice;
      outcome.slices.push_back(std::move(slice));
      outcome.steps.push_back(step_from(*commit, step, version));
    }
  }
  WEIR_CHECK(store.record(outcome));
  for (const state::PromotionRecord& promotion : promotions) WEIR_CHECK(store.promote(promotion));
  failpoint("recovery_recorded");
  WEIR_CHECK(store.set_reconciled_version(lake.name(), newest));
  return applied;
}

std::string failure_of(const Project& project, const std::string& asset, std::string& model_path) {
  for (const Model& model : project.models) {
    if (!model.target || model.target->key() != asset) continue;
    model_path = model.path;
    if (model.plane == Plane::Manual) return "interrupted; it may have written, see the lake's versions";
  }
  return "interrupted before it was published";
}

/// Slices that the dead run held: failed, unless the ledger has them from that very run.
Result<void> fail_slices(const Project& project, state::Store& store, const state::RunRecord& run,
                         const std::vector<state::Lease>& leases) {
  WEIR_TRY(const Ledger ledger, ledger_of(store, run.environment));
  state::Store::Outcome outcome;
  for (const state::Lease& lease : leases) {
    const auto known = ledger.find(SliceKey{lease.asset, lease.slice});
    if (known != ledger.end() && known->second.run == run.run) continue;
    state::SliceRecord slice;
    if (known != ledger.end()) slice = known->second;
    slice.environment = run.environment;
    slice.asset = lease.asset;
    slice.slice = lease.slice;
    slice.run = run.run;
    slice.status = "failed";
    slice.updated = later_than(ledger, slice.asset, state::now_text());
    slice.error = failure_of(project, lease.asset, slice.model);
    outcome.slices.push_back(std::move(slice));
  }
  return store.record(outcome);
}

/// Removes what the dead run left in one lake: its stages, and what DuckLake wrote for it into the tables it held and
/// no version knows.
Result<std::int64_t> remove_leftovers(const lake::Lake& lake, duck::Connection& connection, const state::RunRecord& run,
                                      const std::vector<state::Lease>& leases, std::int64_t since,
                                      const std::atomic<bool>& stop) {
  std::vector<Asset> held;
  for (const state::Lease& lease : leases)
    if (auto asset = parse_asset(lease.asset);
        asset && asset->kind == AssetKind::Lake && text::same_word(asset->place, lake.name()))
      held.push_back(std::move(*asset));
  if (!lake.exists() || lake.config().version) return 0;
  WEIR_TRY(const auto lock, lake.lock(stop));
  WEIR_TRY(std::int64_t removed, lake.remove_files(connection, "weir-" + run.run));
  if (held.empty()) return removed;
  WEIR_TRY(const std::int64_t version, lake.newest_version(connection));
  WEIR_TRY(const auto states, lake.observe(connection, held, version));
  for (const auto& [key, table] : states) {
    WEIR_TRY(const std::int64_t strays, lake::remove_strays(lake, connection, table, since));
    removed += strays;
  }
  return removed;
}

/// Closes a dead run: its steps without a record failed, its files go, its leases are freed.
Result<void> close_run(const Project& project, lake::Lakes& lakes, state::Store& store, duck::Connection& connection,
                       state::RunRecord run, Listener& listener, const std::atomic<bool>& stop) {
  listener.message(fmt::format("run {} ended without finishing; recovering what it left", run.run));
  WEIR_TRY(std::vector<state::Lease> leases, store.leases());
  std::erase_if(leases, [&run](const state::Lease& lease) { return lease.run != run.run; });
  if (run.result_json != kLeavesSlices) WEIR_CHECK(fail_slices(project, store, run, leases));
  failpoint("recovery_failed_slices");
  const std::int64_t since = state::began(locks_folder(project), run.run, run.started);
  for (const lake::Lake& lake : lakes.all()) {
    WEIR_TRY(const std::int64_t removed, remove_leftovers(lake, connection, run, leases, since, stop));
    if (removed > 0)
      listener.message(
          fmt::format("removed {} unpublished files of run {} from lake {}", removed, run.run, lake.name()));
  }
  failpoint("recovery_cleaned");
  WEIR_CHECK(store.release(run.run));
  failpoint("recovery_released");
  run.status = "failed";
  run.finished = state::now_text();
  run.result_json.clear();
  WEIR_CHECK(store.put_run(run));
  failpoint("recovery_closed");
  state::forget_run(locks_folder(project), run.run);
  return {};
}

/// Brings the ledger in line with every lake that may have moved.
Result<std::int64_t> reconcile_all(const lake::Lakes& lakes, duck::Connection& connection, state::Store& store) {
  std::int64_t commits = 0;
  for (const lake::Lake& lake : lakes.all()) {
    if (lake.config().version) continue;
    WEIR_TRY(const std::int64_t applied, reconcile(lake, connection, store));
    commits += applied;
  }
  return commits;
}

/// The configuration as an environment sees it; nothing where its forks are among these lakes already, or it is not
/// known any more.
Result<std::optional<Config>> config_of(const Config& config, state::Store& store, const std::string& environment) {
  Config seen = config;
  std::erase_if(seen.lakes, [](const LakeConfig& lake) { return !lake.fork_of.empty(); });
  WEIR_TRY(const env::Registry registry, env::Registry::read(config, &store));
  const auto chain = registry.chain(environment);
  if (!chain) return std::optional<Config>();
  WEIR_CHECK(env::add_forks(seen, *chain));
  // A fork that is read here at one version only does not show what was done there since.
  const bool is_open = std::all_of(seen.lakes.begin(), seen.lakes.end(), [&config](const LakeConfig& lake) {
    const LakeConfig* here = config.lake(lake.name);
    return here != nullptr && here->version == lake.version;
  });
  return is_open ? std::optional<Config>() : std::optional(std::move(seen));
}

/// Closes a dead run of any environment where it wrote: what it published into forks is read first, and its files go
/// from there. A fork that does not open, since its parent is gone for example, keeps its files.
Result<void> close_anywhere(const Project& project, lake::Lakes& lakes, state::Store& store,
                            duck::Connection& connection, const state::RunRecord& run, Listener& listener,
                            const std::atomic<bool>& stop) {
  WEIR_TRY(const auto elsewhere, config_of(project.config, store, run.environment));
  if (!elsewhere) return close_run(project, lakes, store, connection, run, listener, stop);
  const auto opened = lake::Lakes::open(*elsewhere, {.extension_folder = io::extension_folder()});
  if (!opened) {
    listener.message(fmt::format("files of run {} stay in the lakes of {}: {}", run.run, run.environment,
                                 opened.error().front().message));
    return close_run(project, lakes, store, connection, run, listener, stop);
  }
  WEIR_TRY(duck::Connection inside, (*opened)->connect());
  WEIR_CHECK(reconcile_all(**opened, inside, store));
  return close_run(project, **opened, store, inside, run, listener, stop);
}

/// True for an open run that holds nothing, is unknown to this folder, and began so long ago that it would have
/// claimed.
bool is_abandoned(const state::RunRecord& run, const std::vector<state::Lease>& leases, const std::string& now) {
  const bool holds =
      std::any_of(leases.begin(), leases.end(), [&run](const state::Lease& lease) { return lease.run == run.run; });
  return !holds && state::is_expired(run.started, now);
}

}  // namespace

std::string locks_folder(const Project& project) { return project.config.root + "/.weir/locks"; }

Result<std::vector<std::string>> dead_runs(const Project& project, state::Store& store) {
  // Open runs first: one that claims between the two looks is then seen with its leases.
  WEIR_TRY(const std::vector<state::RunRecord> open, store.open_runs());
  WEIR_TRY(const std::vector<state::Lease> leases, store.leases());
  WEIR_TRY(const std::string now, store.lease_time());
  std::vector<std::string> dead = state::dead_runs(locks_folder(project), leases, now);
  for (const state::RunRecord& run : open) {
    if (std::find(dead.begin(), dead.end(), run.run) != dead.end()) continue;
    const bool is_ours = run.host == state::host_identity();
    const auto liveness = is_ours ? state::liveness_of(locks_folder(project), run.run) : state::Liveness::Unknown;
    const bool is_dead =
        liveness == state::Liveness::Dead || (liveness == state::Liveness::Unknown && is_abandoned(run, leases, now));
    if (is_dead) dead.push_back(run.run);
  }
  return dead;
}

Result<void> recover(const Project& project, lake::Lakes& lakes, state::Store& store, Listener& listener,
                     const std::atomic<bool>& stop) {
  // Who is dead is asked first: what such a run committed, it committed before, so the records read afterwards hold all
  // of it.
  WEIR_TRY(const std::vector<std::string> dead, dead_runs(project, store));
  WEIR_TRY(duck::Connection connection, lakes.connect());
  WEIR_CHECK(reconcile_all(lakes, connection, store));
  for (const std::string& id : dead) {
    WEIR_TRY(const std::optional<state::RunRecord> run, store.run(id));
    if (run && run->status == "running") {
      WEIR_CHECK(close_anywhere(project, lakes, store, connection, *run, listener, stop));
    } else {
      // It was closed, and died before it gave its leases back.
      WEIR_CHECK(store.release(id));
      state::forget_run(locks_folder(project), id);
    }
  }
  // Runs that died after they were closed, or before they had a row.
  for (const std::string& id : state::unheld_runs(locks_folder(project))) {
    WEIR_TRY(const std::optional<state::RunRecord> run, store.run(id));
    if (!run || run->status != "running") state::forget_run(locks_folder(project), id);
  }
  return {};
}

Result<void> note_reconciled(Session& session, const RunReport& report) {
  WEIR_TRY(duck::Connection connection, session.lakes.connect());
  for (const lake::Lake& lake : session.lakes.all()) {
    std::set<std::int64_t> ours;
    for (const StepReport& step : report.steps) {
      if (step.status == Status::Materialized && step.snapshot_id && text::same_word(step.lake, lake.name()))
        ours.insert(*step.snapshot_id);
    }
    WEIR_TRY(std::int64_t reconciled, session.store.reconciled_version(lake.name()));
    const std::int64_t before = reconciled;
    while (ours.contains(reconciled + 1)) ++reconciled;
    if (reconciled != before) WEIR_CHECK(session.store.set_reconciled_version(lake.name(), reconciled));
  }
  return {};
}

Result<Rebuilt> rebuild(const Project& project, lake::Lakes& lakes, state::Store& store, Listener& listener,
                        const std::atomic<bool>& stop) {
  Rebuilt rebuilt;
  WEIR_TRY(const std::vector<state::SliceRecord> before, store.slices("prod", std::nullopt));
  WEIR_CHECK(store.clear_ledger());
  WEIR_TRY(duck::Connection connection, lakes.connect());
  WEIR_TRY(rebuilt.commits, reconcile_all(lakes, connection, store));
  WEIR_TRY(const std::vector<state::SliceRecord> after, store.slices("prod", std::nullopt));
  rebuilt.slices = static_cast<std::int64_t>(after.size());
  for (const state::SliceRecord& slice : before) {
    const bool kept = std::any_of(after.begin(), after.end(), [&](const state::SliceRecord& s) {
      return s.asset == slice.asset && s.slice == slice.slice;
    });
    if (!kept)
      rebuilt.only_in_state.push_back(slice.slice.empty() ? slice.asset
                                                          : fmt::format("{} [{}]", slice.asset, slice.slice));
  }
  WEIR_CHECK(recover(project, lakes, store, listener, stop));
  return rebuilt;
}

}  // namespace weir::run
