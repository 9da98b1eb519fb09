// Windows of time: the calendar that lists them and sets of them. A window is a half-open stretch of what the clocks of
// a zone show, so that days begin at midnight there; for columns that hold instants, the same stretch of real time.
// Pure: no clock, no I/O beyond the zone database.
#pragma once

#include <date/date.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "calendar/partition.h"
#include "calendar/zone.h"

namespace weir::calendar {

/// What clocks show. The least and the greatest value stand for "ever" and "for ever".
using Wall = date::local_seconds;
inline constexpr Wall kEver = Wall::min();
inline constexpr Wall kForEver = Wall::max();

struct Window {
  Wall begin;
  Wall end;
  friend bool operator==(const Window&, const Window&) = default;
};

/// A set of stretches, sorted, that neither overlap nor touch.
class Windows {
 public:
  /// The inverse of name(). Nothing for what is none.
  static std::optional<Windows> parse(std::string_view name);
  /// "2026-07-05/2026-07-08", with times where a bound is no midnight, ".." for an open bound, commas between
  /// stretches; "all" for all of time; "" for none.
  std::string name() const;

  /// Does nothing for a stretch that is empty.
  void add(Window window);
  Windows without(const Windows& others) const;
  bool contains(const Windows& others) const { return others.without(*this).empty(); }
  bool empty() const { return parts_.empty(); }
  bool is_everything() const;
  /// Neither begins at ever nor ends for ever.
  bool is_bounded() const;
  const std::vector<Window>& parts() const& { return parts_; }
  /// Of a passing value its own, so that a loop may walk them.
  std::vector<Window> parts() && { return std::move(parts_); }

 private:
  std::vector<Window> parts_;
};

/// "2026-07-05 00:00:00", "-infinity", "infinity": a TIMESTAMP as DuckDB reads it.
std::string timestamp_text(Wall wall);

/// "1d", "6h", "1mo": seconds, or months. Nothing for what is none.
struct Length {
  std::int64_t count = 0;
  bool is_months = false;
  /// Seconds from 1970-01-01 to a boundary of the lattice: weeks begin on Mondays.
  std::int64_t origin = 0;
};
std::optional<Length> parse_length(std::string_view text);

/// The lattice of a model's windows: days, hours … from midnight of 1970-01-01, weeks from Monday, months and longer
/// from January.
class WindowCalendar {
 public:
  /// Requires: the three are valid; `lookback` and `tz` may be empty (none, UTC). Errors: W0150 unknown zone.
  static Result<WindowCalendar> make(std::string_view interval, std::string_view lookback, const std::string& tz);

  /// The begin of the window that holds `wall`.
  Wall floor(Wall wall) const;
  /// The begin of the window behind the one that begins there.
  Wall next(Wall begin) const;
  /// How many windows these are. Requires: no open bound.
  std::size_t count(const Windows& windows) const;
  /// Each of them by itself. Requires: no open bound.
  std::vector<Windows> each_of(const Windows& windows) const;
  /// What clocks show.
  Wall wall_of(Instant instant) const;
  /// The first instant at which clocks show `wall` or later. Windows so translated tile real time.
  Instant instant_of(Wall wall) const;
  /// The end of the last window that is over at `instant`.
  Wall complete_at(Instant instant) const;
  /// The end of the last window whose lookback is over too: one that was computed at `instant` is final.
  Wall settled_at(Instant instant) const;
  /// Where the lookback of a window that begins at `begin` reaches back to.
  Wall look_back_from(Wall begin) const;
  /// The windows that hold `from` to `to`, both included: dates or times of the zone. Errors: W0157 no time; W0155 from
  /// after to.
  Result<Window> between(std::string_view from, std::string_view to) const;

 private:
  WindowCalendar(Length interval, Length lookback, Zone zone)
      : interval_(interval), lookback_(lookback), zone_(std::move(zone)) {}
  Length interval_;
  Length lookback_;
  Zone zone_;
};

}  // namespace weir::calendar
