// The calendar of partitions. Periods are ranges of wall time; what they cover in real time follows from the zone's
// offsets: a repeated hour covers both real hours, one that the clocks skip covers none and so is no partition.
#include "calendar/partition.h"

#include <date/date.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "calendar/format.h"
#include "calendar/zone.h"

namespace weir::calendar {
namespace {

using date::days;
using date::local_days;
using date::local_seconds;
using date::sys_seconds;

struct Kind {
  PartitionKind kind;
  std::string_view name;
  std::string_view format;
};
constexpr std::array kKinds = {
    Kind{PartitionKind::Hourly, "hourly", "%Y-%m-%dT%H"}, Kind{PartitionKind::Daily, "daily", "%Y-%m-%d"},
    Kind{PartitionKind::Weekly, "weekly", "%G-W%V"},      Kind{PartitionKind::Monthly, "monthly", "%Y-%m"},
    Kind{PartitionKind::Quarterly, "quarterly", "%Y-Qn"}, Kind{PartitionKind::Yearly, "yearly", "%Y"},
    Kind{PartitionKind::Dynamic, "dynamic", ""},
};

const Kind& entry(PartitionKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

local_seconds month_begin(local_seconds time, unsigned months_in_period) {
  const date::year_month_day ymd(date::floor<days>(time));
  const unsigned month = (static_cast<unsigned>(ymd.month()) - 1) / months_in_period * months_in_period + 1;
  return local_days(ymd.year() / date::month(month) / 1);
}

local_seconds month_end(local_seconds begin, unsigned months_in_period) {
  const date::year_month_day ymd(date::floor<days>(begin));
  return local_days(ymd + date::months(months_in_period));
}

local_seconds period_begin(PartitionKind kind, local_seconds time) {
  const auto day = date::floor<days>(time);
  switch (kind) {
    case PartitionKind::Hourly:
      return date::floor<std::chrono::hours>(time);
    case PartitionKind::Weekly:
      return day - (date::weekday(day) - date::Monday);
    case PartitionKind::Monthly:
      return month_begin(time, 1);
    case PartitionKind::Quarterly:
      return month_begin(time, 3);
    case PartitionKind::Yearly:
      return month_begin(time, 12);
    case PartitionKind::Daily:
    case PartitionKind::Dynamic:
      break;
  }
  return day;
}

local_seconds period_end(PartitionKind kind, local_seconds begin) {
  switch (kind) {
    case PartitionKind::Hourly:
      return begin + std::chrono::hours(1);
    case PartitionKind::Weekly:
      return begin + days(7);
    case PartitionKind::Monthly:
      return month_end(begin, 1);
    case PartitionKind::Quarterly:
      return month_end(begin, 3);
    case PartitionKind::Yearly:
      return month_end(begin, 12);
    case PartitionKind::Daily:
    case PartitionKind::Dynamic:
      break;
  }
  return begin + days(1);
}

/// Strictly YYYY-MM-DD.
std::optional<local_days> read_date(std::string_view text) {
  static const auto daily = IdentityFormat::parse(PartitionKind::Daily, "%Y-%m-%d");
  const auto read = daily->read(text);
  if (!read) return std::nullopt;
  return date::floor<days>(*read);
}

std::string wall_text(local_seconds time) {
  const auto day = date::floor<days>(time);
  const date::year_month_day ymd(day);
  const date::hh_mm_ss<std::chrono::seconds> clock(time - day);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", static_cast<int>(ymd.year()),
                     static_cast<unsigned>(ymd.month()), static_cast<unsigned>(ymd.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count());
}

Instant to_instant(sys_seconds time) {
  return Instant(std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()));
}
sys_seconds to_seconds(Instant instant) { return date::floor<std::chrono::seconds>(instant); }

Diagnostic bad_date(std::string_view option, std::string_view text, Span span) {
  return {.code = Code::W0152,
          .message = fmt::format("{}={} is not a date", option, text),
          .path = {},
          .span = span,
          .hint = "dates are written YYYY-MM-DD, for example 2026-01-31"};
}

/// Everything about a partitioning that its text stands for, looked up once.
class Grid {
 public:
  static Result<Grid> of(const Partitioning& partitioning) {
    WEIR_TRY(auto zone, Zone::named(partitioning.tz, partitioning.span));
    const std::string_view form = partitioning.format.empty() ? default_format(partitioning.kind) : partitioning.format;
    WEIR_TRY(auto format, IdentityFormat::parse(partitioning.kind, form, partitioning.span));
    return Grid(partitioning.kind, zone, std::move(format));
  }

