#include "calendar/schedule.h"

#include <date/date.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

namespace weir::calendar {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

/// No two offsets of one zone are further apart: the date line moved over Manila, Alaska and Samoa.
constexpr hours kWidest{26};
constexpr int kLongestWaitDays = 41 * 366;
constexpr date::sys_days kFirstMonday{date::days(4)};

constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                      "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdays = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

struct Field {
  std::string_view name;
  int first;
  int last;
};
constexpr std::array<Field, 5> kFields = {
    {{"minute", 0, 59}, {"hour", 0, 23}, {"day of month", 1, 31}, {"month", 1, 12}, {"weekday", 0, 7}}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kPresets = {{{"@yearly", "0 0 1 1 *"},
                                                                                    {"@annually", "0 0 1 1 *"},
                                                                                    {"@monthly", "0 0 1 * *"},
                                                                                    {"@weekly", "0 0 * * 0"},
                                                                                    {"@daily", "0 0 * * *"},
                                                                                    {"@midnight", "0 0 * * *"},
                                                                                    {"@hourly", "0 * * * *"}}};

std::string lowered(std::string_view text) {
  std::string result(text);
  for (char& letter : result)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return result;
}

/// A piece of the text with its place in it.
struct Piece {
  std::string_view text;
  std::uint32_t at = 0;

  Span span() const { return {at, at + static_cast<std::uint32_t>(text.size())}; }
  /// What stands before the first `mark`, taken off together with it; everything if there is none.
  Piece take_until(char mark) {
    const auto found = std::min(text.find(mark), text.size());
    const Piece taken{text.substr(0, found), at};
    const auto gone = std::min(found + 1, text.size());
    text.remove_prefix(gone);
    at += static_cast<std::uint32_t>(gone);
    return taken;
  }
};

Failed malformed(const Piece& piece, std::string message, std::string hint) {
  return fail(
      {.code = Code::W0169, .message = std::move(message), .path = {}, .span = piece.span(), .hint = std::move(hint)});
}

template <std::size_t N>
std::optional<int> named(const std::array<std::string_view, N>& names, std::string_view text, int first) {
  const auto found = std::find(names.begin(), names.end(), lowered(text));
  if (found == names.end()) return std::nullopt;
  return first + static_cast<int>(found - names.begin());
}

Result<int> value_of(const Field& field, const Piece& piece) {
  int value = -1;
  const char* const end = piece.text.data() + piece.text.size();
  const auto read = std::from_chars(piece.text.data(), end, value);
  if (!piece.text.empty() && read.ec == std::errc() && read.ptr == end && value >= field.first && value <= field.last)
    return value;
  std::optional<int> by_name;
  std::string names;
  if (field.name == "month") {
    by_name = named(kMonths, piece.text, 1);
    names = " or jan to dec";
  } else if (field.name == "weekday") {
    by_name = named(kWeekdays, piece.text, 0);
    names = " (0 and 7: Sunday) or sun to sat";
  }
  if (by_name) return *by_name;
  return malformed(piece, fmt::format("`{}` is no {}", piece.text, field.name),
                   fmt::format("the field `{}` takes {} to {}{}", field.name, field.first, field.last, names));
}

/// `*`, `a`, `a-b`, each with `/step`; `a/step` goes on to the end.
template <std::size_t N>
Result<void> add_part(const Field& field, Piece part, std::bitset<N>& set) {
  const bool has_step = part.text.find('/') != std::string_view::npos;
  Piece range = part.take_until('/');
  int step = 1;
  if (has_step) {
    const char* const end = part.text.data() + part.text.size();
    const auto read = std::from_chars(part.text.data(), end, step);
    if (part.text.empty() || read.ec != std::errc() || read.ptr != end || step < 1 || step > field.last)
      return malformed(part.text.empty() ? range : part, fmt::format("`{}` is no step", part.text),
                       fmt::format("a step is a number from 1 to {}: `*/15`", field.last));
  }
  const bool is_weekday = field.name == "weekday";
  int first = field.first;
  int last = is_weekday ? 6 : field.last;
  if (range.text != "*") {
    const bool has_end = range.text.find('-') != std::string_view::npos;
    const Piece whole = range;
    WEIR_TRY(first, value_of(field, range.take_until('-')));
    if (has_end) {
      WEIR_TRY(last, value_of(field, range));
    } else if (!has_step) {
      last = first;
    }
    // Sunday ends a range as 7, and begins one as 0.
    if (is_weekday && has_end && last == 0 && first > 0) last = 7;
    if (is_weekday && first == 7 && last < 7) first = 0;
    if (first > last)
      return malformed(whole, fmt::format("`{}` goes backwards", whole.text),
                       fmt::format("write both parts: `{}-{},{}-{}`", first, field.last, field.first, last));
  }
  for (int value = first; value <= last; value += step)
    set.set(static_cast<std::size_t>(is_weekday ? value % 7 : value));
  return {};
}

template <std::size_t N>
Result<void> add_field(const Field& field, Piece text, std::bitset<N>& set) {
  const Piece whole = text;
  if (text.text.back() == ',') return malformed(whole, fmt::format("`{}` ends with a comma", whole.text), {});
  while (!text.text.empty()) WEIR_CHECK(add_part(field, text.take_until(','), set));
  return {};
}

std::vector<Piece> words_of(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\f\v";
  std::vector<Piece> words;
  for (std::size_t at = text.find_first_not_of(kBlank); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBlank, at), text.size());
    words.push_back({text.substr(at, end - at), static_cast<std::uint32_t>(at)});
    at = text.find_first_not_of(kBlank, end);
  }
  return words;
}

