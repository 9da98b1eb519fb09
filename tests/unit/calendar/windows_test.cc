// Windows: the lattice of a zone's calendar, its translation to real time, and sets of windows.
#include "calendar/windows.h"

#include <date/tz.h>
#include <gtest/gtest.h>

#include <random>

namespace weir::calendar {
namespace {

WindowCalendar made(std::string_view interval, std::string_view lookback = {}, const std::string& tz = {}) {
  return *WindowCalendar::make(interval, lookback, tz);
}
Instant at(std::string_view text) { return *parse_instant(text); }
Wall wall(std::string_view text) { return Wall(date::floor<std::chrono::seconds>(at(text).time_since_epoch())); }
std::string text(Wall wall) { return timestamp_text(wall); }
Windows set(std::string_view name) { return *Windows::parse(name); }

TEST(Windows, AWindowBeginsOnTheCalendarsOwnBorder) {
  EXPECT_EQ(text(made("1d").floor(wall("2026-07-05T13:45"))), "2026-07-05 00:00:00");
  EXPECT_EQ(text(made("6h").floor(wall("2026-07-05T13:45"))), "2026-07-05 12:00:00");
  EXPECT_EQ(text(made("15m").floor(wall("2026-07-05T13:44:59"))), "2026-07-05 13:30:00");
  EXPECT_EQ(text(made("1w").floor(wall("2026-01-01"))), "2025-12-29 00:00:00");
  EXPECT_EQ(text(made("1mo").floor(wall("2024-02-29T23:00"))), "2024-02-01 00:00:00");
  EXPECT_EQ(text(made("1q").floor(wall("2026-06-30"))), "2026-04-01 00:00:00");
  EXPECT_EQ(text(made("1y").floor(wall("2026-06-30"))), "2026-01-01 00:00:00");
  EXPECT_EQ(text(made("1d").floor(wall("1969-12-31T23:00"))), "1969-12-31 00:00:00");
  EXPECT_EQ(text(made("1mo").next(wall("2024-12-01"))), "2025-01-01 00:00:00");
}

TEST(Windows, ABorderBelongsToTheLaterWindow) {
  EXPECT_EQ(text(made("1d").floor(wall("2026-07-05"))), "2026-07-05 00:00:00");
  EXPECT_EQ(text(made("1d").next(wall("2026-07-05"))), "2026-07-06 00:00:00");
}

TEST(Windows, OnlyWindowsThatAreOverAreComplete) {
  EXPECT_EQ(text(made("1d").complete_at(at("2026-07-05T23:59:59Z"))), "2026-07-05 00:00:00");
  EXPECT_EQ(text(made("1d").complete_at(at("2026-07-06T00:00:00Z"))), "2026-07-06 00:00:00");
  EXPECT_EQ(text(made("1d", {}, "America/New_York").complete_at(at("2026-07-06T03:59Z"))), "2026-07-05 00:00:00");
  EXPECT_EQ(text(made("1d", {}, "America/New_York").complete_at(at("2026-07-06T04:00Z"))), "2026-07-06 00:00:00");
}

TEST(Windows, AWindowIsFinalOnceItsLookbackIsOver) {
  EXPECT_EQ(text(made("1d").settled_at(at("2026-07-06T00:30Z"))), "2026-07-06 00:00:00");
  EXPECT_EQ(text(made("1d", "2d").settled_at(at("2026-07-06T00:30Z"))), "2026-07-04 00:00:00");
  EXPECT_EQ(text(made("1d", "6h").settled_at(at("2026-07-06T05:59Z"))), "2026-07-05 00:00:00");
  EXPECT_EQ(text(made("1d", "6h").settled_at(at("2026-07-06T06:00Z"))), "2026-07-06 00:00:00");
  EXPECT_EQ(text(made("1d", "1mo").settled_at(at("2026-03-31T12:00Z"))), "2026-02-28 00:00:00");
  EXPECT_EQ(text(made("1d", "2d").look_back_from(wall("2026-07-05"))), "2026-07-03 00:00:00");
}

TEST(Windows, ARepeatedHourIsOneWindowAndASkippedOneIsEmpty) {
  const auto hours = made("1h", {}, "America/Los_Angeles");
  EXPECT_EQ(hours.instant_of(wall("2026-11-01T01:00")), at("2026-11-01T08:00Z"));
  EXPECT_EQ(hours.instant_of(wall("2026-11-01T02:00")), at("2026-11-01T10:00Z"));
  EXPECT_EQ(text(hours.complete_at(at("2026-11-01T09:30Z"))), "2026-11-01 01:00:00");
  EXPECT_EQ(hours.instant_of(wall("2026-03-08T02:00")), hours.instant_of(wall("2026-03-08T03:00")));
  // Midnight itself was skipped.
  const auto days = made("1d", {}, "America/Sao_Paulo");
  EXPECT_EQ(days.instant_of(wall("2018-11-04")), at("2018-11-04T03:00Z"));
}

TEST(Windows, RangesTakeInBothEnds) {
  const auto days = *made("1d").between("2026-07-05", "2026-07-06");
  EXPECT_EQ(text(days.begin) + text(days.end), "2026-07-05 00:00:002026-07-07 00:00:00");
  const auto hours = *made("6h").between("2026-07-05T07:00", "2026-07-05");
  EXPECT_EQ(text(hours.begin) + text(hours.end), "2026-07-05 06:00:002026-07-06 00:00:00");
  const auto zoned = *made("1h", {}, "Asia/Kolkata").between("2026-07-05T00:00Z", "2026-07-05T00:00Z");
  EXPECT_EQ(text(zoned.begin), "2026-07-05 05:00:00");
  EXPECT_EQ(made("1d").between("2026-07-06", "2026-07-05").error().front().code, Code::W0155);
  EXPECT_EQ(made("1d").between("yesterday", "2026-07-05").error().front().code, Code::W0157);
}

TEST(Windows, NamesRoundTrip) {
  for (const std::string_view name :
       {"all", "2026-07-05/2026-07-08", "2026-07-05/2026-07-06,2026-07-08T06:00:00/..", "../2026-01-01", ""})
    EXPECT_EQ(set(name).name(), name);
  for (const std::string_view name : {"2026-07-05", "2026-07-08/2026-07-05", "x/y"})
    EXPECT_EQ(Windows::parse(name), std::nullopt) << name;
}

TEST(Windows, SetsMergeWhatTouchesAndSplitWhatIsTakenOut) {
  EXPECT_EQ(set("2026-01-01/2026-01-03,2026-01-03/2026-01-05").name(), "2026-01-01/2026-01-05");
  EXPECT_EQ(set("2026-01-01/2026-01-05").without(set("2026-01-02/2026-01-03")).name(),
            "2026-01-01/2026-01-02,2026-01-03/2026-01-05");
  EXPECT_EQ(set("all").without(set("2026-01-02/..")).name(), "../2026-01-02");
  EXPECT_TRUE(set("2026-01-01/2026-01-05").contains(set("2026-01-02/2026-01-05")));
  EXPECT_FALSE(set("2026-01-01/2026-01-05").contains(set("2026-01-02/2026-01-06")));
}

TEST(WindowsProperty, SetsAgreeWithDaysCountedOneByOne) {
  std::mt19937 random(7);
  const Wall first = wall("2026-01-01");
  const auto some = [&](std::vector<bool>& days) {
    Windows windows;
    for (int i = 0; i < 4; ++i) {
      const int begin = static_cast<int>(random() % 20);
      const int end = begin + static_cast<int>(random() % 6);
      windows.add({first + date::days(begin), first + date::days(end)});
      for (int day = begin; day < end; ++day) days[day] = true;
    }
    return windows;
  };
  for (int round = 0; round < 500; ++round) {
    std::vector<bool> a(30);
    std::vector<bool> b(30);
    const Windows left = some(a);
    const Windows rest = left.without(some(b));
    Windows expected;
    for (int day = 0; day < 30; ++day)
      if (a[day] && !b[day]) expected.add({first + date::days(day), first + date::days(day + 1)});
    EXPECT_EQ(rest.name(), expected.name());
  }
}

// Every zone of the database: windows tile real time, each is found again from any instant in it, and what is complete
// at an instant is over by then while the next is not.
TEST(WindowsProperty, WindowsTileRealTimeInEveryZone) {
  std::mt19937_64 random(11);
  for (const auto& zone : date::get_tzdb().zones) {
    const auto calendar = WindowCalendar::make("1h", "", zone.name());
    ASSERT_TRUE(calendar.has_value()) << zone.name();
    const auto days = made("1d", {}, zone.name());
    for (int i = 0; i < 5; ++i) {
      const Instant instant = at("1975-01-01") + std::chrono::seconds(random() % 2'500'000'000);
      for (const WindowCalendar* one : {&*calendar, &days}) {
        const Wall end = one->complete_at(instant);
        EXPECT_LE(one->instant_of(end), instant) << zone.name();
        EXPECT_GT(one->instant_of(one->next(end)), instant) << zone.name();
        EXPECT_LE(one->instant_of(end), one->instant_of(one->next(end))) << zone.name();
        EXPECT_EQ(one->floor(end), end) << zone.name();
      }
    }
  }
}

}  // namespace
}  // namespace weir::calendar
