// One time zone of the system's tz database, as the calendar needs it: which offset holds from when to when.
#pragma once

#include <date/date.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace date {
class time_zone;
}

namespace weir::calendar {

struct YearlyRules;

/// A stretch of real time during which a zone's offset stays the same. Half-open, UTC.
struct Stretch {
  date::sys_seconds begin;
  date::sys_seconds end;
  std::chrono::seconds offset;
};

/// Threads: safe, it is a value that points into the library's cache.
class Zone {
 public:
  /// Errors: W0150 no such zone, with the nearest names; or the system has no tz database.
  static Result<Zone> named(const std::string& name, Span span = {});

  Stretch at(date::sys_seconds instant) const;
  date::local_seconds to_local(date::sys_seconds instant) const;

 private:
  Zone(const date::time_zone* rules, std::shared_ptr<const YearlyRules> later)
      : rules_(rules), later_(std::move(later)) {}
  // Null for UTC: most projects then never read the database, which costs 6 ms to list (598 names).
  const date::time_zone* rules_;
  /// How clocks change beyond what the database lists; null where they do no more.
  std::shared_ptr<const YearlyRules> later_;
};

/// At most three names of the database that `wrong` may have meant: those equally near, none if all are far.
std::vector<std::string> nearest_zones(std::string_view wrong);

}  // namespace weir::calendar
