// Claims about every zone of the system's database, sampled with a fixed seed: what a partition covers and what it is
// called agree.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "calendar/partition.h"

namespace weir::calendar {
namespace {

using std::chrono::microseconds;

std::vector<std::string> all_zones() {
  const std::filesystem::path root = "/usr/share/zoneinfo";
  std::vector<std::string> names;
  for (const char* area :
       {"Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / area))
      if (entry.is_regular_file()) names.push_back(std::filesystem::relative(entry.path(), root).string());
  std::sort(names.begin(), names.end());
  return names;
}

Partitioning made(PartitionKind kind, const std::string& tz) {
  Partitioning partitioning;
  partitioning.kind = kind;
  partitioning.tz = tz;
  partitioning.format = default_format(kind);
  return partitioning;
}

constexpr PartitionKind kTimeKinds[] = {PartitionKind::Hourly,  PartitionKind::Daily,     PartitionKind::Weekly,
                                        PartitionKind::Monthly, PartitionKind::Quarterly, PartitionKind::Yearly};

TEST(EveryZone, PartitionOfAnInstantHoldsIt) {
  std::mt19937_64 random(20260705);
  std::uniform_int_distribution<std::int64_t> micros(parse_instant("1900-01-01")->time_since_epoch().count(),
                                                     parse_instant("2037-01-01")->time_since_epoch().count());
  std::size_t checked = 0;
  for (const auto& zone : all_zones()) {
    ASSERT_TRUE(validate(made(PartitionKind::Daily, zone)).has_value()) << zone;
    for (const auto kind : kTimeKinds) {
      const auto partitioning = made(kind, zone);
      for (int i = 0; i < 2; ++i) {
        const Instant instant{microseconds(micros(random))};
        const auto identity = identity_of(partitioning, instant);
        const auto slot = slot_named(partitioning, identity);
        ASSERT_TRUE(slot.has_value()) << zone << ' ' << identity;
        ASSERT_LE(slot->begin, instant) << zone << ' ' << identity;
        ASSERT_GT(slot->end, instant) << zone << ' ' << identity;
        ASSERT_EQ(identity_of(partitioning, slot->begin), identity) << zone;
        ASSERT_EQ(identity_of(partitioning, slot->end - microseconds(1)), identity) << zone;
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 4000u);
}

TEST(EveryZone, HoursOfSampledDaysTileAndMeetTheirDay) {
  std::mt19937_64 random(7);
  const auto first = parse_instant("2012-01-01")->time_since_epoch();
  const auto last = parse_instant("2036-12-01")->time_since_epoch();
  std::uniform_int_distribution<std::int64_t> micros(first.count(), last.count());
  for (const auto& zone : all_zones()) {
    const auto daily = made(PartitionKind::Daily, zone);
    const auto hourly = made(PartitionKind::Hourly, zone);
    const auto date = identity_of(daily, Instant(microseconds(micros(random))));
    const auto day = slot_named(daily, date);
    ASSERT_TRUE(day.has_value()) << zone << ' ' << date;
    const auto hours = slots_between(hourly, date, date);
    ASSERT_TRUE(hours.has_value() && !hours->empty()) << zone << ' ' << date;
    ASSERT_EQ(hours->front().begin, day->begin) << zone << ' ' << date;
    ASSERT_EQ(hours->back().end, day->end) << zone << ' ' << date;
    for (std::size_t i = 1; i < hours->size(); ++i)
      ASSERT_EQ((*hours)[i - 1].end, (*hours)[i].begin) << zone << ' ' << (*hours)[i].identity;
  }
}

TEST(AnyText, IsAnIdentityOnlyIfTheCalendarWritesIt) {
  std::mt19937 random(99);
  const std::string letters = "0123456789-TWQ:/ '";
  for (const auto kind : kTimeKinds) {
    const auto partitioning = made(kind, "America/Los_Angeles");
    const auto example = identity_of(partitioning, *parse_instant("2026-03-08T12:00Z"));
    for (int i = 0; i < 3000; ++i) {
      auto text = example;
      for (int edit = 0; edit < 2; ++edit) text[random() % text.size()] = letters[random() % letters.size()];
      if (random() % 8 == 0) text.insert(random() % text.size(), 1, letters[random() % letters.size()]);
      const auto slot = slot_named(partitioning, text);
      if (!slot.has_value()) continue;
      ASSERT_EQ(slot->identity, text);
      ASSERT_EQ(identity_of(partitioning, slot->begin), text);
    }
  }
}

}  // namespace
}  // namespace weir::calendar
