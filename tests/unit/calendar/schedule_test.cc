#include "calendar/schedule.h"

#include <date/tz.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace weir::calendar {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

Instant at(std::string_view text) { return *parse_instant(text); }

Schedule made(std::string_view cron, std::string_view tz = "UTC") {
  auto schedule = Schedule::cron(cron, tz);
  EXPECT_TRUE(schedule.has_value()) << cron << ' ' << (schedule ? "" : schedule.error().front().message);
  return schedule ? std::move(*schedule) : Schedule::every(1);
}

/// The next `count` due times, as text to the minute.
std::vector<std::string> due(const Schedule& schedule, std::string_view after, std::size_t count) {
  std::vector<std::string> times;
  for (auto next = schedule.next_after(at(after)); next && times.size() < count; next = schedule.next_after(*next))
    times.push_back(format_instant(*next).substr(0, 16));
  return times;
}

using Times = std::vector<std::string>;

TEST(Cron, FieldsTakeNumbersNamesListsRangesAndSteps) {
  EXPECT_EQ(due(made("0 6 * * 1-5"), "2026-07-03T06:00Z", 2), (Times{"2026-07-06T06:00", "2026-07-07T06:00"}));
  EXPECT_EQ(due(made("*/20 6,18 * JUL fri"), "2026-07-03T06:20Z", 3),
            (Times{"2026-07-03T06:40", "2026-07-03T18:00", "2026-07-03T18:20"}));
  EXPECT_EQ(due(made("5/25 0-8/4 * * *"), "2026-07-03T00:00Z", 4),
            (Times{"2026-07-03T00:05", "2026-07-03T00:30", "2026-07-03T00:55", "2026-07-03T04:05"}));
}

TEST(Cron, SundayIsZeroAndSeven) {
  for (const char* text : {"0 0 * * 0", "0 0 * * 7", "0 0 * * sun", "0 0 * * sun-0"})
    EXPECT_EQ(due(made(text), "2026-07-03T00:00Z", 2), (Times{"2026-07-05T00:00", "2026-07-12T00:00"})) << text;
  for (const char* text : {"0 0 * * 6-7", "0 0 * * sat-sun"})
    EXPECT_EQ(due(made(text), "2026-07-03T00:00Z", 2), (Times{"2026-07-04T00:00", "2026-07-05T00:00"})) << text;
  EXPECT_EQ(due(made("0 0 * * 7-1"), "2026-07-03T00:00Z", 2), (Times{"2026-07-05T00:00", "2026-07-06T00:00"}));
  // Monday, Wednesday, Friday: a step does not reach the second Sunday.
  EXPECT_EQ(due(made("0 0 * * 1/2"), "2026-07-03T00:00Z", 3),
            (Times{"2026-07-06T00:00", "2026-07-08T00:00", "2026-07-10T00:00"}));
}

TEST(Cron, OfDayAndWeekdayOneIsEnoughUnlessOneBeginsWithAStar) {
  EXPECT_EQ(due(made("0 0 13 * fri"), "2026-11-06T00:00Z", 3),
            (Times{"2026-11-13T00:00", "2026-11-20T00:00", "2026-11-27T00:00"}));
  EXPECT_EQ(due(made("0 0 13 * */5"), "2026-03-01T00:00Z", 2), (Times{"2026-03-13T00:00", "2026-09-13T00:00"}));
}

TEST(Cron, APresetIsItsFields) {
  EXPECT_EQ(due(made("@daily", "Asia/Kolkata"), "2026-07-03T00:00Z", 1), Times{"2026-07-03T18:30"});
  EXPECT_EQ(due(made("@weekly"), "2026-07-03T00:00Z", 1), Times{"2026-07-05T00:00"});
  EXPECT_EQ(due(made("@monthly"), "2026-07-03T00:00Z", 1), Times{"2026-08-01T00:00"});
  EXPECT_EQ(due(made(" @Yearly "), "2026-07-03T00:00Z", 1), Times{"2027-01-01T00:00"});
  EXPECT_EQ(due(made("@hourly"), "2026-07-03T00:00Z", 1), Times{"2026-07-03T01:00"});
}

TEST(Cron, AFaultIsPlacedAtItsField) {
  const struct {
    const char* text;
    Span span;
    const char* message;
  } cases[] = {
      {"0 6 * *", {0, 7}, "`cron` has 4 fields, not five"},
      {"", {0, 0}, "`cron` has 0 fields, not five"},
      {"60 6 * * *", {0, 2}, "`60` is no minute"},
      {"0 6,24 * * *", {4, 6}, "`24` is no hour"},
      {"0  6 0 * *", {5, 6}, "`0` is no day of month"},
      {"0 6 * sept *", {6, 10}, "`sept` is no month"},
      {"0 6 * * 8", {8, 9}, "`8` is no weekday"},
      {"0 6 * * 1-", {10, 10}, "`` is no weekday"},
      {"0 6 * * -1", {8, 8}, "`` is no weekday"},
      {"*/0 6 * * *", {2, 3}, "`0` is no step"},
      {"*/x 6 * * *", {2, 3}, "`x` is no step"},
      {"*/ 6 * * *", {0, 1}, "`` is no step"},
      {"1+1 6 * * *", {0, 3}, "`1+1` is no minute"},
      {"30-10 6 * * *", {0, 5}, "`30-10` goes backwards"},
      {"1,,2 6 * * *", {2, 2}, "`` is no minute"},
      {"1, 6 * * *", {0, 2}, "`1,` ends with a comma"},
      {"0 0 30 feb *", {4, 10}, "no month of the schedule has such a day, so it is never due"},
      {"@daily 5", {0, 8}, "`@daily 5` is no preset"},
  };
  for (const auto& one : cases) {
    const auto read = Cron::parse(one.text);
    ASSERT_FALSE(read.has_value()) << one.text;
    EXPECT_EQ(read.error().front().code, Code::W0169) << one.text;
    EXPECT_EQ(read.error().front().message, one.message);
    EXPECT_EQ(read.error().front().span, one.span) << one.text;
  }
}

