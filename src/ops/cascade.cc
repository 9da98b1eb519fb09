#include "ops/cascade.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/failpoint.h"
#include "cascade/codec.h"
#include "cascade/decide.h"
#include "io/clock.h"
#include "ops/selection.h"
#include "run/recovery.h"
#include "state/liveness.h"

namespace weir::ops {
namespace {

using namespace std::chrono_literals;
using cascade::Ended;
using Key = std::tuple<std::string, std::string, std::string>;

Key key_of(const state::DispatchRecord& one) { return {one.run, one.subscriber, one.slice}; }

std::string label_of(const state::DispatchRecord& one) {
  return one.slice.empty() ? one.subscriber : fmt::format("{} [{}]", one.subscriber, one.slice);
}

/// How a run ended for one of its models.
Ended ended_of(const run::RunReport& report, const std::string& model) {
  Ended ended{Ended::How::Open, "it was interrupted"};
  for (const run::StepReport& step : report.steps) {
    if (step.model != model) continue;
    const bool is_failed =
        step.status == run::Status::Failed || (step.status == run::Status::Skipped && step.is_blocking);
    if (step.status == run::Status::Cancelled) return {Ended::How::Open, "it was interrupted"};
    if (is_failed || step.is_held_up)
      return {Ended::How::Failed, "it failed: " + (step.error.empty() ? step.reason : step.error)};
    ended = {Ended::How::Done, std::string(run::name_of(step.status))};
    if (step.status != run::Status::Materialized && !step.reason.empty()) ended.words += ": " + step.reason;
  }
  return ended;
}

/// With the steps that the store did not take when they ended: the next command reads those in the lakes, but the run
/// is decided now.
state::CascadeView with_steps(state::CascadeView view, const run::RunReport& report) {
  for (const run::StepReport& step : report.steps) {
    if (step.status != run::Status::Materialized && step.status != run::Status::Unchanged) continue;
    const bool is_known = std::any_of(view.steps.begin(), view.steps.end(), [&](const state::StepRecord& known) {
      return known.model == step.model && known.slice == step.partition;
    });
    if (!is_known)
      view.steps.push_back({.run = report.run,
                            .model = step.model,
                            .slice = step.partition,
                            .status = std::string(run::name_of(step.status))});
  }
  return view;
}

class Driver {
 public:
  Driver(Workspace& workspace, const RunRequest& request, run::Listener& listener, std::atomic<bool>& stop)
      : workspace_(workspace), request_(request), listener_(listener), stop_(stop) {}

  Result<CascadeOutcome> go() {
    WEIR_TRY(project_, workspace_.project());
    WEIR_TRY(graph_, workspace_.sound_graph());
    WEIR_TRY(store_, workspace_.store());
    edges_ = cascade::edges_of(*graph_);
    WEIR_CHECK(first_run());
    WEIR_CHECK(decide_what_others_left());
    while (!stop_.load()) {
      WEIR_TRY(const std::vector<state::DispatchRecord> open,
               store_->dispatches({.environment = environment(), .only_open = true}));
      const std::vector<state::DispatchRecord> next = due(open);
      if (!next.empty()) {
        WEIR_CHECK(dispatch(next));
      } else if (!wait_for_one(open)) {
        break;
      }
    }
    WEIR_CHECK(collect());
    return std::move(outcome_);
  }

 private:
  const std::string& environment() const { return request_.options.environment; }
  calendar::Instant now() const { return std::max(io::now(), reached_); }
  std::string locks() const { return run::locks_folder(*project_); }

  state::CascadeRun row_of(const std::string& run, const std::set<std::string>& selected,
                           std::string carried_json) const {
    return {.run = run,
            .environment = environment(),
            .host = state::host_identity(),
            .created = state::machine_time_text(),
            .selection_json = cascade::to_json(std::vector<std::string>(selected.begin(), selected.end())),
            .carried_json = std::move(carried_json),
            .decided = {}};
  }

