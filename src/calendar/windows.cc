#include "calendar/windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace weir::calendar {
namespace {

using std::chrono::seconds;

constexpr std::int64_t kDay = 86'400;
constexpr std::string_view kOpen = "..";
constexpr std::string_view kAll = "all";

std::int64_t floored(std::int64_t value, std::int64_t unit) {
  const std::int64_t rest = value % unit;
  return value - rest - (rest < 0 ? unit : 0);
}

Wall month_begin(std::int64_t months) {
  const std::int64_t year = floored(months, 12) / 12;
  return date::local_days(date::year(static_cast<int>(year)) /
                          date::month(static_cast<unsigned>(months - year * 12) + 1) / date::day(1));
}

std::int64_t month_of(Wall wall) {
  const date::year_month_day ymd(date::floor<date::days>(wall));
  return static_cast<std::int64_t>(static_cast<int>(ymd.year())) * 12 + static_cast<unsigned>(ymd.month()) - 1;
}

/// The same day and time of day so many months earlier, or the last day of a month that is shorter.
Wall months_before(Wall wall, std::int64_t months) {
  const auto day = date::floor<date::days>(wall);
  const date::year_month_day ymd(day);
  const date::year_month_day first(date::floor<date::days>(month_begin(month_of(wall) - months)));
  const date::year_month_day_last last = first.year() / first.month() / date::last;
  return date::local_days(first.year() / first.month() / std::min(ymd.day(), last.day())) + (wall - day);
}

Wall before(Wall wall, const Length& length) {
  return length.is_months ? months_before(wall, length.count) : wall - seconds(length.count);
}

std::string bound_text(Wall wall) {
  if (wall == kEver || wall == kForEver) return std::string(kOpen);
  std::string text = timestamp_text(wall);
  text[10] = 'T';
  return text.ends_with("T00:00:00") ? text.substr(0, 10) : text;
}

/// A time without offset is one of the zone.
std::optional<Wall> read_wall(std::string_view text) {
  const auto read = parse_instant(text);
  if (!read) return std::nullopt;
  return Wall(date::floor<seconds>(read->time_since_epoch()));
}

bool has_offset(std::string_view text) {
  return text.size() > 10 && text.find_first_of("Zz+-", 10) != std::string_view::npos;
}

}  // namespace

std::string timestamp_text(Wall wall) {
  if (wall == kEver) return "-infinity";
  if (wall == kForEver) return "infinity";
  const auto day = date::floor<date::days>(wall);
  const date::year_month_day ymd(day);
  const date::hh_mm_ss<seconds> clock(wall - day);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", static_cast<int>(ymd.year()),
                     static_cast<unsigned>(ymd.month()), static_cast<unsigned>(ymd.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count());
}

std::optional<Windows> Windows::parse(std::string_view name) {
  Windows windows;
  if (name == kAll) {
    windows.add({kEver, kForEver});
    return windows;
  }
  while (!name.empty()) {
    const std::string_view part = name.substr(0, name.find(','));
    const auto slash = part.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const std::string_view first = part.substr(0, slash);
    const std::string_view last = part.substr(slash + 1);
    const auto begin = first == kOpen ? kEver : read_wall(first);
    const auto end = last == kOpen ? kForEver : read_wall(last);
    if (!begin || !end || *begin >= *end) return std::nullopt;
    windows.add({*begin, *end});
    name.remove_prefix(std::min(part.size() + 1, name.size()));
  }
  return windows;
}

std::string Windows::name() const {
  if (is_everything()) return std::string(kAll);
  std::string text;
  for (const Window& part : parts_)
    text += fmt::format("{}{}/{}", text.empty() ? "" : ",", bound_text(part.begin), bound_text(part.end));
  return text;
}

void Windows::add(Window window) {
  if (window.begin >= window.end) return;
  std::vector<Window> merged;
  for (const Window& part : parts_) {
    if (part.end < window.begin || part.begin > window.end) {
      merged.push_back(part);
      continue;
    }
    window.begin = std::min(window.begin, part.begin);
    window.end = std::max(window.end, part.end);
  }
  merged.push_back(window);
  std::sort(merged.begin(), merged.end(), [](const Window& a, const Window& b) { return a.begin < b.begin; });
  parts_ = std::move(merged);
}

Windows Windows::without(const Windows& others) const {
  Windows rest;
  for (const Window& part : parts_) {
    Wall begin = part.begin;
    for (const Window& other : others.parts_) {
      rest.add({begin, std::min(part.end, other.begin)});
      begin = std::max(begin, other.end);
    }
    rest.add({begin, part.end});
  }
  return rest;
}

bool Windows::is_everything() const { return parts_.size() == 1 && parts_.front() == Window{kEver, kForEver}; }