  std::string identity_at(sys_seconds instant) const {
    return format_.render(period_begin(kind_, zone_.to_local(instant)));
  }
  local_seconds begin_at(local_seconds time) const { return period_begin(kind_, time); }
  local_seconds next(local_seconds begin) const { return period_end(kind_, begin); }
  std::optional<local_seconds> read(std::string_view identity) const { return format_.read(identity); }

  /// The period as a slot, or nothing if the zone's clocks skip all of it. Where clocks go back over a period's border
  /// (Saint John's before 2011 did, at a minute past midnight), the real times of two periods interleave; begin and end
  /// are then the hull.
  std::optional<Slot> slot(local_seconds begin) const {
    const local_seconds end = next(begin);
    // No offset of the database reaches a day and two hours.
    constexpr std::chrono::hours kReach(26);
    const sys_seconds last = sys_seconds(end.time_since_epoch()) + kReach;
    std::optional<sys_seconds> from;
    sys_seconds to;
    for (sys_seconds at = sys_seconds(begin.time_since_epoch()) - kReach; at < last;) {
      const Stretch stretch = zone_.at(at);
      const sys_seconds low = std::max(sys_seconds(begin.time_since_epoch()) - stretch.offset, stretch.begin);
      const sys_seconds high = std::min(sys_seconds(end.time_since_epoch()) - stretch.offset, stretch.end);
      if (low < high) {
        if (!from) from = low;
        to = high;
      }
      at = stretch.end;
    }
    if (!from) return std::nullopt;
    return Slot{.identity = format_.render(begin),
                .local_begin = wall_text(begin),
                .local_end = wall_text(end),
                .begin = to_instant(*from),
                .end = to_instant(to)};
  }

  Diagnostic no_identity(std::string_view text) const {
    const local_seconds example = begin_at(local_days(date::year(2026) / 5 / 16));
    return {.code = Code::W0153,
            .message = fmt::format("'{}' is not the identity of a {} partition", text, name_of(kind_)),
            .path = {},
            .span = {},
            .hint = fmt::format("an identity looks like {}", format_.render(example))};
  }

  /// The first period that `text` names or holds; `last`: the last one of a date.
  Result<local_seconds> border(std::string_view text, bool last) const {
    if (const auto named = read(text)) return *named;
    const auto date = read_date(text);
    if (!date) return fail(no_identity(text));
    return begin_at(last ? local_seconds(*date) + days(1) - std::chrono::seconds(1) : local_seconds(*date));
  }

 private:
  Grid(PartitionKind kind, Zone zone, IdentityFormat format) : kind_(kind), zone_(zone), format_(std::move(format)) {}