TEST(Cron, TheLongestWaitIsThatForALeapDayOnAWeekdayOver2100) {
  // 2076 is followed by 2116: 2104 and the other leap years between have it on other days.
  const auto saturdays = due(made("0 0 29 2 */6"), "2072-03-01T00:00Z", 40);
  ASSERT_EQ(saturdays.size(), 40u);
  EXPECT_EQ(due(made("0 0 29 2 *"), "2096-03-01T00:00Z", 1), Times{"2104-02-29T00:00"});
}

TEST(Schedule, ATimeThatClocksSkipIsDueAtTheNextInstantThatTheyShow) {
  // 02:30 is skipped; 03:00 is 10:00Z.
  EXPECT_EQ(due(made("30 2 * * *", "America/Los_Angeles"), "2026-03-07T12:00Z", 2),
            (Times{"2026-03-08T10:00", "2026-03-09T09:30"}));
  // Many skipped times and the first one after the gap are one.
  EXPECT_EQ(due(made("*/20 2-3 * * *", "America/Los_Angeles"), "2026-03-08T09:00Z", 2),
            (Times{"2026-03-08T10:00", "2026-03-08T10:20"}));
  // Half an hour.
  EXPECT_EQ(due(made("15 2 * * *", "Australia/Lord_Howe"), "2026-10-03T15:00Z", 1), Times{"2026-10-03T15:30"});
  // Midnight itself.
  EXPECT_EQ(due(made("0 0 * * *", "America/Sao_Paulo"), "2018-11-03T12:00Z", 1), Times{"2018-11-04T03:00"});
  // A whole day, of which Friday's time is one.
  EXPECT_EQ(due(made("0 12 30 12 *", "Pacific/Apia"), "2011-12-01T00:00Z", 1), Times{"2011-12-30T10:00"});
}

TEST(Schedule, ATimeThatClocksShowTwiceIsDueOnce) {
  EXPECT_EQ(due(made("30 1 * * *", "America/Los_Angeles"), "2026-11-01T08:00Z", 2),
            (Times{"2026-11-01T08:30", "2026-11-02T09:30"}));
  EXPECT_EQ(due(made("*/30 * * * *", "America/Los_Angeles"), "2026-11-01T08:15Z", 3),
            (Times{"2026-11-01T08:30", "2026-11-01T10:00", "2026-11-01T10:30"}));
  EXPECT_EQ(due(made("0 0 * * *", "America/Sao_Paulo"), "2018-02-17T12:00Z", 2),
            (Times{"2018-02-18T03:00", "2018-02-19T03:00"}));
  EXPECT_EQ(due(made("30 23 * * *", "America/Sao_Paulo"), "2018-02-17T12:00Z", 2),
            (Times{"2018-02-18T01:30", "2018-02-19T02:30"}));
}

TEST(Schedule, ChangesOfClocksBeyondTheListOfTheDatabaseCountToo) {
  EXPECT_EQ(due(made("30 2 * * *", "Europe/Berlin"), "2050-03-26T12:00Z", 1), Times{"2050-03-27T01:00"});
}

TEST(Schedule, AnIntervalCountsRealTimeFromAMonday) {
  EXPECT_EQ(due(Schedule::every(900), "2026-07-03T00:00Z", 2), (Times{"2026-07-03T00:15", "2026-07-03T00:30"}));
  EXPECT_EQ(due(Schedule::every(7 * 86400), "2026-07-03T00:00Z", 2), (Times{"2026-07-06T00:00", "2026-07-13T00:00"}));
  EXPECT_EQ(Schedule::every(86400).last_at(at("1969-12-31T23:59:59Z")), at("1969-12-31T00:00Z"));
}

TEST(Schedule, WhatIsDueAtAnInstantIsItsLastTimeAndNotItsNext) {
  const Schedule schedule = made("0 6 * * *", "Europe/Paris");
  EXPECT_EQ(schedule.last_at(at("2026-07-03T04:00Z")), at("2026-07-03T04:00Z"));
  EXPECT_EQ(schedule.next_after(at("2026-07-03T04:00Z")), at("2026-07-04T04:00Z"));
  EXPECT_EQ(schedule.last_at(at("2026-07-03T03:59:59.999999Z")), at("2026-07-02T04:00Z"));
  EXPECT_EQ(schedule.next_after(at("2026-07-03T03:59:59.999999Z")), at("2026-07-03T04:00Z"));
}

