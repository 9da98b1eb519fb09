#include "cascade/decide.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "cascade/codec.h"
#include "cascade/joins.h"
#include "state/store.h"

namespace weir::cascade {
namespace {

/// One model that the run wrote, or found to be as it was.
struct Arrival {
  std::string from;
  bool is_new = true;
  Carried carried;
  /// Models that led to it, itself last.
  std::vector<std::string> chain;
  std::string label() const {
    return carried.of && !carried.value.empty() ? fmt::format("{} [{}]", from, carried.value) : from;
  }
};

/// What is about to be decided for one slice.
struct Draft {
  std::string outcome;
  std::vector<std::string> reasons;
  std::vector<std::string> inputs;
  std::set<std::string> chain;
  std::vector<std::string> ordered_chain;
  std::string carried_json;
  std::int64_t debounce = 0;
};

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Dispatching outweighs waiting, which outweighs skipping.
int weight(const std::string& outcome) { return outcome == "dispatched" ? 2 : outcome == "waiting" ? 1 : 0; }

class Decider {
 public:
  Decider(const Question& question, const state::CascadeView& view)
      : question_(question), view_(view), now_(calendar::format_instant(question.now)) {}

  state::CascadeChange decide() {
    for (const state::DispatchRecord& served : view_.served) settle(served);
    const std::vector<std::string> selection = names_from(view_.run.selection_json);
    selected_.insert(selection.begin(), selection.end());
    find_arrivals();
    for (const Subscriber& subscriber : question_.edges.subscribers) consider(subscriber);
    return std::move(change_);
  }

 private:
  // What the run was to build.

  Ended ended(const std::string& model) const {
    if (const auto known = question_.ended.find(model); known != question_.ended.end()) return known->second;
    for (const state::StepRecord& step : view_.steps) {
      if (step.model != model) continue;
      if (step.status == "failed") return {Ended::How::Failed, "it failed"};
      return {Ended::How::Done, step.status};
    }
    return {Ended::How::Open, "it was interrupted"};
  }

  void settle(state::DispatchRecord dispatch) {
    const Ended how = ended(dispatch.subscriber);
    if (how.how == Ended::How::Done) {
      dispatch.state = "done";
      note(dispatch, how.words);
    } else if (how.how == Ended::How::Open) {
      dispatch.state = "pending";
      dispatch.child.clear();
      note(dispatch, how.words + "; it is to be started again");
    } else {
      fail(dispatch, how.words);
    }
    change_.dispatches.push_back(std::move(dispatch));
  }

  void fail(state::DispatchRecord& dispatch, const std::string& words) {
    const auto& all = question_.edges.subscribers;
    const auto subscriber =
        std::find_if(all.begin(), all.end(), [&](const Subscriber& one) { return one.path == dispatch.subscriber; });
    ++dispatch.attempts;
    if (subscriber == all.end() || dispatch.attempts > subscriber->retries) {
      dispatch.state = "failed";
      note(dispatch, words);
      return;
    }
    dispatch.state = "pending";
    dispatch.not_before = subscriber->retry_delay > 0 ? later(subscriber->retry_delay) : std::string();
    note(dispatch, fmt::format("{}; retry {} of {}{}", words, dispatch.attempts, subscriber->retries,
                               subscriber->retry_delay > 0 ? " at " + dispatch.not_before : ""));
  }

  void note(state::DispatchRecord& dispatch, const std::string& words) const {
    dispatch.log_json = logged(dispatch.log_json, now_, words);
  }
  std::string later(std::int64_t seconds) const {
    return calendar::format_instant(question_.now + std::chrono::seconds(seconds));
  }

  // What arrived.

