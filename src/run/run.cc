#include "run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/failpoint.h"
#include "calendar/resolve.h"
#include "io/clock.h"
#include "plan/fingerprint.h"
#include "plan/partitions.h"
#include "project/manual_reach.h"
#include "run/arguments.h"
#include "run/deferral.h"
#include "run/definitions.h"
#include "run/held_up.h"
#include "run/observe.h"
#include "run/open_run.h"
#include "run/promote.h"
#include "run/read_versions.h"
#include "run/record.h"
#include "run/recovery.h"
#include "run/scheduler.h"
#include "run/seed.h"
#include "state/liveness.h"

namespace weir::run {
namespace {

bool has_due_partition(const Model& model, const RunRequest& request) {
  return request.selected.contains(model.path) && model.partitioning && !request.ranges.contains(model.path) &&
         !request.following.contains(model.path);
}

Diagnostics at_partitioning(const Model& model, Diagnostics problems) {
  for (Diagnostic& problem : problems) {
    problem.path = model.source->path;
    problem.span = model.partitioning->span;
  }
  return problems;
}

/// `--at` names a partition of every kind.
std::string hint_for_kinds(const std::string& partition) {
  return fmt::format("--at {} takes the partition of each kind that holds that time",
                     calendar::parse_instant(partition) ? partition : "TIME");
}

/// What lies between start= and the partition that the clock chose, if anything does.
std::optional<std::pair<std::string, std::string>> earlier_than(const calendar::Partitioning& partitioning,
                                                                const calendar::Slot& chosen) {
  if (!partitioning.start) return std::nullopt;
  const auto first = calendar::slots_between(partitioning, *partitioning.start, *partitioning.start);
  if (!first || first->empty() || first->front().begin >= chosen.begin) return std::nullopt;
  return std::pair(first->front().identity,
                   calendar::identity_of(partitioning, chosen.begin - std::chrono::microseconds(1)));
}

/// The partition of every partitioned model of the selection, save those of a backfill. What --partition does not fit
/// is skipped, unless it fits nothing or was asked for by name.
Result<std::map<std::string, plan::PartitionValue>> partitions_of(const Graph& graph, const RunRequest& request,
                                                                  calendar::Instant at) {
  const calendar::PartitionRequest wanted{.value = request.partition, .now = at};
  std::map<std::string, plan::PartitionValue> partitions;
  Diagnostics problems;
  bool fits_one = false;
  bool is_wrong = false;
  for (const Model& model : graph.models()) {
    if (!has_due_partition(model, request)) continue;
    auto choice = calendar::choose_partition(*model.partitioning, wanted);
    if (choice) {
      fits_one = true;
      plan::PartitionValue value{std::move(choice->value), std::move(choice->skipped)};
      if (!request.partition && choice->slot) value.earlier = earlier_than(*model.partitioning, *choice->slot);
      partitions.emplace(model.path, std::move(value));
      continue;
    }
    is_wrong = is_wrong || !request.partition || request.named.contains(model.path);
    const std::string why = choice.error().front().message;
    for (Diagnostic& problem : at_partitioning(model, std::move(choice).error())) {
      if (request.partition && problem.code == Code::W0153)
        problem.hint += (problem.hint.empty() ? "" : "; ") + hint_for_kinds(*request.partition);
      problems.push_back(std::move(problem));
    }
    partitions.emplace(model.path, plan::PartitionValue{
                                       {}, fmt::format("{}; {}", why, hint_for_kinds(request.partition.value_or("")))});
  }
  if (is_wrong || (!fits_one && !problems.empty())) return fail(std::move(problems));
  return partitions;
}

std::set<std::string> models_built(const plan::Plan& plan) {
  std::set<std::string> models;
  for (const plan::Step& step : plan.steps)
    if (step.action == plan::Action::Build) models.insert(step.model->path);
  return models;
}

bool is_built(const RunReport& report, const Model& model) {
  return std::any_of(report.steps.begin(), report.steps.end(), [&model](const StepReport& step) {
    return step.model == model.path && (step.status == Status::Materialized || step.status == Status::Unchanged);
  });
}

std::vector<state::Lease> leases_wanted(const plan::Plan& plan, const std::string& run) {
  std::vector<state::Lease> wanted;
  for (const plan::Step& step : plan.steps) {
    if (step.action != plan::Action::Build) continue;
    state::Lease lease;
    lease.asset = step.model->target->key();
    lease.slice = step.slice;
    lease.run = run;
    lease.host = state::host_identity();
    lease.pid = getpid();
    wanted.push_back(std::move(lease));
  }
  return wanted;
}

struct Claimed {
  Planned planned;
  std::vector<state::Lease> leases;
  /// Steps that are not in the plan because of errors.
  std::vector<StepReport> held_up;
};

class Claimer {
 public:
  Claimer(const Project& project, const Graph& graph, lake::Lakes& lakes, state::Store& store,
          const RunRequest& request, Listener& listener, const std::atomic<bool>& stop, const std::string& run)
      : project_(project),
        graph_(graph),
        lakes_(lakes),
        store_(store),
        request_(request),
        listener_(listener),
        stop_(stop),
        run_(run) {}

