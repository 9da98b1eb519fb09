#include "cascade/carried.h"

#include <fmt/format.h>

#include "calendar/resolve.h"

namespace weir::cascade {
namespace {

using calendar::Partitioning;
using calendar::PartitionKind;

std::string outside_of(const Partitioning& subscriber, const calendar::Slot& slot) {
  const bool is_early = subscriber.start && calendar::local_date_of(subscriber, slot.begin) < *subscriber.start;
  return is_early ? fmt::format("{} is before its start={}", slot.identity, *subscriber.start)
                  : fmt::format("{} is after its end={}", slot.identity, subscriber.end.value_or(""));
}

/// Of a subscriber that no partition reaches.
SliceChoice resolved(const Partitioning& subscriber, const Carried& carried) {
  calendar::PartitionRequest request{.at = carried.at, .now = carried.at};
  if (!carried.value.empty()) request.value = carried.value;
  auto choice = calendar::choose_partition(subscriber, request);
  if (!choice) return {.skipped = choice.error().front().message};
  return {std::move(choice->value), std::move(choice->skipped)};
}

SliceChoice bucket_of(const Partitioning& subscriber, const Partitioning& producer, const std::string& value) {
  if (subscriber.tz != producer.tz)
    return {.skipped =
                fmt::format("its partitions are in {}, and {} was written in {}", subscriber.tz, value, producer.tz)};
  const auto written = calendar::slot_named(producer, value);
  if (!written) return {.skipped = written.error().front().message};
  const auto bucket = calendar::slot_named(subscriber, calendar::identity_of(subscriber, written->begin));
  if (!bucket) return {.skipped = bucket.error().front().message};
  if (written->begin < bucket->begin || bucket->end < written->end)
    return {.skipped = fmt::format("no {} partition contains the {} {}", calendar::name_of(subscriber.kind),
                                   calendar::name_of(producer.kind), value)};
  if (calendar::is_outside(subscriber, *bucket)) return {.skipped = outside_of(subscriber, *bucket)};
  return {.slice = bucket->identity, .skipped = {}};
}

}  // namespace

SliceChoice slice_for(const std::optional<Partitioning>& subscriber, const Carried& carried) {
  if (!subscriber) return {};
  if (!carried.of) return resolved(*subscriber, carried);
  const bool is_key = subscriber->kind == PartitionKind::Dynamic;
  if (is_key != (carried.of->kind == PartitionKind::Dynamic))
    return {.skipped = fmt::format("its partitions are {}, and {} is a {} one", calendar::name_of(subscriber->kind),
                                   carried.value, calendar::name_of(carried.of->kind))};
  if (is_key) return {.slice = carried.value, .skipped = {}};
  return bucket_of(*subscriber, *carried.of, carried.value);
}

}  // namespace weir::cascade