bool Windows::is_bounded() const {
  return std::none_of(parts_.begin(), parts_.end(),
                      [](const Window& part) { return part.begin == kEver || part.end == kForEver; });
}

std::optional<Length> parse_length(std::string_view text) {
  struct Unit {
    std::string_view name;
    Length length;
  };
  // 1970-01-05 was a Monday.
  static constexpr std::array<Unit, 8> kUnits = {{{"s", {1}},
                                                  {"m", {60}},
                                                  {"h", {3600}},
                                                  {"d", {kDay}},
                                                  {"w", {7 * kDay, false, 4 * kDay}},
                                                  {"mo", {1, true}},
                                                  {"q", {3, true}},
                                                  {"y", {12, true}}}};
  std::int64_t count = 0;
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9')
    count = count * 10 + (text[digits++] - '0');
  if (digits == 0 || digits > 6 || count == 0) return std::nullopt;
  for (const Unit& unit : kUnits) {
    if (unit.name != text.substr(digits)) continue;
    Length length = unit.length;
    length.count *= count;
    return length;
  }
  return std::nullopt;
}

Result<WindowCalendar> WindowCalendar::make(std::string_view interval, std::string_view lookback,
                                            const std::string& tz) {
  WEIR_TRY(Zone zone, Zone::named(tz.empty() ? "UTC" : tz));
  return WindowCalendar(parse_length(interval).value_or(Length{kDay}), parse_length(lookback).value_or(Length{}),
                        std::move(zone));
}

Wall WindowCalendar::floor(Wall wall) const {
  if (wall == kEver || wall == kForEver) return wall;
  if (interval_.is_months) return month_begin(floored(month_of(wall), interval_.count));
  const std::int64_t since = wall.time_since_epoch().count() - interval_.origin;
  return Wall(seconds(floored(since, interval_.count) + interval_.origin));
}

Wall WindowCalendar::next(Wall begin) const {
  return interval_.is_months ? month_begin(month_of(begin) + interval_.count) : begin + seconds(interval_.count);
}

std::size_t WindowCalendar::count(const Windows& windows) const {
  std::int64_t count = 0;
  for (const Window& part : windows.parts()) {
    const Wall begin = floor(part.begin);
    if (interval_.is_months) {
      for (Wall at = begin; at < part.end; at = next(at)) ++count;
    } else {
      count += ((part.end - begin).count() + interval_.count - 1) / interval_.count;
    }
  }
  return static_cast<std::size_t>(count);
}

std::vector<Windows> WindowCalendar::each_of(const Windows& windows) const {
  std::vector<Windows> each;
  for (const Window& part : windows.parts())
    for (Wall at = floor(part.begin); at < part.end; at = next(at))
      each.emplace_back().add({std::max(at, part.begin), std::min(next(at), part.end)});
  return each;
}

Wall WindowCalendar::wall_of(Instant instant) const { return zone_.to_local(date::floor<seconds>(instant)); }

Instant WindowCalendar::instant_of(Wall wall) const {
  // No zone is further from UTC, nor changes its clocks by more, than a day.
  const date::sys_seconds near(wall.time_since_epoch());
  Stretch stretch = zone_.at(near - date::days(2));
  while (true) {
    const date::sys_seconds shown(wall.time_since_epoch() - stretch.offset);
    const date::sys_seconds first = std::max(shown, stretch.begin);
    if (first < stretch.end) return first;
    stretch = zone_.at(stretch.end);
  }
}

Wall WindowCalendar::complete_at(Instant instant) const {
  // Where clocks went back, a window may be over that they seem to show still.
  Wall end = floor(wall_of(instant));
  while (instant_of(next(end)) <= instant) end = next(end);
  return end;
}

Wall WindowCalendar::settled_at(Instant instant) const {
  const Wall complete = complete_at(instant);
  if (lookback_.count == 0) return complete;
  return std::min(complete, floor(before(wall_of(instant), lookback_)));
}

Wall WindowCalendar::look_back_from(Wall begin) const {
  return lookback_.count == 0 || begin == kEver ? begin : floor(before(begin, lookback_));
}

Result<Window> WindowCalendar::between(std::string_view from, std::string_view to) const {
  const auto read = [this](std::string_view text) -> Result<Wall> {
    WEIR_TRY(const Instant instant, parse_instant(text));
    if (has_offset(text)) return wall_of(instant);
    return Wall(date::floor<seconds>(instant.time_since_epoch()));
  };
  WEIR_TRY(const Wall first, read(from));
  WEIR_TRY(Wall last, read(to));
  // A date is the whole day, however short the windows.
  if (to.size() == 10) last += date::days(1) - seconds(1);
  if (last < first)
    return fail({.code = Code::W0155, .message = fmt::format("{} lies after {}", from, to), .path = {}, .span = {}});
  return Window{floor(first), next(floor(last))};
}

}  // namespace weir::calendar
