// Partitions: every rule of kinds, zones, formats and clock changes, and the claim that slots tile real time.
#include "calendar/partition.h"

#include <gtest/gtest.h>

namespace weir::calendar {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

Partitioning made(PartitionKind kind, std::string tz = "UTC", std::string format = {}) {
  Partitioning partitioning;
  partitioning.kind = kind;
  partitioning.tz = std::move(tz);
  partitioning.has_own_format = !format.empty();
  partitioning.format = format.empty() ? std::string(default_format(kind)) : std::move(format);
  return partitioning;
}
Instant at(std::string_view text) { return *parse_instant(text); }
template <class T>
Code code_of(const Result<T>& result) {
  EXPECT_FALSE(result.has_value());
  return result.has_value() ? Code::W0001 : result.error().front().code;
}

TEST(Partition, EachKindWritesItsIdentity) {
  const Instant time = at("2026-05-16T13:45:59Z");
  EXPECT_EQ(identity_of(made(PartitionKind::Hourly), time), "2026-05-16T13");
  EXPECT_EQ(identity_of(made(PartitionKind::Daily), time), "2026-05-16");
  EXPECT_EQ(identity_of(made(PartitionKind::Weekly), time), "2026-W20");
  EXPECT_EQ(identity_of(made(PartitionKind::Monthly), time), "2026-05");
  EXPECT_EQ(identity_of(made(PartitionKind::Quarterly), time), "2026-Q2");
  EXPECT_EQ(identity_of(made(PartitionKind::Yearly), time), "2026");
}

TEST(Partition, KindNamesRoundTrip) {
  for (const auto kind : {PartitionKind::Hourly, PartitionKind::Daily, PartitionKind::Weekly, PartitionKind::Monthly,
                          PartitionKind::Quarterly, PartitionKind::Yearly, PartitionKind::Dynamic})
    EXPECT_EQ(kind_named(name_of(kind)), kind);
  EXPECT_EQ(kind_named("Daily"), std::nullopt);
}

TEST(Partition, IdentityFollowsTheZone) {
  EXPECT_EQ(identity_of(made(PartitionKind::Daily, "America/New_York"), at("2026-05-16T00:30Z")), "2026-05-15");
  EXPECT_EQ(identity_of(made(PartitionKind::Hourly, "Asia/Kolkata"), at("2026-05-16T00:15Z")), "2026-05-16T05");
}

TEST(Partition, HalfHourZoneHasHalfHourBorders) {
  const auto slot = *slot_named(made(PartitionKind::Hourly, "Asia/Kolkata"), "2026-05-16T05");
  EXPECT_EQ(slot.begin, at("2026-05-15T23:30Z"));
  EXPECT_EQ(slot.end, at("2026-05-16T00:30Z"));
  EXPECT_EQ(slot.local_begin, "2026-05-16 05:00:00");
  EXPECT_EQ(slot.local_end, "2026-05-16 06:00:00");
}

TEST(Partition, RepeatedHourCoversBothRealHours) {
  const auto slot = *slot_named(made(PartitionKind::Hourly, "America/Los_Angeles"), "2026-11-01T01");
  EXPECT_EQ(slot.begin, at("2026-11-01T08:00Z"));
  EXPECT_EQ(slot.end, at("2026-11-01T10:00Z"));
}

TEST(Partition, MissingHourIsRefused) {
  const auto missing = slot_named(made(PartitionKind::Hourly, "America/Los_Angeles"), "2026-03-08T02");
  EXPECT_EQ(code_of(missing), Code::W0154);
  EXPECT_TRUE(slot_named(made(PartitionKind::Hourly, "America/Los_Angeles"), "2026-03-08T03").has_value());
}

TEST(Partition, DayOfAClockChangeHas23Or25Hours) {
  const auto daily = made(PartitionKind::Daily, "Europe/Paris");
  const auto short_day = *slot_named(daily, "2026-03-29");
  const auto long_day = *slot_named(daily, "2026-10-25");
  EXPECT_EQ(short_day.end - short_day.begin, hours(23));
  EXPECT_EQ(long_day.end - long_day.begin, hours(25));
}

TEST(Partition, ChangeByHalfAnHourKeepsBothHours) {
  const auto hourly = made(PartitionKind::Hourly, "Australia/Lord_Howe");
  const auto shortened = *slot_named(hourly, "2026-10-04T02");
  const auto lengthened = *slot_named(hourly, "2026-04-05T01");
  EXPECT_EQ(shortened.end - shortened.begin, minutes(30));
  EXPECT_EQ(lengthened.end - lengthened.begin, minutes(90));
}

TEST(Partition, DayThatAZoneSkippedIsNone) {
  EXPECT_EQ(code_of(slot_named(made(PartitionKind::Daily, "Pacific/Apia"), "2011-12-30")), Code::W0154);
  const auto around = *slots_between(made(PartitionKind::Daily, "Pacific/Apia"), "2011-12-29", "2011-12-31");
  ASSERT_EQ(around.size(), 2u);
  EXPECT_EQ(around[0].end, around[1].begin);
}

TEST(Partition, DayBeginsAfterTheGapWhereMidnightIsSkipped) {
  const auto slot = *slot_named(made(PartitionKind::Daily, "America/Sao_Paulo"), "2018-11-04");
  EXPECT_EQ(slot.begin, at("2018-11-04T03:00Z"));
  EXPECT_EQ(slot.end - slot.begin, hours(23));
}

TEST(Partition, WeeksFollowIsoOverTheYearsEnd) {
  const auto weekly = made(PartitionKind::Weekly);
  EXPECT_EQ(identity_of(weekly, at("2027-01-03T23:59Z")), "2026-W53");
  EXPECT_EQ(identity_of(weekly, at("2027-01-04")), "2027-W01");
  EXPECT_EQ(identity_of(weekly, at("2024-12-30")), "2025-W01");
  EXPECT_EQ(slot_named(weekly, "2025-W01")->local_begin, "2024-12-30 00:00:00");
  EXPECT_EQ(code_of(slot_named(weekly, "2025-W53")), Code::W0153);
}

TEST(Partition, OwnFormatIsWrittenAndReadBack) {
  for (const auto& [kind, form, identity] : {std::tuple{PartitionKind::Daily, "%Y/%m/%d", "2026/05/16"},
                                             {PartitionKind::Daily, "%-d.%-m.%Y", "16.5.2026"},
                                             {PartitionKind::Daily, "%Y%j", "2026136"},
                                             {PartitionKind::Daily, "%G-W%V-%u", "2026-W20-6"},
                                             {PartitionKind::Daily, "%Y %U %a", "2026 19 Sat"},
                                             {PartitionKind::Daily, "%Y %W %A", "2026 19 Saturday"},
                                             {PartitionKind::Daily, "%B %d, %Y", "May 16, 2026"},
                                             {PartitionKind::Hourly, "%d%b%y %Y %I%p", "16May26 2026 01PM"},
                                             {PartitionKind::Monthly, "%Y%m", "202605"},
                                             {PartitionKind::Quarterly, "Qn of %Y", "Q2 of 2026"},
                                             {PartitionKind::Yearly, "y%Y%%", "y2026%"}}) {
    const auto own = made(kind, "Europe/Paris", form);
    ASSERT_TRUE(validate(own).has_value()) << form;
    EXPECT_EQ(identity_of(own, at("2026-05-16T11:30Z")), identity);
    const auto slot = slot_named(own, identity);
    ASSERT_TRUE(slot.has_value()) << form;
    EXPECT_LE(slot->begin, at("2026-05-16T11:30Z"));
    EXPECT_GT(slot->end, at("2026-05-16T11:30Z"));
  }
}

TEST(Partition, FormatThatIsNoIdentityIsRefused) {
  for (const auto& [kind, form] : {std::pair{PartitionKind::Daily, "%Y-%m"},   // two days share it
                                   {PartitionKind::Daily, "%m-%d"},            // two years share it
                                   {PartitionKind::Daily, "%y-%m-%d"},         // two centuries share it
                                   {PartitionKind::Daily, "%Y-%m-%dT%H"},      // changes within the day
                                   {PartitionKind::Daily, "%Y%-m%-d"},         // 1/11 and 11/1
                                   {PartitionKind::Daily, "%-d1%m%Y"},         // 1 1.. and 11 ..
                                   {PartitionKind::Hourly, "%Y-%m-%d %I"},     // morning and afternoon
                                   {PartitionKind::Hourly, "%Y-%m-%d %H:%M"},  // changes within the hour
                                   {PartitionKind::Weekly, "%Y-W%W"},          // a week over the year's end has two
                                   {PartitionKind::Weekly, "%G-%V-%u"},        // changes within the week
                                   {PartitionKind::Monthly, "%Y"},             //
                                   {PartitionKind::Quarterly, "%Y"},           //
                                   {PartitionKind::Quarterly, "%Y-%m"},        //
                                   {PartitionKind::Yearly, "%G"},              // the ISO year is another one
                                   {PartitionKind::Daily, "%Y-%m-%d %Z"},      //
                                   {PartitionKind::Daily, "%Y-%m-%d%"},        //
                                   {PartitionKind::Daily, "%Y-%m-%d %q"},      //
                                   {PartitionKind::Daily, "day"}})
    EXPECT_EQ(code_of(validate(made(kind, "UTC", form))), Code::W0151) << form;
}

TEST(Partition, UnknownZoneNamesTheNearest) {
  const auto wrong = validate(made(PartitionKind::Daily, "Europe/Pariss"));
  ASSERT_EQ(code_of(wrong), Code::W0150);
  EXPECT_EQ(wrong.error().front().hint, "did you mean Europe/Paris?");
  const auto city = validate(made(PartitionKind::Daily, "kolkata"));
  ASSERT_EQ(code_of(city), Code::W0150);
  EXPECT_NE(city.error().front().hint.find("Asia/Kolkata"), std::string::npos);
}

TEST(Partition, EveryFaultOfAPartitioningIsReported) {
  auto bad = made(PartitionKind::Daily, "Mars/Base", "%Y");
  bad.start = "2026-02-30";
  bad.end = "soon";
  const auto found = validate(bad);
  ASSERT_FALSE(found.has_value());
  ASSERT_EQ(found.error().size(), 4u);
  EXPECT_EQ(found.error()[2].code, Code::W0152);
  auto turned = made(PartitionKind::Daily);
  turned.start = "2026-02-02";
  turned.end = "2026-02-01";
  EXPECT_EQ(code_of(validate(turned)), Code::W0155);
}

TEST(Partition, ValueOfAnotherShapeIsRefusedWithAnExample) {
  for (const char* text : {"2026-5-16", "2026-05-32", "2026-02-29", "2026-05-16 ", " 2026-05-16", "2026-05-16T00", "",
                           "'; DROP TABLE x; --"}) {
    const auto wrong = slot_named(made(PartitionKind::Daily), text);
    ASSERT_EQ(code_of(wrong), Code::W0153) << text;
    EXPECT_EQ(wrong.error().front().hint, "an identity looks like 2026-05-16");
  }
  EXPECT_EQ(code_of(slot_named(made(PartitionKind::Hourly), "2026-05-16T24")), Code::W0153);
  EXPECT_EQ(code_of(slot_named(made(PartitionKind::Quarterly), "2026-Q5")), Code::W0153);
  EXPECT_EQ(code_of(slot_named(made(PartitionKind::Monthly), "2026-13")), Code::W0153);
  EXPECT_EQ(code_of(slot_named(made(PartitionKind::Daily, "UTC", "%Y-%m-%d %a"), "2026-05-16 Fri")), Code::W0153);
}

TEST(Partition, RangeTakesIdentitiesAndDates) {
  const auto monthly = made(PartitionKind::Monthly);
  ASSERT_EQ(slots_between(monthly, "2025-11", "2026-02-14")->size(), 4u);
  EXPECT_EQ(slots_between(monthly, "2025-11-30", "2025-12")->front().identity, "2025-11");
  EXPECT_EQ(slots_between(made(PartitionKind::Hourly), "2026-05-16", "2026-05-17")->size(), 48u);
  EXPECT_EQ(slots_between(made(PartitionKind::Hourly, "Europe/Paris"), "2026-03-29", "2026-03-29")->size(), 23u);
  EXPECT_EQ(code_of(slots_between(monthly, "2026-02", "2026-01")), Code::W0155);
  EXPECT_EQ(code_of(slots_between(monthly, "2026-02", "March")), Code::W0153);
  EXPECT_EQ(code_of(slots_between(made(PartitionKind::Dynamic), "a", "b")), Code::W0156);
}

TEST(Partition, RangeRespectsStartAndEnd) {
  auto daily = made(PartitionKind::Daily);
  daily.start = "2026-05-10";
  daily.end = "2026-05-12";
  const auto slots = *slots_between(daily, "2026-01-01", "2026-12-31");
  ASSERT_EQ(slots.size(), 3u);
  EXPECT_EQ(slots.front().identity, "2026-05-10");
  EXPECT_EQ(slots.back().identity, "2026-05-12");
  EXPECT_TRUE(slots_between(daily, "2026-01-01", "2026-02-01")->empty());
}

TEST(Partition, OutsideMeansWhollyBeforeStartOrAfterEnd) {
  auto monthly = made(PartitionKind::Monthly);
  monthly.start = "2026-05-15";
  monthly.end = "2026-07-01";
  EXPECT_TRUE(is_outside(monthly, *slot_named(monthly, "2026-04")));
  EXPECT_FALSE(is_outside(monthly, *slot_named(monthly, "2026-05")));
  EXPECT_FALSE(is_outside(monthly, *slot_named(monthly, "2026-07")));
  EXPECT_TRUE(is_outside(monthly, *slot_named(monthly, "2026-08")));
}

struct Tiling {
  PartitionKind kind;
  const char* tz;
  const char* from;
  const char* to;
};
class SlotsTile : public testing::TestWithParam<Tiling> {};

TEST_P(SlotsTile, WithoutGapOrOverlapAndNameTheirOwnInstants) {
  const auto partitioning = made(GetParam().kind, GetParam().tz);
  const auto slots = *slots_between(partitioning, GetParam().from, GetParam().to);
  ASSERT_GT(slots.size(), 3u);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const auto& slot = slots[i];
    ASSERT_LT(slot.begin, slot.end) << slot.identity;
    ASSERT_EQ(identity_of(partitioning, slot.begin), slot.identity);
    ASSERT_EQ(identity_of(partitioning, slot.end - std::chrono::microseconds(1)), slot.identity);
    ASSERT_EQ(identity_of(partitioning, slot.begin + (slot.end - slot.begin) / 2), slot.identity);
    const auto again = slot_named(partitioning, slot.identity);
    ASSERT_TRUE(again.has_value()) << slot.identity;
    ASSERT_EQ(again->begin, slot.begin);
    const auto end_before = i > 0 ? slots[i - 1].end : slot.begin;
    ASSERT_EQ(end_before, slot.begin) << slot.identity;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Zones, SlotsTile,
    testing::Values(Tiling{PartitionKind::Hourly, "America/Los_Angeles", "2026-01-01", "2026-12-31"},
                    Tiling{PartitionKind::Hourly, "America/Sao_Paulo", "2018-01-01", "2019-12-31"},
                    Tiling{PartitionKind::Hourly, "Australia/Lord_Howe", "2026-01-01", "2026-12-31"},
                    Tiling{PartitionKind::Hourly, "Asia/Kolkata", "2026-01-01", "2026-03-31"},
                    Tiling{PartitionKind::Hourly, "Europe/Paris", "2026-01-01", "2026-12-31"},
                    Tiling{PartitionKind::Hourly, "Pacific/Apia", "2011-12-01", "2012-01-31"},
                    Tiling{PartitionKind::Daily, "America/Sao_Paulo", "2010-01-01", "2020-12-31"},
                    Tiling{PartitionKind::Daily, "Europe/Paris", "2000-01-01", "2037-06-30"},
                    Tiling{PartitionKind::Weekly, "America/Los_Angeles", "2000-01-01", "2037-06-30"},
                    Tiling{PartitionKind::Monthly, "Australia/Lord_Howe", "1990-01-01", "2037-06-30"},
                    Tiling{PartitionKind::Quarterly, "Europe/Paris", "1990-01-01", "2037-06-30"},
                    Tiling{PartitionKind::Yearly, "Asia/Kolkata", "1950-01-01", "2037-06-30"}));

TEST(Instant, ReadsOffsetsAndWritesUtc) {
  EXPECT_EQ(format_instant(at("2026-05-16T00:30Z")), "2026-05-16T00:30:00.000000Z");
  EXPECT_EQ(format_instant(at("2026-05-16")), "2026-05-16T00:00:00.000000Z");
  EXPECT_EQ(format_instant(at("2026-05-16 00:30:01.5")), "2026-05-16T00:30:01.500000Z");
  EXPECT_EQ(format_instant(at("2026-05-16T00:30:00.1234567+02:00")), "2026-05-15T22:30:00.123456Z");
  EXPECT_EQ(format_instant(at("2026-05-16T00:30-0330")), "2026-05-16T04:00:00.000000Z");
  EXPECT_EQ(format_instant(at("1969-12-31T23:59:59.000001Z")), "1969-12-31T23:59:59.000001Z");
  for (const char* wrong :
       {"", "now", "2026-02-30", "2026-05-16T", "2026-05-16T24:00", "2026-05-16T00:60", "2026-05-16T00:30X",
        "2026-05-16Z", "2026-05-16T00:30+2", "2026-05-16T00:30:00.", "2026-05-16T00:30+02:"})
    EXPECT_EQ(code_of(parse_instant(wrong)), Code::W0157) << wrong;
}

TEST(Duration, IsAPositiveNumberOfSecondsOrNothing) {
  EXPECT_EQ(parse_duration("60"), 60);
  EXPECT_EQ(parse_duration("30s"), 30);
  EXPECT_EQ(parse_duration(" 1d "), 86400);
  EXPECT_EQ(parse_duration("+5m"), 300);
  EXPECT_EQ(parse_duration("2h"), 7200);
  EXPECT_EQ(parse_duration("2147483647"), 2147483647);
  for (const char* wrong : {"", "abc", "0", "-5", "10x", "s", "2147483648", "24856d", "1.5h", "5 m", "+"})
    EXPECT_EQ(parse_duration(wrong), std::nullopt) << wrong;
}

}  // namespace
}  // namespace weir::calendar
