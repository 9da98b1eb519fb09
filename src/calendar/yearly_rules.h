// The rule by which a zone's clocks change each year from now on: the last line of its file in the tz database, written
// as POSIX writes TZ. The file itself lists changes up to 2037 only.
#pragma once

#include <date/date.h>

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace weir::calendar {

/// The day of one change, and the local time of day at which it happens.
struct ChangeDay {
  enum class Form { MonthWeekDay, DayOfYear, DayWithoutLeap } form = Form::MonthWeekDay;
  unsigned month = 1;
  unsigned week = 1;     // 5: the last one
  unsigned weekday = 0;  // 0: Sunday
  int day = 0;           // DayOfYear counts from 0, DayWithoutLeap from 1
  std::chrono::seconds time = std::chrono::hours(2);

  date::local_seconds in(date::year year) const;
};

struct YearlyRules {
  std::chrono::seconds standard{0};
  std::chrono::seconds summer{0};
  ChangeDay to_summer;
  ChangeDay to_standard;

  struct Change {
    date::sys_seconds at;
    std::chrono::seconds offset;  // from then on
  };
  /// Both changes of a year, in order.
  std::array<Change, 2> changes_in(date::year year) const;
};

/// "CET-1CEST,M3.5.0,M10.5.0/3". Nothing for a zone that changes its clocks no more, and for what is no rule.
std::optional<YearlyRules> parse_yearly_rules(std::string_view text);

}  // namespace weir::calendar