/// The instant that stands for a wall time: the first at which clocks show it, or the end of the gap that skips it.
date::sys_seconds instant_of(const Zone& zone, date::local_seconds wall) {
  Stretch stretch = zone.at(date::sys_seconds(wall.time_since_epoch()) - kWidest);
  while (date::sys_seconds(wall.time_since_epoch()) - stretch.offset >= stretch.end) stretch = zone.at(stretch.end);
  return std::max(stretch.begin, date::sys_seconds(wall.time_since_epoch()) - stretch.offset);
}

/// Wall times before this one stand for instants up to `instant`, all others for later ones.
date::local_seconds border_at(const Zone& zone, date::sys_seconds instant) {
  Stretch stretch = zone.at(instant);
  date::local_seconds border((instant + seconds(1)).time_since_epoch() + stretch.offset);
  // What clocks showed before they went back is over.
  for (const date::sys_seconds since = instant - kWidest; stretch.begin > since;) {
    stretch = zone.at(stretch.begin - seconds(1));
    border = std::max(border, date::local_seconds(stretch.end.time_since_epoch() + stretch.offset));
  }
  return border;
}

}  // namespace

Result<Cron> Cron::parse(std::string_view text) {
  std::vector<Piece> words = words_of(text);
  const Piece whole{text, 0};
  if (!words.empty() && words.front().text.starts_with('@')) {
    const auto preset = std::find_if(kPresets.begin(), kPresets.end(),
                                     [&](const auto& one) { return one.first == lowered(words.front().text); });
    if (preset == kPresets.end() || words.size() > 1)
      return malformed(whole, fmt::format("`{}` is no preset", text),
                       "presets are @hourly, @daily (@midnight), @weekly, @monthly and @yearly (@annually)");
    words = words_of(preset->second);
  }
  if (words.size() != kFields.size())
    return malformed(whole, fmt::format("`cron` has {} fields, not five", words.size()),
                     "minute, hour, day, month, weekday: `0 6 * * 1-5`");
  Cron cron;
  WEIR_CHECK(add_field(kFields[0], words[0], cron.minutes_));
  WEIR_CHECK(add_field(kFields[1], words[1], cron.hours_));
  WEIR_CHECK(add_field(kFields[2], words[2], cron.days_));
  WEIR_CHECK(add_field(kFields[3], words[3], cron.months_));
  WEIR_CHECK(add_field(kFields[4], words[4], cron.weekdays_));
  cron.either_day_ = !words[2].text.starts_with('*') && !words[4].text.starts_with('*');
  // Over 400 years each day of the calendar falls on each weekday, so it is enough that the month has the day.
  constexpr std::array<std::size_t, 13> kLengths = {0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool comes = cron.either_day_;
  for (std::size_t month = 1; month <= 12; ++month)
    for (std::size_t day = 1; day <= kLengths[month]; ++day)
      comes = comes || (cron.months_.test(month) && cron.days_.test(day));
  if (!comes)
    return malformed({text.substr(words[2].at, words[3].span().end - words[2].at), words[2].at},
                     "no month of the schedule has such a day, so it is never due", {});
  return cron;
}

bool Cron::has_day(date::local_days day) const {
  const date::year_month_day date(day);
  if (!months_.test(static_cast<unsigned>(date.month()))) return false;
  const bool by_day = days_.test(static_cast<unsigned>(date.day()));
  const bool by_weekday = weekdays_.test(date::weekday(day).c_encoding());
  return either_day_ ? by_day || by_weekday : by_day && by_weekday;
}

std::optional<minutes> Cron::first_minute_from(minutes from) const {
  for (minutes at = from; at < hours(24); at += minutes(1)) {
    const auto hour = static_cast<std::size_t>(at.count() / 60);
    if (hours_.test(hour) && minutes_.test(static_cast<std::size_t>(at.count() % 60))) return at;
  }
  return std::nullopt;
}

std::optional<minutes> Cron::last_minute_before(minutes until) const {
  for (minutes at = until - minutes(1); at >= minutes(0); at -= minutes(1)) {
    const auto hour = static_cast<std::size_t>(at.count() / 60);
    if (hours_.test(hour) && minutes_.test(static_cast<std::size_t>(at.count() % 60))) return at;
  }
  return std::nullopt;
}

std::optional<date::local_seconds> Cron::first_from(date::local_seconds from) const {
  auto day = date::floor<date::days>(from);
  auto minute = first_minute_from(date::ceil<minutes>(from - day));
  for (int left = kLongestWaitDays; left > 0; --left) {
    if (minute && has_day(day)) return day + *minute;
    day += date::days(1);
    if (left == kLongestWaitDays) minute = first_minute_from(minutes(0));
  }
  return std::nullopt;
}

std::optional<date::local_seconds> Cron::last_before(date::local_seconds until) const {
  auto day = date::floor<date::days>(until);
  auto minute = last_minute_before(date::ceil<minutes>(until - day));
  for (int left = kLongestWaitDays; left > 0; --left) {
    if (minute && has_day(day)) return day + *minute;
    day -= date::days(1);
    if (left == kLongestWaitDays) minute = last_minute_before(hours(24));
  }
  return std::nullopt;
}

Result<Schedule> Schedule::cron(std::string_view text, std::string_view tz) {
  WEIR_TRY(Cron cron, Cron::parse(text));
  WEIR_TRY(Zone zone, Zone::named(tz.empty() ? "UTC" : std::string(tz)));
  return Schedule(Wall{std::move(cron), std::move(zone)});
}

Schedule Schedule::every(std::int64_t seconds) { return Schedule(std::chrono::seconds(seconds)); }

std::optional<Instant> Schedule::next_after(Instant instant) const {
  const auto second = date::floor<seconds>(instant);
  if (!wall_) return *last_at(second) + every_;
  const auto wall = wall_->cron.first_from(border_at(wall_->zone, second));
  if (!wall) return std::nullopt;
  return Instant(instant_of(wall_->zone, *wall));
}

std::optional<Instant> Schedule::last_at(Instant instant) const {
  const auto second = date::floor<seconds>(instant);
  if (!wall_) {
    const auto since = second - kFirstMonday;
    const auto into = (since % every_ + every_) % every_;
    return Instant(second - into);
  }
  const auto wall = wall_->cron.last_before(border_at(wall_->zone, second));
  if (!wall) return std::nullopt;
  return Instant(instant_of(wall_->zone, *wall));
}

}  // namespace weir::calendar