  /// Plans, and claims the slices that are to be built. What another run did between the look and the claim is looked
  /// at again, with the slices in hand, until the plan is one that was made after its slices were claimed, or that
  /// nobody disturbed.
  Result<Claimed> claim() {
    Claimed claimed;
    WEIR_TRY(claimed.planned, plan_run(project_, graph_, lakes_, store_, request_));
    WEIR_TRY(claimed.held_up, leave_out_errors(claimed.planned));
    if (request_.approve) WEIR_CHECK(request_.approve(claimed.planned));
    failpoint("before_claim");
    while (true) {
      const std::vector<state::Lease> wanted = leases_wanted(claimed.planned.plan, run_);
      const bool covered = std::all_of(wanted.begin(), wanted.end(),
                                       [&](const state::Lease& lease) { return holds(claimed.leases, lease); });
      if (covered) return claimed;
      WEIR_TRY(ClaimedSlices slices,
               claim_slices(project_, lakes_, store_, {.wanted = wanted, .no_wait = request_.options.no_wait},
                            listener_, stop_));
      claimed.leases = std::move(slices.leases);
      WEIR_TRY(const bool moved, lakes_moved(claimed.planned.world));
      if (!slices.waited && !moved) return claimed;
      WEIR_TRY(claimed.planned, plan_run(project_, graph_, lakes_, store_, request_));
    }
  }

 private:
  /// Takes models that do not bind out of the selection, and plans without them. Binding costs nothing where nothing
  /// is to be built.
  Result<std::vector<StepReport>> leave_out_errors(Planned& planned) {
    std::set<std::string> models = models_built(planned.plan);
    // An edited contract is judged by binding, though nothing is to be built.
    for (const plan::Step& step : planned.plan.steps)
      if (step.action == plan::Action::Fresh && step.needs_audit) models.insert(step.model->path);
    std::vector<StepReport> held_up = request_.held_up;
    if (models.empty() || !request_.judge) return held_up;
    WEIR_TRY(const auto errors, request_.judge(models));
    if (errors.empty()) return held_up;
    for (StepReport& one : hold_up(graph_, errors, request_.selected)) held_up.push_back(std::move(one));
    if (request_.selected.empty()) {
      Diagnostics all;
      for (const StepReport& one : held_up) all.insert(all.end(), one.errors.begin(), one.errors.end());
      return fail(std::move(all));
    }
    request_.is_whole = false;
    WEIR_TRY(planned, plan_run(project_, graph_, lakes_, store_, request_));
    return held_up;
  }

  static bool holds(const std::vector<state::Lease>& held, const state::Lease& wanted) {
    return std::any_of(held.begin(), held.end(),
                       [&](const state::Lease& l) { return l.asset == wanted.asset && l.slice == wanted.slice; });
  }

