// Instants and durations as people write them.
#include <date/date.h>
#include <fmt/format.h>

#include <limits>

#include "calendar/partition.h"

namespace weir::calendar {
namespace {

using std::chrono::microseconds;

/// Reads a text from left to right; every taker leaves the text alone when it fails.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  std::optional<int> digits(std::size_t count) {
    if (rest_.size() < count) return std::nullopt;
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (rest_[i] < '0' || rest_[i] > '9') return std::nullopt;
      value = value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(count);
    return value;
  }
  bool skip(char letter) {
    if (!rest_.starts_with(letter)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// A fraction of a second; digits beyond the microsecond are cut.
  std::optional<microseconds> fraction() {
    std::int64_t value = 0;
    std::size_t count = 0;
    for (; count < rest_.size() && rest_[count] >= '0' && rest_[count] <= '9'; ++count)
      if (count < 6) value = value * 10 + (rest_[count] - '0');
    if (count == 0) return std::nullopt;
    for (std::size_t i = count; i < 6; ++i) value *= 10;
    rest_.remove_prefix(count);
    return microseconds(value);
  }
  bool done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

std::optional<date::sys_days> take_date(Reader& reader) {
  const auto year = reader.digits(4);
  if (!year || !reader.skip('-')) return std::nullopt;
  const auto month = reader.digits(2);
  if (!month || !reader.skip('-')) return std::nullopt;
  const auto day = reader.digits(2);
  if (!day) return std::nullopt;
  const auto ymd = date::year(*year) / *month / *day;
  if (!ymd.ok()) return std::nullopt;
  return date::sys_days(ymd);
}

std::optional<microseconds> take_clock(Reader& reader) {
  const auto hour = reader.digits(2);
  if (!hour || *hour > 23 || !reader.skip(':')) return std::nullopt;
  const auto minute = reader.digits(2);
  if (!minute || *minute > 59) return std::nullopt;
  microseconds clock = std::chrono::hours(*hour) + std::chrono::minutes(*minute);
  if (!reader.skip(':')) return clock;
  const auto second = reader.digits(2);
  if (!second || *second > 59) return std::nullopt;
  clock += std::chrono::seconds(*second);
  if (!reader.skip('.')) return clock;
  const auto fraction = reader.fraction();
  if (!fraction) return std::nullopt;
  return clock + *fraction;
}

/// Z, +02, +0200, +02:00, or nothing at all: UTC.
std::optional<microseconds> take_offset(Reader& reader) {
  if (reader.done() || reader.skip('Z') || reader.skip('z')) return microseconds(0);
  const bool west = reader.skip('-');
  if (!west && !reader.skip('+')) return std::nullopt;
  const auto hours = reader.digits(2);
  if (!hours || *hours > 23) return std::nullopt;
  const bool colon = reader.skip(':');
  std::optional<int> minutes = 0;
  if (colon || !reader.done()) minutes = reader.digits(2);
  if (!minutes || *minutes > 59) return std::nullopt;
  const microseconds offset = std::chrono::hours(*hours) + std::chrono::minutes(*minutes);
  return west ? -offset : offset;
}

std::optional<Instant> read(std::string_view text) {
  Reader reader(text);
  const auto date = take_date(reader);
  if (!date) return std::nullopt;
  std::optional<microseconds> clock = microseconds(0);
  std::optional<microseconds> offset = microseconds(0);
  if (!reader.done()) {
    if (!reader.skip('T') && !reader.skip(' ')) return std::nullopt;
    clock = take_clock(reader);
    if (!clock) return std::nullopt;
    offset = take_offset(reader);
  }
  if (!offset || !reader.done()) return std::nullopt;
  return Instant(*date) + *clock - *offset;
}

}  // namespace

Result<Instant> parse_instant(std::string_view text) {
  if (const auto instant = read(text)) return *instant;
  return fail({.code = Code::W0157,
               .message = fmt::format("'{}' is not a time", text),
               .path = {},
               .span = {},
               .hint = "write it as 2026-05-16T00:30Z, with an offset such as +02:00, or without one for UTC"});
}

std::string format_instant(Instant instant) {
  const auto day = date::floor<date::days>(instant);
  const date::year_month_day ymd(day);
  const date::hh_mm_ss<microseconds> clock(instant - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(ymd.year()),
                     static_cast<unsigned>(ymd.month()), static_cast<unsigned>(ymd.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

std::optional<std::int64_t> parse_duration(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\f\v";
  const auto begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return std::nullopt;
  text = text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  std::int64_t unit = 1;
  switch (text.back()) {
    case 's':
      unit = 1;
      break;
    case 'm':
      unit = 60;
      break;
    case 'h':
      unit = 3600;
      break;
    case 'd':
      unit = 86400;
      break;
    default:
      unit = 0;
  }
  if (unit == 0) {
    unit = 1;
  } else {
    text.remove_suffix(1);
  }
  if (text.empty()) return std::nullopt;
  constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
  std::int64_t value = 0;
  for (const char letter : text) {
    if (letter < '0' || letter > '9') return std::nullopt;
    value = value * 10 + (letter - '0');
    if (value > kLargest) return std::nullopt;
  }
  if (value == 0 || value * unit > kLargest) return std::nullopt;
  return value * unit;
}

}  // namespace weir::calendar
