#include "calendar/zone.h"

#include <gtest/gtest.h>

#include "calendar/yearly_rules.h"

namespace weir::calendar {
namespace {

using namespace std::chrono_literals;

date::sys_seconds at(int year, unsigned month, unsigned day, int hour = 0, int minute = 0) {
  return date::sys_days(date::year(year) / date::month(month) / date::day(day)) + std::chrono::hours(hour) +
         std::chrono::minutes(minute);
}

std::chrono::seconds offset(const std::string& zone, date::sys_seconds instant) {
  const auto found = Zone::named(zone);
  EXPECT_TRUE(found.has_value()) << zone;
  return found->at(instant).offset;
}

TEST(Zone, ClocksChangeBeyondTheListOfTheDatabaseToo) {
  EXPECT_EQ(offset("Europe/Berlin", at(2050, 7, 1)), 2h);
  EXPECT_EQ(offset("Europe/Berlin", at(2050, 1, 1)), 1h);
  EXPECT_EQ(offset("Europe/Berlin", at(2038, 7, 1)), 2h);
  EXPECT_EQ(offset("Europe/Berlin", at(2037, 12, 31)), 1h);
  EXPECT_EQ(offset("Australia/Sydney", at(2060, 1, 1)), 11h);
  EXPECT_EQ(offset("Australia/Sydney", at(2060, 7, 1)), 10h);
  EXPECT_EQ(offset("Australia/Lord_Howe", at(2060, 1, 1)), 11h);
  EXPECT_EQ(offset("America/Los_Angeles", at(2400, 2, 29)), -8h);
  EXPECT_EQ(offset("Asia/Tokyo", at(2100, 7, 1)), 9h);
}

TEST(Zone, TheBordersOfAStretchAreExactBeyondTheListToo) {
  const auto berlin = Zone::named("Europe/Berlin");
  ASSERT_TRUE(berlin.has_value());
  const Stretch summer = berlin->at(at(2050, 7, 1));
  EXPECT_EQ(summer.begin, at(2050, 3, 27, 1));
  EXPECT_EQ(summer.end, at(2050, 10, 30, 1));
  EXPECT_EQ(berlin->at(summer.begin).offset, 2h);
  EXPECT_EQ(berlin->at(summer.begin - 1s).offset, 1h);
  EXPECT_EQ(berlin->at(summer.end).offset, 1h);
  // The last listed stretch and the first one by rule are one winter.
  const Stretch winter = berlin->at(at(2037, 12, 1));
  EXPECT_EQ(winter.begin, at(2037, 10, 25, 1));
  EXPECT_EQ(winter.end, at(2038, 3, 28, 1));
}

TEST(YearlyRules, EveryFormIsRead) {
  const auto nuuk = parse_yearly_rules("<-02>2<-01>,M3.5.0/-1,M10.5.0/0");
  ASSERT_TRUE(nuuk.has_value());
  EXPECT_EQ(nuuk->standard, -2h);
  EXPECT_EQ(nuuk->summer, -1h);
  EXPECT_EQ(nuuk->changes_in(date::year(2050))[0].at, at(2050, 3, 27, 1));
  const auto jerusalem = parse_yearly_rules("IST-2IDT,M3.4.4/26,M10.5.0");
  ASSERT_TRUE(jerusalem.has_value());
  EXPECT_EQ(jerusalem->changes_in(date::year(2050))[0].at, at(2050, 3, 25, 0));
  const auto days = parse_yearly_rules("AAA-3:30BBB-4:45:10,J60/0,300/1:30");
  ASSERT_TRUE(days.has_value());
  EXPECT_EQ(days->summer, 4h + 45min + 10s);
  EXPECT_EQ(days->to_summer.in(date::year(2052)), date::local_days(date::year(2052) / 3 / 1) + 0s);
  EXPECT_EQ(days->to_standard.in(date::year(2051)), date::local_days(date::year(2051) / 10 / 28) + 90min);
}

TEST(YearlyRules, WhatIsNoRuleIsNone) {
  for (const char* text : {"", "JST-9", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0",
                           "CET-1CEST,M3.5.0,M10.5.0x", "<+03-3", "1CET", "CET-1CEST,M3.5.0/,M10.5.0"})
    EXPECT_FALSE(parse_yearly_rules(text).has_value()) << text;
}

}  // namespace
}  // namespace weir::calendar
