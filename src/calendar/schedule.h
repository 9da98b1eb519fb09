// When a model is due: a schedule as a pure function from instants to instants. No clock inside.
//
// What clocks show decides. A time that clocks skip is due at the first instant after the gap, however many times of
// the schedule the gap swallows; a time that they show twice is due once, the first time. Each time of a zone's wall
// clock thus belongs to one instant, and later times never to earlier instants: everything here is a search among wall
// times and one look at the zone.
#pragma once

#include <bitset>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "calendar/partition.h"
#include "calendar/zone.h"

namespace weir::calendar {

/// Five fields (minute, hour, day of month, month, weekday), or a word such as @daily.
class Cron {
 public:
  /// The spans of diagnostics are bytes of `text`.
  /// Errors: W0169 a field that is none, or no day on which it would ever be due.
  static Result<Cron> parse(std::string_view text);

  bool has_day(date::local_days day) const;
  /// The first minute at or after `from`, and the last one before `until`. Nothing beyond 41 years: the longest wait is
  /// that for a 29th of February on one weekday, over 2100.
  std::optional<date::local_seconds> first_from(date::local_seconds from) const;
  std::optional<date::local_seconds> last_before(date::local_seconds until) const;

 private:
  std::optional<std::chrono::minutes> first_minute_from(std::chrono::minutes from) const;
  std::optional<std::chrono::minutes> last_minute_before(std::chrono::minutes until) const;

  std::bitset<60> minutes_;
  std::bitset<24> hours_;
  std::bitset<32> days_;
  std::bitset<13> months_;
  std::bitset<7> weekdays_;
  /// Both fields of the day begin with something other than `*`: a day has to be in one of them only.
  bool either_day_ = false;
};

/// Threads: safe, it is a value.
class Schedule {
 public:
  /// `tz` empty: UTC. Errors: W0169, W0150.
  static Result<Schedule> cron(std::string_view text, std::string_view tz);
  /// Every `seconds` of real time, counted from Monday 1970-01-05T00:00Z whatever the zone. Requires: > 0.
  static Schedule every(std::int64_t seconds);

  /// The first due time after `instant`, and the last one at or before it. Nothing where the calendar ends.
  std::optional<Instant> next_after(Instant instant) const;
  std::optional<Instant> last_at(Instant instant) const;

 private:
  struct Wall {
    Cron cron;
    Zone zone;
  };
  explicit Schedule(Wall wall) : wall_(std::move(wall)) {}
  explicit Schedule(std::chrono::seconds every) : every_(every) {}
  std::chrono::seconds every_{0};
  std::optional<Wall> wall_;
};

}  // namespace weir::calendar