  /// What the user asked for.
  Result<void> first_run() {
    cascade::Carried carried{.of = {}, .value = request_.partition.value_or(""), .at = io::now()};
    if (request_.at) {
      WEIR_TRY(carried.at, calendar::parse_instant(*request_.at));
    }
    const std::string id = state::new_run_id();
    WEIR_TRY(const auto alive, state::RunLock::take(locks(), id));
    RunRequest request = request_;
    request.run = id;
    bool is_open = false;
    request.begin = [&](const std::set<std::string>& selected) -> Result<void> {
      WEIR_CHECK(store_->open_cascade(row_of(id, selected, cascade::to_json(carried)), {}));
      is_open = true;
      return {};
    };
    auto done = run(workspace_, request, listener_, stop_);
    failpoint("cascade_ran");
    if (is_open) WEIR_CHECK(decide(id, {}, done ? &done->report : nullptr));
    if (!done) return fail(std::move(done).error());
    outcome_.run = std::move(*done);
    return {};
  }

  /// Runs of cascades that died before their writes were decided. What they did, recovery has recorded.
  Result<void> decide_what_others_left() {
    WEIR_TRY(const std::vector<state::CascadeRun> left, store_->undecided_cascades(environment()));
    for (const state::CascadeRun& one : left) {
      WEIR_TRY(const bool is_over, has_ended(one));
      if (is_over) WEIR_CHECK(decide(one.run, {}, nullptr));
    }
    return {};
  }

  Result<bool> has_ended(const state::CascadeRun& one) {
    const bool is_ours = one.host == state::host_identity();
    if (is_ours && state::is_alive(locks(), one.run)) return false;
    WEIR_TRY(const std::optional<state::RunRecord> row, store_->run(one.run));
    if (row) return row->status != "running";
    // It died before it had a row, or is about to write it.
    return is_ours || state::is_expired(one.created, state::machine_time_text());
  }

  /// `report`: what the run did, where it is known here.
  Result<void> decide(const std::string& run, std::map<std::string, Ended> ended, const run::RunReport* report) {
    const cascade::Question question{.edges = edges_, .now = now(), .ended = std::move(ended)};
    std::vector<state::DispatchRecord> decided;
    WEIR_CHECK(store_->decide_cascade(run, [&](const state::CascadeView& view) -> Result<state::CascadeChange> {
      state::CascadeChange change = cascade::decide(question, report == nullptr ? view : with_steps(view, *report));
      decided = change.dispatches;
      return change;
    }));
    failpoint("cascade_decided");
    for (const state::DispatchRecord& one : decided) {
      ours_.insert(key_of(one));
      tell(one, run);
    }
    return {};
  }

  /// What is done its step's line has said.
  void tell(const state::DispatchRecord& one, const std::string& run) {
    if (one.run != run && one.state == "done") return;
    const auto log = cascade::log_from(one.log_json);
    if (log.empty()) return;
    std::string line = fmt::format("  {}  {}", label_of(one), log.back().second);
    // One run may have built it for several.
    if (line == told_) return;
    told_ = std::move(line);
    listener_.message(told_);
  }

  /// What one run may build now: dispatches of one slice, of subscribers that nothing else due feeds, over whichever
  /// models. Each then sees the newest of what the others write.
  std::vector<state::DispatchRecord> due(const std::vector<state::DispatchRecord>& open) const {
    const std::string until = calendar::format_instant(now());
    // By place, so producers come first.
    std::map<std::size_t, std::vector<const state::DispatchRecord*>> by_place;
    for (const state::DispatchRecord& one : open)
      if (one.state == "pending" && one.not_before <= until && !left_.contains(key_of(one)))
        by_place[place_of(one.subscriber)].push_back(&one);
    if (by_place.empty()) return {};
    const bool is_gone = by_place.begin()->first == 0;
    const state::DispatchRecord& first = *by_place.begin()->second.front();
    std::vector<state::DispatchRecord> next;
    std::vector<bool> is_fed(graph_->models().size());
    for (std::size_t i = 0; i < is_fed.size(); ++i) {
      for (const std::size_t producer : graph_->producers_of(i))
        is_fed[i] = is_fed[i] || is_fed[producer] || by_place.contains(producer + 1);
    }
    for (const auto& [place, dispatches] : by_place) {
      if (place > 0 && is_fed[place - 1]) continue;
      for (const state::DispatchRecord* one : dispatches) {
        const bool is_same = one->subscriber == first.subscriber && one->slice == first.slice;
        if (is_same || (!is_alone_ && !is_gone && one->slice == first.slice)) next.push_back(*one);
      }
    }
    return next;
  }

