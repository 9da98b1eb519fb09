// `trigger all`: which inputs of a subscriber have arrived since it ran, by slot.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cascade/subscribers.h"
#include "state/cascade.h"

namespace weir::cascade {

/// Of one subscriber. A slot is the partition that inputs share; inputs without partitions count for every slot.
class Join {
 public:
  /// Takes what the store holds, less what the subscriber has read since.
  Join(const Subscriber& subscriber, const state::CascadeView& view, const std::string& now);

  void arrive(const Feed& feed, state::ArrivalRecord arrival);
  /// Slots that the arrivals of this run touch; "" where nothing names one.
  std::vector<std::string> touched() const;
  /// Inputs that the slot still waits for, as they are named.
  std::vector<std::string> missing(const std::string& slot) const;
  /// The partition that the slot's inputs carry.
  std::string carried_json(const std::string& slot) const;
  /// Paths of those that arrived, of the slot.
  std::vector<std::string> inputs(const std::string& slot) const;
  /// Forgets what these slots used. Requires: nothing is missing of them.
  void fire(const std::set<std::string>& slots);
  void write_to(state::CascadeChange& change) const;

 private:
  bool is_read(const state::ArrivalRecord& arrival, const state::CascadeView& view) const;
  const state::ArrivalRecord* find(const std::string& slot, const Feed& feed) const;
  bool has_slots() const;

  const Subscriber& subscriber_;
  std::vector<state::ArrivalRecord> known_;
  std::vector<state::ArrivalRecord> gone_;
  std::vector<state::ArrivalRecord> arrived_;
};

}  // namespace weir::cascade
