#include "run/run.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "base/failpoint.h"
#include "calendar/resolve.h"
#include "io/clock.h"
#include "plan/fingerprint.h"
#include "run/arguments.h"
#include "run/observe.h"
#include "run/record.h"
#include "run/recovery.h"
#include "run/scheduler.h"
#include "state/liveness.h"

namespace weir::run {
namespace {

using namespace std::chrono_literals;

/// The partition of every partitioned model of the selection.
Result<std::map<std::string, plan::PartitionValue>> partitions_of(const Graph& graph, const RunRequest& request) {
  calendar::PartitionRequest wanted{.value = request.partition, .now = io::now()};
  if (request.at) {
    WEIR_TRY(wanted.at, calendar::parse_instant(*request.at));
  }
  std::map<std::string, plan::PartitionValue> partitions;
  Diagnostics problems;
  for (const Model& model : graph.models()) {
    if (!request.selected.contains(model.path) || !model.partitioning) continue;
    auto choice = calendar::choose_partition(*model.partitioning, wanted);
    if (choice) {
      partitions.emplace(model.path, plan::PartitionValue{std::move(choice->value), std::move(choice->skipped)});
      continue;
    }
    for (Diagnostic problem : choice.error()) {
      problem.path = model.source->path;
      problem.span = model.partitioning->span;
      problems.push_back(std::move(problem));
    }
  }
  if (!problems.empty()) return fail(std::move(problems));
  return partitions;
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

/// Claims all slices that are to be built; waits, with a message, while another live run holds one.
Result<std::vector<state::Lease>> claim(const Project& project, state::Store& store, const std::vector<state::Lease>& wanted,
                                        const RunRequest& request, Listener& listener, const std::atomic<bool>& stop, bool& waited) {
  std::string said;
  while (true) {
    WEIR_TRY(const std::vector<std::string> dead, dead_runs(project, store));
    auto claimed = store.claim(wanted, dead);
    if (claimed || request.options.no_wait || claimed.error().front().code != Code::W6101) return claimed;
    waited = true;
    if (said != claimed.error().front().message) {
      said = claimed.error().front().message;
      listener.message(said + "; waiting for it (--no-wait fails instead)");
    }
    for (int i = 0; i < 10 && !stop.load(); ++i) std::this_thread::sleep_for(20ms);
    if (stop.load()) return fail(Diagnostic{.code = Code::W7010, .message = "interrupted while waiting for another run"});
  }
}

Result<std::map<std::string, lake::TableState>> observe_targets(lake::Lakes& lakes, const plan::Plan& plan) {
  std::map<std::string, std::vector<Asset>> assets;
  for (const plan::Step& step : plan.steps)
    if (step.action == plan::Action::Build && step.model->plane == Plane::Managed)
      assets[lakes.lake(step.model->target->place).name()].push_back(*step.model->target);
  std::map<std::string, lake::TableState> targets;
  WEIR_TRY(duck::Connection connection, lakes.connect());
  for (const auto& [name, of_lake] : assets) {
    const lake::Lake& lake = lakes.lake(name);
    WEIR_TRY(const std::int64_t version, lake.current_version(connection));
    WEIR_TRY(auto states, lake.observe(connection, of_lake, version));
    targets.merge(states);
  }
  return targets;
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

Result<Planned> plan_run(const Project& project, const Graph& graph, lake::Lakes& lakes, state::Store& store, const RunRequest& request) {
  Planned planned;
  plan::Options options;
  options.force = request.options.force;
  options.full_refresh = request.options.full_refresh;
  WEIR_TRY(options.arguments, check_arguments(graph, request.selected, project.config, lakes, request.arguments, planned.notes));
  WEIR_TRY(options.partitions, partitions_of(graph, request));
  WEIR_TRY(planned.world, observe(project, graph, request.selected, lakes, store, request.options.environment));
  WEIR_TRY(planned.plan, plan::make_plan(graph, request.selected, plan::fingerprints(graph), planned.world, options));
  return planned;
}

Result<RunReport> run(const Project& project, const Graph& graph, lake::Lakes& lakes, state::Store& store, const RunRequest& request,
                      Listener& listener, std::atomic<bool>& stop) {
  RunReport report;
  report.run = state::new_run_id();
  report.environment = request.options.environment;
  report.started = state::now_text();
  WEIR_TRY(const auto alive, state::RunLock::take(locks_folder(project), report.run));
  WEIR_CHECK(recover(project, lakes, store, listener));

  WEIR_TRY(Planned planned, plan_run(project, graph, lakes, store, request));
  bool waited = false;
  WEIR_TRY(std::vector<state::Lease> leases, claim(project, store, leases_wanted(planned.plan, report.run), request, listener, stop, waited));
  if (waited) {
    // The other run may have done the work: look again, with the slices in hand.
    WEIR_TRY(planned, plan_run(project, graph, lakes, store, request));
  }
  state::RunRecord row{.run = report.run, .environment = report.environment, .status = "running", .started = report.started,
                       .command = request.options.command, .host = state::host_identity(), .pid = getpid()};
  WEIR_CHECK(store.put_run(row));
  failpoint("after_claim");

  Session session{.project = project, .graph = graph, .plan = planned.plan, .world = planned.world, .lakes = lakes, .store = store,
                  .listener = listener, .options = request.options, .run = report.run, .effective_micros = io::now().time_since_epoch().count(),
                  .stop = stop};
  WEIR_TRY(session.targets, observe_targets(lakes, planned.plan));
  listener.started(planned.plan.steps.size());
  {
    const state::Heartbeat heartbeat(store, report.run);
    Scheduler scheduler(session);
    WEIR_TRY(report.steps, scheduler.run(std::move(leases)));
  }
  report.notes = std::move(planned.notes);
  report.status = status_of(report, stop.load());
  report.finished = state::now_text();
  row.status = report.status;
  row.finished = report.finished;
  row.result_json = to_json_text(report);
  WEIR_CHECK(store.put_run(row));
  WEIR_CHECK(store.release(report.run));
  WEIR_CHECK(note_reconciled(session, report));
  return report;
}

}  // namespace weir::run