  /// In the graph's order; a model that is gone comes first, as nothing is to be built for it.
  std::size_t place_of(const std::string& model) const {
    const bool is_there = std::any_of(graph_->models().begin(), graph_->models().end(),
                                      [&](const Model& one) { return one.path == model; });
    return is_there ? graph_->index_of(model) + 1 : 0;
  }

  Result<void> dispatch(const std::vector<state::DispatchRecord>& wanted) {
    const std::string id = state::new_run_id();
    WEIR_TRY(const auto alive, state::RunLock::take(locks(), id));
    std::set<std::string> subscribers;
    for (const state::DispatchRecord& one : wanted) subscribers.insert(one.subscriber);
    WEIR_TRY(const std::vector<state::DispatchRecord> started,
             store_->open_cascade(row_of(id, subscribers, wanted.front().carried_json), wanted));
    // Another command has taken them.
    if (started.empty()) return {};
    failpoint("cascade_started");
    std::optional<run::RunReport> report;
    std::map<std::string, Ended> ended;
    if (place_of(wanted.front().subscriber) == 0) {
      ended[wanted.front().subscriber] = {Ended::How::Failed, "it is no model of the project any more, or has errors"};
    } else {
      ended = build(id, started, report);
    }
    failpoint("cascade_ran");
    for (const state::DispatchRecord& one : started)
      if (ended.at(one.subscriber).how == Ended::How::Open && !tries_alone(ended, report)) left_.insert(key_of(one));
    is_alone_ = is_alone_ || tries_alone(ended, report);
    WEIR_CHECK(decide(id, ended, report ? &*report : nullptr));
    if (report) outcome_.runs.push_back(std::move(*report));
    return {};
  }

  /// A run that one of several models kept from beginning says nothing of the others.
  bool tries_alone(const std::map<std::string, Ended>& ended, const std::optional<run::RunReport>& report) const {
    return !report && ended.size() > 1 && !stop_.load();
  }

  /// How each subscriber of `started` ended, all built by one run.
  std::map<std::string, Ended> build(const std::string& id, const std::vector<state::DispatchRecord>& started,
                                     std::optional<run::RunReport>& report) {
    std::set<std::string> models;
    for (const state::DispatchRecord& one : started) models.insert(one.subscriber);
    RunRequest request;
    request.options = request_.options;
    request.options.force = false;
    request.options.full_refresh = false;
    request.models = models;
    if (!started.front().slice.empty()) request.partition = started.front().slice;
    request.run = id;
    request.arguments = request_.arguments;
    auto done = run(workspace_, request, listener_, stop_);
    std::map<std::string, Ended> ended;
    if (done) {
      report = std::move(done->report);
      for (const std::string& model : models) ended[model] = ended_of(*report, model);
      return ended;
    }
    const Diagnostic& problem = done.error().front();
    const bool is_busy = problem.code == Code::W6101;
    const bool is_open = stop_.load() || is_busy || models.size() > 1;
    const std::string words = is_busy ? problem.message : "it failed: " + problem.message;
    for (const std::string& model : models) ended[model] = {is_open ? Ended::How::Open : Ended::How::Failed, words};
    return ended;
  }

  /// False if nothing that this command decided is to come.
  bool wait_for_one(const std::vector<state::DispatchRecord>& open) {
    if (request_.options.no_wait) return false;
    const state::DispatchRecord* next = nullptr;
    for (const state::DispatchRecord& one : open) {
      if (one.state != "pending" || !ours_.contains(key_of(one)) || left_.contains(key_of(one))) continue;
      if (next == nullptr || one.not_before < next->not_before) next = &one;
    }
    if (next == nullptr) return false;
    const auto until = calendar::parse_instant(next->not_before);
    if (!until) return false;
    // By a clock that goes on, also where WEIR_NOW stands for the time.
    const auto end = std::chrono::steady_clock::now() + (*until - now());
    while (std::chrono::steady_clock::now() < end && !stop_.load()) std::this_thread::sleep_for(20ms);
    reached_ = *until;
    return !stop_.load();
  }