  Result<bool> lakes_moved(const plan::World& seen) {
    WEIR_TRY(duck::Connection connection, lakes_.connect());
    for (const lake::Lake& lake : lakes_.all()) {
      std::string name = lake.name();
      std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
      WEIR_TRY(const std::int64_t now, lake.newest_version(connection));
      const auto then = seen.lakes.find(name);
      if (then == seen.lakes.end() || then->second.newest != now) return true;
    }
    return false;
  }

  const Project& project_;
  const Graph& graph_;
  lake::Lakes& lakes_;
  state::Store& store_;
  RunRequest request_;  // less what does not bind
  Listener& listener_;
  const std::atomic<bool>& stop_;
  const std::string& run_;
};

Result<std::map<std::string, lake::TableState>> observe_targets(lake::Lakes& lakes, const plan::Plan& plan) {
  std::map<std::string, std::vector<Asset>> assets;
  std::set<const Model*> seen;
  for (const plan::Step& step : plan.steps)
    if (step.action == plan::Action::Build && step.model->plane != Plane::Manual &&
        step.model->target->kind == AssetKind::Lake && seen.insert(step.model).second)
      assets[lakes.lake(step.model->target->place).name()].push_back(*step.model->target);
  std::map<std::string, lake::TableState> targets;
  WEIR_TRY(duck::Connection connection, lakes.connect());
  for (const auto& [name, of_lake] : assets) {
    const lake::Lake& lake = lakes.lake(name);
    WEIR_TRY(const std::int64_t version, lake.newest_version(connection));
    WEIR_TRY(auto states, lake.observe(connection, of_lake, version));
    targets.merge(states);
  }
  return targets;
}

/// Models whose slices one query may compute.
std::map<std::string, std::unique_ptr<Batch>> batches_of(const plan::Plan& plan) {
  std::map<std::string, std::unique_ptr<Batch>> batches;
  for (plan::SliceGroup& group : plan::slice_groups(plan))
    if (group.why_not_at_once.empty())
      batches.emplace(group.first->model->path, std::make_unique<Batch>(std::move(group.slices)));
  return batches;
}

/// Definitions of the plan's models whose rows weir does not own.
std::map<std::string, std::string> definitions_run(const Planned& planned) {
  std::map<std::string, std::string> definitions;
  for (const plan::Step& step : planned.plan.steps)
    if (!step.fingerprint.empty() && !planned.placed.owned.contains(step.model->path))
      definitions.emplace(step.model->path, step.fingerprint);
  return definitions;
}

/// Of the owned models, those that the environment shows as they are now.
std::map<std::string, std::string> definitions_shown(const Planned& planned, const state::PromotionRecord& shown) {
  std::map<std::string, std::string> definitions;
  for (const state::ShownModel& one : shown.models) {
    const auto placement = planned.placed.owned.find(one.model);
    if (placement != planned.placed.owned.end() && placement->second.fingerprint == one.fingerprint)
      definitions.emplace(one.model, one.fingerprint);
  }
  return definitions;
}

/// The ledger's rows of reused tables are those of the new definition from now on.
Result<void> record_reused(state::Store& store, const Planned& planned, const std::string& environment) {
  state::Store::Outcome outcome;
  for (const auto& [path, placement] : planned.placed.owned) {
    if (!placement.is_reused) continue;
    const std::string key = placement.data->key();
    const auto& known = planned.world.slices;
    for (auto at = known.lower_bound({key, ""}); at != known.end() && at->first.first == key; ++at) {
      if (at->second.environment != environment) continue;
      outcome.slices.push_back(at->second);
      outcome.slices.back().fingerprint = placement.fingerprint;
    }
  }
  if (outcome.slices.empty()) return {};
  return store.record(outcome);
}

/// Shows what the run built. If somebody else moved the environment since it was looked at, what the run built is shown
/// beside what they showed.
Result<std::optional<state::PromotionRecord>> move_environment(Session& session, env::Environment environment,
                                                               bool is_whole, RunReport& report) {
  constexpr int kAttempts = 5;
  for (int attempt = 1;; ++attempt) {
    Diagnostics notes;
    const PromoteRequest promotion{.environment = environment,
                                   .models = shown_after(session, environment, report.steps, is_whole, notes),
                                   .run = report.run,
                                   .command = session.options.command};
    // Before the views move: recovery brings up the generation from the lake alone.
    WEIR_CHECK(remember(session, environment, promotion.models));
    auto shown = promote(session.project, session.lakes, session.store, promotion, session.stop);
    if (shown || shown.error().front().code != Code::W5412 || attempt == kAttempts) {
      std::move(notes.begin(), notes.end(), std::back_inserter(report.notes));
      return shown;
    }
    WEIR_CHECK(recover(session.project, session.lakes, session.store, session.listener, session.stop));
    WEIR_TRY(environment, env::look(session.store, environment.name, session.graph));
  }
}

/// Models that were found fresh as far as they were looked at.
std::vector<std::string> models_verified(const RunReport& report) {
  std::map<std::string, bool> models;
  for (const StepReport& step : report.steps) {
    const bool is_fresh = step.status == Status::Fresh;
    const auto known = models.emplace(step.model, is_fresh).first;
    known->second &= is_fresh;
  }
  std::vector<std::string> verified;
  for (const auto& [model, is_fresh] : models)
    if (is_fresh) verified.push_back(model);
  return verified;
}

std::string status_of(const RunReport& report, bool stopped) {
  if (stopped) return "cancelled";
  for (const StepReport& step : report.steps) {
    if (step.status == Status::Failed) return "failed";
    if (step.status == Status::Skipped && step.is_blocking) return "failed";
  }
  return "done";
}

}  // namespace

namespace {

/// The selection, and what it reads of owned models whose definition the environment does not show yet.
std::set<std::string> with_changed_producers(const Graph& graph, std::set<std::string> selected,
                                             const std::map<std::string, std::string>& fingerprints,
                                             const env::Environment& environment) {
  for (std::size_t i = graph.models().size(); i-- > 0;) {
    if (!selected.contains(graph.models()[i].path)) continue;
    for (const std::size_t at : graph.producers_of(i)) {
      const Model& producer = graph.models()[at];
      if (!env::is_owned(producer) && producer.plane != Plane::Ephemeral) continue;
      const state::ShownModel* shown = environment.shown_model(producer.path);
      if (shown == nullptr || shown->fingerprint != fingerprints.at(producer.path)) selected.insert(producer.path);
    }
  }
  return selected;
}

/// Models that are to be built although this environment may not write the table of their definition.
std::set<std::string> unwritable(const plan::Plan& plan, const env::Placed& placed) {
  std::set<std::string> models;
  for (const plan::Step& step : plan.steps) {
    const auto placement = placed.owned.find(step.model->path);
    if (step.action == plan::Action::Build && placement != placed.owned.end() && !placement->second.may_write)
      models.insert(step.model->path);
  }
  return models;
}

/// In an environment other than prod a manual script must stay within its lakes.
Result<void> judge_scripts(const Graph& graph, const std::set<std::string>& selected, const Config& config) {
  Diagnostics problems;
  for (const Model& model : graph.models()) {
    if (model.plane != Plane::Manual || !selected.contains(model.path)) continue;
    for (Diagnostic& one : judge_manual_reach(model, config))
      if (one.severity == Severity::Error) problems.push_back(std::move(one));
  }
  if (!problems.empty()) return fail(std::move(problems));
  return {};
}

/// Files have no versions, so what they hold now may not be what the earlier run read.
void explain_as_of(Planned& planned, const std::string& run) {
  for (plan::Step& step : planned.plan.steps) {
    if (step.action != plan::Action::Build) continue;
    step.reason = fmt::format("reads again what {} read", run);
    for (const std::string& file : step.model->files.value_or(std::vector<std::string>{}))
      planned.notes.push_back(
          {.code = Code::W6032,
           .severity = Severity::Warning,
           .message = fmt::format("{} reads {} as it is now: files have no versions", step.model->path, file),
           .path = step.model->source->path});
  }
}

}  // namespace

Result<void> hold_up_undecided(const Graph& graph, RunRequest& request) {
  if (request.partition) return {};
  const calendar::PartitionRequest wanted{.now = io::now()};
  std::map<std::string, Diagnostics> errors;
  for (const Model& model : graph.models()) {
    if (!has_due_partition(model, request)) continue;
    if (auto choice = calendar::choose_partition(*model.partitioning, wanted); !choice) {
      Diagnostics found = at_partitioning(model, std::move(choice).error());
      found.front().hint += fmt::format("; --exclude {} leaves the model out", model.path);
      errors.emplace(model.path, std::move(found));
    }
  }
  if (errors.empty()) return {};
  std::vector<StepReport> held_up = hold_up(graph, errors, request.selected);
  if (request.selected.empty()) {
    Diagnostics all;
    for (const StepReport& one : held_up) all.insert(all.end(), one.errors.begin(), one.errors.end());
    return fail(std::move(all));
  }
  std::move(held_up.begin(), held_up.end(), std::back_inserter(request.held_up));
  return {};
}

Result<Planned> plan_run(const Project& project, const Graph& graph, lake::Lakes& lakes, state::Store& store,
                         const RunRequest& request) {
  Planned planned;
  plan::Options options;
  options.force = request.options.force;
  options.full_refresh = request.options.full_refresh;
  options.environment = request.options.environment;
  WEIR_TRY(options.arguments,
           check_arguments(graph, request.selected, project.config, lakes, request.arguments, planned.notes));
  options.at = io::now();
  if (request.at) {
    WEIR_TRY(options.at, calendar::parse_instant(*request.at));
  }
  WEIR_TRY(options.partitions, partitions_of(graph, request, options.at));
  options.ranges = request.ranges;
  options.following = request.following;
  options.one_by_one = request.one_by_one;
  options.tests = plan::test_fingerprints(graph, project.custom_tests);
  WEIR_TRY(const env::Forks forks, env::Forks::look(project.config, lakes, request.options.environment));
  planned.fingerprints = plan::fingerprints(graph, env::own_data(graph, request.selected, forks));
  const auto& fingerprints = planned.fingerprints;
  const auto definitions = forks.empty() ? fingerprints : plan::fingerprints(graph);
  WEIR_TRY(planned.environment, env::look(store, request.options.environment, graph));
  const std::set<std::string> selected =
      with_changed_producers(graph, request.selected, fingerprints, planned.environment);
  env::PlaceRequest place{.fingerprints = fingerprints,
                          .definitions = definitions,
                          .environment = planned.environment,
                          .selected = selected,
                          .reused = request.reused,
                          .forward_only = request.options.forward_only,
                          .forks = &forks};
  std::set<std::string> built = selected;
  for (const std::string& model : request.reused) built.erase(model);
  if (!forks.empty()) WEIR_CHECK(judge_scripts(graph, request.selected, project.config));
  while (true) {
    WEIR_TRY(planned.placed, env::place(graph, place));
    WEIR_TRY(planned.world, observe(project, *planned.placed.graph, selected, lakes, store, planned.environment));
    WEIR_TRY(planned.plan, plan::make_plan(*planned.placed.graph, built, fingerprints, planned.world, options));
    std::set<std::string> own = unwritable(planned.plan, planned.placed);
    if (!own.empty()) {
      place.own.merge(own);
      continue;
    }
    if (request.as_of) explain_as_of(planned, *request.as_of);
    for (const std::string& view : planned.placed.materialized)
      planned.notes.push_back(
          {.code = Code::W5406,
           .severity = Severity::Hint,
           .message = fmt::format("{} is a table in {}: it reads rows of the environment's own lake", view,
                                  planned.environment.name)});
    return planned;
  }
}

Result<RunReport> run(const Project& project, const Graph& graph, lake::Lakes& lakes, state::Store& store,
                      const RunRequest& request, Listener& listener, std::atomic<bool>& stop) {
  RunReport report;
  report.run = request.run ? *request.run : state::new_run_id();
  report.environment = request.options.environment;
  report.started = state::now_text();
  std::optional<state::RunLock> alive;
  if (!request.run) {
    WEIR_TRY(alive, state::RunLock::take(locks_folder(project), report.run));
  }
  OpenRun row(store, stop,
              {.run = report.run,
               .environment = report.environment,
               .status = "running",
               .started = report.started,
               .command = request.options.command,
               .host = state::host_identity(),
               .pid = getpid()});
  // Open before the first claim: a run that dies while it holds a lease is found by its row.
  WEIR_CHECK(row.open());
  failpoint("before_recovery");
  WEIR_CHECK(recover(project, lakes, store, listener, stop));
  WEIR_CHECK(refresh_deferrals(project.config, lakes, report.environment, stop));
  WEIR_TRY(Claimed claimed, Claimer(project, graph, lakes, store, request, listener, stop, report.run).claim());
  Planned& planned = claimed.planned;
  failpoint("after_claim");
  if (request.deploy) WEIR_CHECK(request.deploy(definitions_run(planned), report.run));

  Session session{.project = project,
                  .graph = *planned.placed.graph,
                  .plan = planned.plan,
                  .world = planned.world,
                  .owned = planned.placed.owned,
                  .placed = planned.placed,
                  .lakes = lakes,
                  .store = store,
                  .listener = listener,
                  .options = request.options,
                  .run = report.run,
                  .effective_micros = io::now().time_since_epoch().count(),
                  .stop = stop};
  std::vector<Seed> seeds;
  if (!request.options.full_refresh) seeds = seeds_of(planned.placed, models_built(planned.plan));
  WEIR_TRY(seeds, seed_tables(lakes, store, seeds, report.run, report.environment, stop));
  if (request.as_of) {
    WEIR_TRY(session.read_versions, versions_of_run(store, lakes, *request.as_of));
  } else if (request.options.pin) {
    WEIR_TRY(session.read_versions, newest_versions(lakes));
  }
  WEIR_TRY(session.targets, observe_targets(lakes, planned.plan));
  session.batches = batches_of(planned.plan);
  listener.started(claimed.held_up.size() + planned.plan.steps.size());
  for (const StepReport& step : claimed.held_up) listener.step_ended(step);
  {
    const state::Heartbeat heartbeat(store, report.run);
    Scheduler scheduler(session);
    WEIR_TRY(report.steps, scheduler.run(std::move(claimed.leases)));
  }
  const bool is_whole = request.is_whole && claimed.held_up.empty();
  report.steps.insert(report.steps.begin(), std::make_move_iterator(claimed.held_up.begin()),
                      std::make_move_iterator(claimed.held_up.end()));
  report.notes = std::move(planned.notes);
  report.status = status_of(report, stop.load());
  if (!stop.load() && (!planned.placed.owned.empty() || planned.environment.shown)) {
    WEIR_TRY(const auto shown, move_environment(session, planned.environment, is_whole, report));
    if (shown) report.generation = shown->generation;
    if (shown && request.deploy) WEIR_CHECK(request.deploy(definitions_shown(planned, *shown), report.run));
    WEIR_CHECK(record_reused(store, planned, report.environment));
  }
  // What failed leaves the environment reading its parent.
  std::erase_if(seeds, [&report](const Seed& seed) { return is_built(report, *seed.model); });
  static const std::atomic<bool> never{false};
  WEIR_CHECK(remove_unused(lakes, seeds, report.run, report.environment, never));
  WEIR_CHECK(refresh_deferrals(project.config, lakes, report.environment, never));
  report.finished = state::now_text();
  failpoint("before_end");
  WEIR_CHECK(row.close(report.status, to_json_text(report), models_verified(report)));
  failpoint("before_reconciled");
  if (!session.unrecorded.load()) WEIR_CHECK(note_reconciled(session, report));
  return report;
}

}  // namespace weir::run