// The oracle: fields as sets, and a clock on the wall that is read every minute of real time. A schedule is due when
// the clock shows, for the first time, a time at or after one of its own that it has not shown before.
struct Fields {
  std::vector<int> minutes, hours, days, months, weekdays;  // empty: `*`

  static std::string text(const std::vector<int>& values) {
    return values.empty() ? "*" : fmt::format("{}", fmt::join(values, ","));
  }
  std::string text() const {
    return fmt::format("{} {} {} {} {}", text(minutes), text(hours), text(days), text(months), text(weekdays));
  }
  static bool has(const std::vector<int>& values, int value) {
    return values.empty() || std::find(values.begin(), values.end(), value) != values.end();
  }
  bool matches(date::local_seconds time) const {
    const auto day = date::floor<date::days>(time);
    const date::year_month_day date(day);
    const auto since = time - day;
    const bool by_day = has(days, static_cast<int>(static_cast<unsigned>(date.day())));
    const bool by_weekday = has(weekdays, static_cast<int>(date::weekday(day).c_encoding()));
    const bool on_day = !days.empty() && !weekdays.empty() ? by_day || by_weekday : by_day && by_weekday;
    return on_day && has(months, static_cast<int>(static_cast<unsigned>(date.month()))) &&
           has(hours, static_cast<int>(since / std::chrono::hours(1))) &&
           has(minutes, static_cast<int>(since / std::chrono::minutes(1) % 60));
  }
};

class WallClock {
 public:
  explicit WallClock(const date::time_zone* zone) : zone_(zone) {}
  date::local_seconds shows(date::sys_seconds instant) {
    if (instant >= held_.end || instant < held_.begin) held_ = zone_->get_info(instant);
    return date::local_seconds(instant.time_since_epoch() + held_.offset);
  }

 private:
  const date::time_zone* zone_;
  date::sys_info held_{};
};

std::vector<int> some(std::mt19937_64& random, int first, int last, std::size_t most) {
  std::vector<int> values;
  for (std::size_t count = random() % (most + 1); count > 0; --count)
    values.push_back(first + static_cast<int>(random() % static_cast<unsigned>(last - first + 1)));
  return values;
}

/// A change of the zone's clocks between 1975 and 2037, or any minute where there is none.
date::sys_seconds some_change(std::mt19937_64& random, const date::time_zone& zone) {
  const date::sys_seconds first = date::sys_days(date::year(1975) / 1 / 1);
  const date::sys_seconds any = first + minutes(random() % (62ull * 365 * 1440));
  const auto end = zone.get_info(any).end;
  return end < first + hours(24 * 365 * 62) ? end : any;
}

TEST(EveryZone, DueTimesAreThoseOfAClockReadMinuteByMinute) {
  constexpr int kHoursBefore = 27;
  constexpr int kHoursAfter = 30;
  std::mt19937_64 random(20261130);
  std::size_t found = 0;
  for (const date::time_zone& zone : date::get_tzdb().zones) {
    const Fields fields{some(random, 0, 59, 2), some(random, 0, 23, 6), some(random, 1, 31, 2), some(random, 1, 12, 1),
                        some(random, 0, 6, 2)};
    const auto schedule = Schedule::cron(fields.text(), zone.name());
    if (!schedule && schedule.error().front().message.starts_with("no month")) continue;
    ASSERT_TRUE(schedule.has_value()) << fields.text();
    const date::sys_seconds change = some_change(random, zone);
    const date::sys_seconds after = change - minutes(random() % 600) + minutes(120);
    WallClock clock(&zone);
    date::local_seconds shown = clock.shows(after - hours(2 * kHoursBefore));
    std::optional<date::sys_seconds> last;
    std::optional<date::sys_seconds> next;
    for (auto now = after - hours(2 * kHoursBefore) + minutes(1); now < after + hours(kHoursAfter) && !next;
         now += minutes(1)) {
      bool is_due = false;
      const auto shows = clock.shows(now);
      for (; shown < shows; shown += minutes(1)) is_due = is_due || fields.matches(shown + minutes(1));
      if (!is_due || now < after - hours(kHoursBefore)) continue;
      (now > after ? next : last) = now;
    }
    const std::string where = fmt::format("{} [{}] {}", zone.name(), fields.text(), format_instant(Instant(after)));
    if (next) {
      ASSERT_EQ(schedule->next_after(Instant(after)), Instant(*next)) << where;
      ++found;
    } else {
      const auto later = schedule->next_after(Instant(after));
      ASSERT_TRUE(later && *later >= Instant(after + hours(kHoursAfter))) << where;
      ASSERT_EQ(schedule->last_at(*later), later) << where;
    }
    if (last) {
      ASSERT_EQ(schedule->last_at(Instant(after)), Instant(*last)) << where;
      ++found;
    }
  }
  EXPECT_GT(found, 200u);
}

}  // namespace
}  // namespace weir::calendar