  Result<void> collect() {
    if (ours_.empty()) return {};
    // By run, so the first one is of the earliest.
    WEIR_TRY(std::vector<state::DispatchRecord> all,
             store_->dispatches({.environment = environment(), .since = std::get<0>(*ours_.begin())}));
    std::erase_if(all, [&](const state::DispatchRecord& one) { return !ours_.contains(key_of(one)); });
    std::reverse(all.begin(), all.end());
    for (const state::DispatchRecord& one : all) outcome_.has_failed |= one.state == "failed";
    outcome_.decisions = std::move(all);
    return {};
  }

  Workspace& workspace_;
  const RunRequest& request_;
  run::Listener& listener_;
  std::atomic<bool>& stop_;
  const Project* project_ = nullptr;
  const Graph* graph_ = nullptr;
  state::Store* store_ = nullptr;
  cascade::Edges edges_;
  /// What this command decided or finished.
  std::set<Key> ours_;
  /// What it could not start; the next command does.
  std::set<Key> left_;
  /// A run of several did not begin: each has one of its own from now on.
  bool is_alone_ = false;
  std::string told_;
  /// Waited until then.
  calendar::Instant reached_{};
  CascadeOutcome outcome_;
};

nlohmann::ordered_json names(const std::string& json) { return cascade::names_from(json); }

}  // namespace

Result<CascadeOutcome> run_cascade(Workspace& workspace, const RunRequest& request, run::Listener& listener,
                                   std::atomic<bool>& stop) {
  return Driver(workspace, request, listener, stop).go();
}

Result<std::vector<state::DispatchRecord>> cascade_events(Workspace& workspace, const std::optional<std::string>& model,
                                                          std::size_t limit) {
  std::optional<std::string> path;
  if (model) {
    WEIR_TRY(const Project* project, workspace.project());
    WEIR_TRY(const Model* found, find_model(*project, *model));
    path = found->path;
  }
  WEIR_TRY(state::Store * store, workspace.store_if_there());
  if (store == nullptr) return std::vector<state::DispatchRecord>{};
  return store->dispatches(
      {.environment = workspace.environment(), .subscriber = path.value_or(std::string()), .limit = limit});
}

const std::string& status_of(const state::DispatchRecord& decision) {
  return decision.state.empty() ? decision.outcome : decision.state;
}

nlohmann::ordered_json to_json(const state::DispatchRecord& decision) {
  nlohmann::ordered_json one{{"run", decision.run}, {"subscriber", decision.subscriber}};
  if (!decision.slice.empty()) one["partition"] = decision.slice;
  one["outcome"] = decision.outcome;
  one["status"] = status_of(decision);
  one["reason"] = decision.reason;
  one["inputs"] = names(decision.inputs_json);
  if (decision.outcome == "dispatched") {
    one["chain"] = names(decision.chain_json);
    one["attempts_failed"] = decision.attempts;
  }
  if (decision.state == "pending" && !decision.not_before.empty()) one["not_before"] = decision.not_before;
  if (!decision.child.empty()) one["child_run"] = decision.child;
  one["decided"] = decision.decided;
  nlohmann::ordered_json events = nlohmann::ordered_json::array();
  for (const auto& [time, words] : cascade::log_from(decision.log_json))
    events.push_back({{"time", time}, {"text", words}});
  one["events"] = std::move(events);
  return one;
}

nlohmann::ordered_json to_json(const CascadeOutcome& outcome) {
  nlohmann::ordered_json decisions = nlohmann::ordered_json::array();
  for (const state::DispatchRecord& one : outcome.decisions) decisions.push_back(to_json(one));
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const run::RunReport& one : outcome.runs) runs.push_back(run::to_json(one));
  nlohmann::ordered_json all = to_json(outcome.run);
  all["cascade"] = {{"decisions", std::move(decisions)}, {"runs", std::move(runs)}};
  return all;
}

}  // namespace weir::ops
