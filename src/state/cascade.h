// What cascades leave in the state store: runs that start others, what was decided for each subscriber, and the inputs
// that joins have seen so far.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace weir::state {

struct StepRecord;

/// A run whose writes start subscribers, and whether that was decided.
struct CascadeRun {
  std::string run;
  std::string environment;
  std::string host;
  std::string created;
  /// Paths of the selected models as a JSON list: they are not started by it.
  std::string selection_json;
  /// What it hands on where no partition was written, see cascade/codec.h.
  std::string carried_json;
  std::string decided;  // when; empty: not yet
};

/// One decision: of a run, for a subscriber and a slice of it.
struct DispatchRecord {
  std::string environment;
  std::string run;  // the producer's
  std::string subscriber;
  std::string slice;
  std::string outcome;  // dispatched | waiting | skipped
  /// Of a dispatched one: pending | running | done | failed | replaced; otherwise empty.
  std::string state;
  std::string reason;
  /// Not started before; empty: at once.
  std::string not_before;
  int attempts = 0;
  /// The run that builds it, or built it last.
  std::string child;
  std::string carried_json;
  std::string chain_json;   // models that led to it, first to last
  std::string inputs_json;  // models whose writes it answers
  std::string log_json;     // [[time, words], …]
  std::string decided;
};

/// What a join has seen.
struct ArrivalRecord {
  std::string environment;
  std::string subscriber;
  std::string slot;   // "" for an input that counts for every slot
  std::string input;  // path of the model that wrote
  std::string run;
  std::string at;
  std::string carried_json;
};

/// What a decision is made from, all of one moment.
struct CascadeView {
  CascadeRun run;
  std::vector<StepRecord> steps;  // of the run
  /// Dispatches that the run builds.
  std::vector<DispatchRecord> served;
  /// Pending ones of the environment.
  std::vector<DispatchRecord> pending;
  /// Of the environment.
  std::vector<ArrivalRecord> arrivals;
  /// By model and slice, of subscribers that have arrivals: the run that wrote it last, and when that began.
  std::map<std::pair<std::string, std::string>, std::pair<std::string, std::string>> last_runs;
};

struct CascadeChange {
  std::vector<DispatchRecord> dispatches;  // new and changed ones
  std::vector<ArrivalRecord> arrived;
  std::vector<ArrivalRecord> used;  // forgotten
};

/// Which decisions are asked for.
struct DispatchQuery {
  std::string environment;
  /// Pending or running.
  bool only_open = false;
  /// Empty: of all.
  std::string subscriber;
  /// Of runs from this one on; empty: of all.
  std::string since;
  std::size_t limit = 100'000;
};

using Decide = std::function<Result<CascadeChange>(const CascadeView&)>;

}  // namespace weir::state