  void find_arrivals() {
    for (const state::StepRecord& step : view_.steps) {
      if (step.status != "materialized" && step.status != "unchanged") continue;
      Arrival arrival{.from = step.model, .is_new = step.status == "materialized"};
      arrival.carried = carried_from(view_.run.carried_json);
      for (const state::DispatchRecord& served : view_.served) {
        if (served.subscriber != step.model) continue;
        arrival.carried = carried_from(served.carried_json);
        for (std::string& name : names_from(served.chain_json))
          if (!contains(arrival.chain, name)) arrival.chain.push_back(std::move(name));
      }
      arrival.chain.push_back(step.model);
      const auto own = question_.edges.partitionings.find(step.model);
      if (own != question_.edges.partitionings.end() && !step.slice.empty()) {
        arrival.carried.of = own->second;
        arrival.carried.value = step.slice;
      }
      selected_.insert(step.model);
      // A model of many slices that nothing tells apart arrives once.
      const auto known = std::find_if(arrivals_.begin(), arrivals_.end(), [&](const Arrival& one) {
        return one.from == arrival.from && one.carried.value == arrival.carried.value;
      });
      if (known != arrivals_.end()) {
        known->is_new |= arrival.is_new;
      } else {
        arrivals_.push_back(std::move(arrival));
      }
    }
  }

  // What is decided of one subscriber.

  void consider(const Subscriber& subscriber) {
    drafts_.clear();
    std::vector<std::pair<const Arrival*, const Feed*>> heard;
    for (const Arrival& arrival : arrivals_) {
      if (arrival.from == subscriber.path && subscriber.feeds_itself)
        draft("", "skipped", "it would be started by its own write").inputs.push_back(arrival.from);
      const auto feed = std::find_if(subscriber.feeds.begin(), subscriber.feeds.end(),
                                     [&](const Feed& one) { return one.from == arrival.from; });
      if (feed != subscriber.feeds.end()) heard.emplace_back(&arrival, &*feed);
    }
    const bool is_selected = selected_.contains(subscriber.path);
    if (!is_selected)
      std::erase_if(heard, [&](const auto& one) {
        if (!contains(one.first->chain, subscriber.path)) return false;
        draft("", "skipped",
              fmt::format("a cycle: it led to the write of {} itself ({})", one.first->label(),
                          fmt::join(one.first->chain, " → ")))
            .inputs.push_back(one.first->from);
        return true;
      });
    if (subscriber.joins && !heard.empty()) {
      join(subscriber, heard, is_selected);
    } else if (!is_selected) {
      for (const auto& [arrival, feed] : heard) start(subscriber, *arrival, *feed);
    }
    for (auto& [slice, one] : drafts_) write(subscriber, slice, std::move(one));
  }

  void start(const Subscriber& subscriber, const Arrival& arrival, const Feed& feed) {
    const SliceChoice choice = slice_for(subscriber.partitioning, arrival.carried);
    if (!choice.skipped.empty()) {
      draft("", "skipped", choice.skipped).inputs.push_back(arrival.from);
      return;
    }
    // Unchanged is a success in every respect: whoever has read these rows already finds itself fresh.
    Draft& one = draft(choice.slice, "dispatched",
                       arrival.label() + (arrival.is_new ? " was written" : " was computed again, unchanged"));
    one.inputs.push_back(arrival.from);
    one.debounce = std::max(one.debounce, feed.debounce);
    add_chain(one, arrival);
    if (one.carried_json.empty() || arrival.carried.of) one.carried_json = to_json(arrival.carried);
  }

  void join(const Subscriber& subscriber, const std::vector<std::pair<const Arrival*, const Feed*>>& heard,
            bool is_selected) {
    // A selected one that was built has read them.
    const auto built = [&](const state::StepRecord& step) {
      return step.model == subscriber.path && (step.status == "materialized" || step.status == "unchanged");
    };
    if (is_selected && std::any_of(view_.steps.begin(), view_.steps.end(), built)) return;
    Join slots(subscriber, view_, now_);
    for (const auto& [arrival, feed] : heard) {
      const SliceChoice choice = slice_for(subscriber.partitioning, arrival->carried);
      if (feed->is_partitioned && !choice.skipped.empty()) {
        draft("", "skipped", choice.skipped).inputs.push_back(arrival->from);
        continue;
      }
      slots.arrive(*feed, {.environment = view_.run.environment,
                           .subscriber = subscriber.path,
                           .slot = subscriber.partitioning ? choice.slice : arrival->carried.value,
                           .input = arrival->from,
                           .run = view_.run.run,
                           .at = now_,
                           .carried_json = to_json(arrival->carried)});
    }
    std::set<std::string> complete;
    if (!is_selected)
      for (const std::string& slot : slots.touched())
        if (meet(subscriber, slots, slot, heard)) complete.insert(slot);
    slots.fire(complete);
    slots.write_to(change_);
  }

