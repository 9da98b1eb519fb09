#include "cascade/joins.h"

#include <algorithm>
#include <chrono>
#include <map>

namespace weir::cascade {
namespace {

/// Slots that nothing came to for so long are given up.
constexpr std::chrono::days kLongestIdle{60};

bool is_of(const state::ArrivalRecord& arrival, const std::string& slot, const std::string& input) {
  return arrival.slot == slot && arrival.input == input;
}

}  // namespace

Join::Join(const Subscriber& subscriber, const state::CascadeView& view, const std::string& now)
    : subscriber_(subscriber) {
  std::map<std::string, std::string> newest;
  for (const state::ArrivalRecord& one : view.arrivals)
    if (one.subscriber == subscriber.path) newest[one.slot] = std::max(newest[one.slot], one.at);
  std::string oldest;
  if (const auto instant = calendar::parse_instant(now)) oldest = calendar::format_instant(*instant - kLongestIdle);
  for (const state::ArrivalRecord& one : view.arrivals) {
    if (one.subscriber != subscriber.path) continue;
    const bool is_gone = newest[one.slot] < oldest || is_read(one, view);
    (is_gone ? gone_ : known_).push_back(one);
  }
}

/// True if the subscriber ran since. A whole table that is joined by partition may have run for another slot; then only
/// firing uses an arrival up.
bool Join::is_read(const state::ArrivalRecord& arrival, const state::CascadeView& view) const {
  if (!subscriber_.partitioning && !arrival.slot.empty()) return false;
  return std::any_of(view.last_runs.begin(), view.last_runs.end(), [&](const auto& entry) {
    const auto& [key, last] = entry;
    if (key.first != subscriber_.path || (!arrival.slot.empty() && key.second != arrival.slot)) return false;
    return last.first == arrival.run || last.second > arrival.at;
  });
}

bool Join::has_slots() const {
  if (!subscriber_.partitioning && !subscriber_.joins_by_partition) return false;
  return std::any_of(subscriber_.feeds.begin(), subscriber_.feeds.end(),
                     [](const Feed& feed) { return feed.is_partitioned; });
}

void Join::arrive(const Feed& feed, state::ArrivalRecord arrival) {
  if (!has_slots() || !feed.is_partitioned) arrival.slot.clear();
  std::erase_if(known_, [&](const auto& one) { return is_of(one, arrival.slot, arrival.input); });
  std::erase_if(arrived_, [&](const auto& one) { return is_of(one, arrival.slot, arrival.input); });
  known_.push_back(arrival);
  arrived_.push_back(std::move(arrival));
}

std::vector<std::string> Join::touched() const {
  std::set<std::string> slots;
  bool touches_all = false;
  for (const state::ArrivalRecord& one : arrived_) {
    if (has_slots() && one.slot.empty()) touches_all = true;
    if (!has_slots() || !one.slot.empty()) slots.insert(one.slot);
  }
  if (touches_all)
    for (const state::ArrivalRecord& one : known_)
      if (!one.slot.empty()) slots.insert(one.slot);
  if (slots.empty() && touches_all) slots.insert("");
  return {slots.begin(), slots.end()};
}

const state::ArrivalRecord* Join::find(const std::string& slot, const Feed& feed) const {
  const std::string& where = has_slots() && feed.is_partitioned ? slot : std::string();
  const auto found =
      std::find_if(known_.begin(), known_.end(), [&](const auto& one) { return is_of(one, where, feed.from); });
  return found == known_.end() ? nullptr : &*found;
}

std::vector<std::string> Join::missing(const std::string& slot) const {
  std::vector<std::string> names;
  for (const Feed& feed : subscriber_.feeds)
    if (find(slot, feed) == nullptr) names.push_back(feed.is_made ? feed.from : feed.from + ", which no model makes");
  return names;
}

std::string Join::carried_json(const std::string& slot) const {
  const state::ArrivalRecord* any = nullptr;
  for (const Feed& feed : subscriber_.feeds) {
    const state::ArrivalRecord* one = find(slot, feed);
    if (one == nullptr) continue;
    if (feed.is_partitioned) return one->carried_json;
    if (any == nullptr || any->at < one->at) any = one;
  }
  return any == nullptr ? std::string() : any->carried_json;
}

std::vector<std::string> Join::inputs(const std::string& slot) const {
  std::vector<std::string> names;
  for (const Feed& feed : subscriber_.feeds)
    if (find(slot, feed) != nullptr) names.push_back(feed.from);
  return names;
}

void Join::fire(const std::set<std::string>& slots) {
  if (slots.empty()) return;
  const auto is_used = [&](const state::ArrivalRecord& one) { return one.slot.empty() || slots.contains(one.slot); };
  for (const state::ArrivalRecord& one : known_)
    if (is_used(one)) gone_.push_back(one);
  std::erase_if(known_, is_used);
  std::erase_if(arrived_, is_used);
}

void Join::write_to(state::CascadeChange& change) const {
  change.arrived.insert(change.arrived.end(), arrived_.begin(), arrived_.end());
  change.used.insert(change.used.end(), gone_.begin(), gone_.end());
}

}  // namespace weir::cascade
