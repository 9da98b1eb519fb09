// What the writes of one run start: a pure function of the edges, what arrived, what was seen before, and the clock.
#pragma once

#include <map>
#include <string>

#include "cascade/subscribers.h"
#include "state/cascade.h"

namespace weir::cascade {

/// How the building of a dispatched subscriber ended.
struct Ended {
  enum class How {
    Done,
    Failed,
    /// It was interrupted, or did not come to it: it is to be started again, and counts as no attempt.
    Open
  };
  How how = How::Open;
  std::string words;
};

struct Question {
  const Edges& edges;
  calendar::Instant now;
  /// By model, as far as it is known beyond the run's recorded steps.
  std::map<std::string, Ended> ended = {};
};

/// Decides for every subscriber of what the run wrote: one decision a subscriber and slice, each with its reason.
///  - `trigger any`: each write with something new starts it. `trigger all`: once every input arrived since it last
///    ran, unchanged ones too; inputs with partitions each in their slot, the others for all slots.
///  - Selected models are not started; nor is what led to the write (a cycle), nor a model by its own write.
///  - With a debounce it waits, and a newer arrival of the same slice replaces it.
/// What the run itself was to build is settled: done, failed, or pending again after the subscriber's retry delay.
state::CascadeChange decide(const Question& question, const state::CascadeView& view);

}  // namespace weir::cascade