  /// True if all inputs of a slot have arrived.
  bool meet(const Subscriber& subscriber, const Join& slots, const std::string& slot,
            const std::vector<std::pair<const Arrival*, const Feed*>>& heard) {
    const std::vector<std::string> missing = slots.missing(slot);
    const Carried carried = carried_from(slots.carried_json(slot));
    const SliceChoice choice = slice_for(subscriber.partitioning, carried);
    const std::string slice = choice.skipped.empty() ? choice.slice : slot;
    if (!missing.empty()) {
      draft(slice, "waiting",
            fmt::format("{} of {} inputs arrived; it waits for {}", subscriber.feeds.size() - missing.size(),
                        subscriber.feeds.size(), fmt::join(missing, ", ")))
          .inputs = slots.inputs(slot);
      return false;
    }
    if (!choice.skipped.empty()) {
      draft("", "skipped", choice.skipped).inputs = slots.inputs(slot);
      return true;
    }
    Draft& one = draft(slice, "dispatched", fmt::format("all {} inputs arrived", subscriber.feeds.size()));
    one.inputs = slots.inputs(slot);
    one.carried_json = to_json(carried);
    for (const auto& [arrival, feed] : heard) {
      one.debounce = std::max(one.debounce, feed->debounce);
      add_chain(one, *arrival);
    }
    return true;
  }

  static void add_chain(Draft& draft, const Arrival& arrival) {
    for (const std::string& name : arrival.chain)
      if (draft.chain.insert(name).second) draft.ordered_chain.push_back(name);
  }

  Draft& draft(const std::string& slice, const std::string& outcome, std::string reason) {
    Draft& one = drafts_[slice];
    if (one.reasons.empty() || weight(outcome) > weight(one.outcome)) {
      one.outcome = outcome;
      // What outweighs a reason to skip does not hide it.
      one.reasons.insert(one.reasons.begin(), std::move(reason));
    } else {
      one.reasons.push_back(std::move(reason));
    }
    return one;
  }

  void write(const Subscriber& subscriber, const std::string& slice, Draft draft) {
    state::DispatchRecord record{.environment = view_.run.environment,
                                 .run = view_.run.run,
                                 .subscriber = subscriber.path,
                                 .slice = slice,
                                 .outcome = draft.outcome,
                                 .reason = fmt::format("{}", fmt::join(draft.reasons, "; ")),
                                 .carried_json = draft.carried_json,
                                 .chain_json = to_json(draft.ordered_chain),
                                 .inputs_json = to_json(draft.inputs),
                                 .decided = now_};
    if (draft.outcome == "dispatched") {
      record.state = "pending";
      if (draft.debounce > 0) {
        record.not_before = later(draft.debounce);
        record.reason += fmt::format("; it waits {} s for a newer arrival", draft.debounce);
        replace(subscriber.path, slice);
      }
    }
    note(record, fmt::format("{}: {}", record.outcome, record.reason));
    change_.dispatches.push_back(std::move(record));
  }

  /// What waits for a newer arrival of the same slice has got it.
  void replace(const std::string& subscriber, const std::string& slice) {
    for (state::DispatchRecord waiting : view_.pending) {
      const bool is_debounced = !waiting.not_before.empty() && waiting.attempts == 0;
      if (waiting.subscriber != subscriber || waiting.slice != slice || !is_debounced) continue;
      waiting.state = "replaced";
      note(waiting, "replaced by the newer arrival of run " + view_.run.run);
      change_.dispatches.push_back(std::move(waiting));
    }
  }

  const Question& question_;
  const state::CascadeView& view_;
  const std::string now_;
  std::set<std::string> selected_;
  std::vector<Arrival> arrivals_;
  std::map<std::string, Draft> drafts_;
  state::CascadeChange change_;
};

}  // namespace

state::CascadeChange decide(const Question& question, const state::CascadeView& view) {
  return Decider(question, view).decide();
}

}  // namespace weir::cascade