  PartitionKind kind_;
  Zone zone_;
  IdentityFormat format_;
};

Diagnostic no_range() {
  return {.code = Code::W0156,
          .message = "dynamic partitions have no order, so a range names none of them",
          .path = {},
          .span = {},
          .hint = "name the values themselves"};
}

}  // namespace

std::string_view name_of(PartitionKind kind) { return entry(kind).name; }
std::string_view default_format(PartitionKind kind) { return entry(kind).format; }

std::optional<PartitionKind> kind_named(std::string_view name) {
  for (const auto& known : kKinds)
    if (known.name == name) return known.kind;
  return std::nullopt;
}

Result<void> validate(const Partitioning& partitioning) {
  Diagnostics found;
  const auto keep = [&](auto result) {
    if (!result.has_value()) found.insert(found.end(), result.error().begin(), result.error().end());
  };
  keep(Zone::named(partitioning.tz, partitioning.span));
  if (partitioning.kind != PartitionKind::Dynamic) {
    const std::string_view form = partitioning.format.empty() ? default_format(partitioning.kind) : partitioning.format;
    keep(IdentityFormat::parse(partitioning.kind, form, partitioning.span));
  }
  const auto is_date = [&](std::string_view option, const std::optional<std::string>& text) {
    if (text && !read_date(*text)) found.push_back(bad_date(option, *text, partitioning.span));
  };
  is_date("start", partitioning.start);
  is_date("end", partitioning.end);
  if (found.empty() && partitioning.start && partitioning.end && *partitioning.start > *partitioning.end)
    found.push_back({.code = Code::W0155,
                     .message = fmt::format("start={} lies after end={}", *partitioning.start, *partitioning.end),
                     .path = {},
                     .span = partitioning.span,
                     .hint = "both days are included"});
  if (!found.empty()) return fail(std::move(found));
  return {};
}

std::string identity_of(const Partitioning& partitioning, Instant instant) {
  const auto grid = Grid::of(partitioning);
  // Only an unvalidated partitioning gets here, which is a fault of the caller; the empty identity is refused wherever
  // one is used.
  if (!grid.has_value()) return {};
  return grid->identity_at(to_seconds(instant));
}

Result<Slot> slot_named(const Partitioning& partitioning, std::string_view identity) {
  if (partitioning.kind == PartitionKind::Dynamic) return fail(no_range());
  WEIR_TRY(const auto grid, Grid::of(partitioning));
  const auto begin = grid.read(identity);
  if (!begin) return fail(grid.no_identity(identity));
  auto slot = grid.slot(*begin);
  if (!slot)
    return fail(
        {.code = Code::W0154,
         .message = fmt::format("there is no partition '{}': the clocks of {} skip it", identity, partitioning.tz),
         .path = {},
         .span = {},
         .hint = "use the partition before or after it"});
  return std::move(*slot);
}

Result<std::vector<Slot>> slots_between(const Partitioning& partitioning, std::string_view from, std::string_view to) {
  if (partitioning.kind == PartitionKind::Dynamic) return fail(no_range());
  WEIR_TRY(const auto grid, Grid::of(partitioning));
  WEIR_TRY(auto first, grid.border(from, false));
  WEIR_TRY(auto last, grid.border(to, true));
  if (first > last)
    return fail({.code = Code::W0155,
                 .message = fmt::format("'{}' lies after '{}'", from, to),
                 .path = {},
                 .span = {},
                 .hint = {}});
  if (partitioning.start) {
    const auto start = read_date(*partitioning.start);
    if (!start) return fail(bad_date("start", *partitioning.start, partitioning.span));
    first = std::max(first, grid.begin_at(*start));
  }
  if (partitioning.end) {
    const auto end = read_date(*partitioning.end);
    if (!end) return fail(bad_date("end", *partitioning.end, partitioning.span));
    last = std::min(last, grid.begin_at(local_seconds(*end) + days(1) - std::chrono::seconds(1)));
  }
  std::vector<Slot> slots;
  for (local_seconds begin = first; begin <= last; begin = grid.next(begin))
    if (auto slot = grid.slot(begin)) slots.push_back(std::move(*slot));
  return slots;
}

bool is_outside(const Partitioning& partitioning, const Slot& slot) {
  // The texts are ISO, so they order as the times do; a slot ends at the first second that is not its own.
  if (partitioning.start && slot.local_end <= *partitioning.start + " 00:00:00") return true;
  return partitioning.end && std::string_view(slot.local_begin).substr(0, 10) > *partitioning.end;
}

std::string local_date_of(const Partitioning& partitioning, Instant instant) {
  const auto zone = Zone::named(partitioning.tz);
  if (!zone.has_value()) return {};
  return wall_text(zone->to_local(to_seconds(instant))).substr(0, 10);
}

}  // namespace weir::calendar
