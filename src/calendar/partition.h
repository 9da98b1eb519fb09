// Partitions of time: kinds, zones, identities, and the calendar that lists them. Pure: no clock, no I/O beyond the
// zone database.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/span.h"

namespace weir::calendar {

/// UTC, microseconds.
using Instant = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

enum class PartitionKind { Hourly, Daily, Weekly, Monthly, Quarterly, Yearly, Dynamic };

std::string_view name_of(PartitionKind kind);
std::optional<PartitionKind> kind_named(std::string_view name);

/// `partitioned daily tz=Europe/Paris format=%Y-%m-%d start=2024-01-01 end=… key=…`, validated.
struct Partitioning {
  PartitionKind kind = PartitionKind::Daily;
  std::string tz = "UTC";
  /// strftime form of the identity: the kind's default unless `format=` was given. Empty for dynamic; in a quarterly
  /// one `Qn` stands for Q1 to Q4 (default "%Y-Qn"): SQL renders it as replace(strftime(ts, format), 'Qn', 'Q' ||
  /// quarter(ts)).
  std::string format;
  bool has_own_format = false;
  std::optional<std::string> start;  // YYYY-MM-DD
  std::optional<std::string> end;
  std::string key_path;  // dynamic
  Span span;
};

/// The default identity form of a kind; "" for dynamic.
std::string_view default_format(PartitionKind kind);

/// Checks zone, format, start and end.
/// Errors: W0150 unknown zone (nearest names), W0151 a format that does not give every partition its own identity,
/// W0152 a date that is none.
Result<void> validate(const Partitioning& partitioning);

/// The identity of the partition that holds `instant` in the partitioning's zone. Requires: a time kind.
std::string identity_of(const Partitioning& partitioning, Instant instant);

/// One partition of time.
struct Slot {
  std::string identity;
  /// Half-open range of local wall time, for the predicate beside the token: "YYYY-MM-DD HH:MM:SS".
  std::string local_begin;
  std::string local_end;
  /// The same in UTC, for TIMESTAMPTZ columns: the smallest range that holds all of it. Slots tile real time, save
  /// where clocks went back over a period's border (Saint John's before 2011): there two neighbours overlap by minutes,
  /// and only the identity tells their rows apart.
  Instant begin;
  Instant end;
};

/// The partition named `identity`.
/// Errors: W0153 not an identity of this kind, with an example of one; W0154 an hour that the night of a clock change
/// skips.
Result<Slot> slot_named(const Partitioning& partitioning, std::string_view identity);

/// Every partition from the one holding or named `from` to the one holding or named `to`, both included, in order,
/// respecting start and end. `from` and `to` are identities or dates (YYYY-MM-DD; an hourly range takes in all hours of
/// both days). Hours that clocks skip are left out. Errors: W0153; W0155 from after to; W0156 a dynamic kind has no
/// range.
Result<std::vector<Slot>> slots_between(const Partitioning& partitioning, std::string_view from, std::string_view to);

/// True if the slot lies wholly before `start` or after `end`, the two days included.
bool is_outside(const Partitioning& partitioning, const Slot& slot);

/// The date that clocks in the partitioning's zone show at `instant`, YYYY-MM-DD.
std::string local_date_of(const Partitioning& partitioning, Instant instant);

/// Reads an instant: "2026-05-16T00:30Z", with offset, or without one (UTC). Errors: W0157.
Result<Instant> parse_instant(std::string_view text);
/// ISO 8601 with microseconds and Z.
std::string format_instant(Instant instant);

/// Reads a duration such as 90, 30s, 15m, 1h, 7d: seconds. Nothing unless it is > 0 and fits 32 bits.
std::optional<std::int64_t> parse_duration(std::string_view text);

}  // namespace weir::calendar
