// Which slice of a subscriber a partition means.
#include "cascade/carried.h"

#include <gtest/gtest.h>

#include "cascade/codec.h"

namespace weir::cascade {
namespace {

using calendar::PartitionKind;

calendar::Partitioning kind(PartitionKind kind, const std::string& tz = "UTC") {
  calendar::Partitioning one{.kind = kind, .tz = tz};
  one.format = calendar::default_format(kind);
  return one;
}

Carried carried(PartitionKind of, const std::string& value) {
  return {.of = kind(of), .value = value, .at = *calendar::parse_instant("2026-07-05T10:00Z")};
}

TEST(Carried, SameKindAndZoneGoesOnAsItIs) {
  EXPECT_EQ(slice_for(kind(PartitionKind::Daily), carried(PartitionKind::Daily, "2026-07-05")).slice, "2026-07-05");
  calendar::Partitioning own_format = kind(PartitionKind::Daily);
  own_format.format = "%Y/%m/%d";
  EXPECT_EQ(slice_for(own_format, carried(PartitionKind::Daily, "2026-07-05")).slice, "2026/07/05");
  EXPECT_EQ(slice_for(kind(PartitionKind::Dynamic), carried(PartitionKind::Dynamic, "acme")).slice, "acme");
  EXPECT_EQ(slice_for(std::nullopt, carried(PartitionKind::Daily, "2026-07-05")).slice, "");
}

TEST(Carried, ACoarserSubscriberRunsTheBucketThatContainsIt) {
  EXPECT_EQ(slice_for(kind(PartitionKind::Monthly), carried(PartitionKind::Daily, "2026-07-05")).slice, "2026-07");
  EXPECT_EQ(slice_for(kind(PartitionKind::Weekly), carried(PartitionKind::Daily, "2026-07-05")).slice, "2026-W27");
  EXPECT_EQ(slice_for(kind(PartitionKind::Daily), carried(PartitionKind::Hourly, "2026-07-05T23")).slice, "2026-07-05");
  EXPECT_EQ(slice_for(kind(PartitionKind::Monthly), carried(PartitionKind::Weekly, "2026-W28")).slice, "2026-07");
}

TEST(Carried, WhatNoBucketContainsIsSkippedWithItsReason) {
  EXPECT_EQ(slice_for(kind(PartitionKind::Daily), carried(PartitionKind::Monthly, "2026-07")).skipped,
            "no daily partition contains the monthly 2026-07");
  // The week from 2026-06-29 on.
  EXPECT_EQ(slice_for(kind(PartitionKind::Monthly), carried(PartitionKind::Weekly, "2026-W27")).skipped,
            "no monthly partition contains the weekly 2026-W27");
  EXPECT_EQ(slice_for(kind(PartitionKind::Daily, "Europe/Paris"), carried(PartitionKind::Daily, "2026-07-05")).skipped,
            "its partitions are in Europe/Paris, and 2026-07-05 was written in UTC");
  EXPECT_EQ(slice_for(kind(PartitionKind::Dynamic), carried(PartitionKind::Daily, "2026-07-05")).skipped,
            "its partitions are dynamic, and 2026-07-05 is a daily one");
}

TEST(Carried, StartAndEndOfTheSubscriberHold) {
  calendar::Partitioning late = kind(PartitionKind::Daily);
  late.start = "2026-07-06";
  EXPECT_EQ(slice_for(late, carried(PartitionKind::Daily, "2026-07-05")).skipped,
            "2026-07-05 is before its start=2026-07-06");
  EXPECT_EQ(slice_for(late, carried(PartitionKind::Daily, "2026-07-06")).slice, "2026-07-06");
  calendar::Partitioning over = kind(PartitionKind::Daily);
  over.end = "2026-07-04";
  EXPECT_EQ(slice_for(over, carried(PartitionKind::Daily, "2026-07-05")).skipped,
            "2026-07-05 is after its end=2026-07-04");
}

TEST(Carried, WithoutAPartitionTheGivenValueOrTheInstantCounts) {
  Carried none{.of = {}, .value = {}, .at = *calendar::parse_instant("2026-07-05T10:00Z")};
  EXPECT_EQ(slice_for(kind(PartitionKind::Daily), none).slice, "2026-07-05");
  EXPECT_NE(slice_for(kind(PartitionKind::Dynamic), none).skipped, "");
  none.value = "2026-01-02";
  EXPECT_EQ(slice_for(kind(PartitionKind::Daily), none).slice, "2026-01-02");
  EXPECT_NE(slice_for(kind(PartitionKind::Monthly), none).skipped, "") << "a day is no month";
}

TEST(Carried, IsReadBackFromItsText) {
  const Carried before = carried(PartitionKind::Weekly, "2026-W27");
  const Carried after = carried_from(to_json(before));
  ASSERT_TRUE(after.of);
  EXPECT_EQ(after.of->kind, PartitionKind::Weekly);
  EXPECT_EQ(after.of->tz, "UTC");
  EXPECT_EQ(after.of->format, before.of->format);
  EXPECT_EQ(after.value, before.value);
  EXPECT_EQ(after.at, before.at);
  EXPECT_FALSE(carried_from(to_json(Carried{.of = {}, .value = "x", .at = before.at})).of);
}

}  // namespace
}  // namespace weir::cascade
