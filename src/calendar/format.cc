// Whether a format tells all partitions apart is decided by its parts, not by trying values: the parts must determine
// the period, each must be constant within it, and a number of varying width must be followed by something that is no
// digit, so that 1/11 and 11/1 differ.
#include "calendar/format.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace weir::calendar {
namespace {

using date::days;
using date::local_days;
using date::local_seconds;

constexpr std::array<std::string_view, 12> kMonths = {"January",   "February", "March",    "April",
                                                      "May",       "June",     "July",     "August",
                                                      "September", "October",  "November", "December"};
constexpr std::array<std::string_view, 7> kWeekdays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                       "Thursday", "Friday", "Saturday"};

struct Number {
  char letter;
  int width;
  bool may_be_bare;  // %-d
};
constexpr std::array kNumbers = {
    Number{'Y', 4, false}, Number{'y', 2, false}, Number{'m', 2, true},  Number{'d', 2, true},  Number{'H', 2, true},
    Number{'I', 2, true},  Number{'j', 3, true},  Number{'G', 4, false}, Number{'V', 2, false}, Number{'U', 2, false},
    Number{'W', 2, false}, Number{'u', 1, false}, Number{'w', 1, false}, Number{'Q', 1, false}};

const Number* number_of(char letter) {
  for (const auto& number : kNumbers)
    if (number.letter == letter) return &number;
  return nullptr;
}

// The parts that stay the same all through a partition of the kind.
std::string_view constant_parts(PartitionKind kind) {
  switch (kind) {
    case PartitionKind::Hourly:
      return "YymdbBjGVUWuwaAHIp";
    case PartitionKind::Daily:
      return "YymdbBjGVUWuwaA";
    case PartitionKind::Weekly:
      return "GV";
    case PartitionKind::Monthly:
      return "YymbB";
    case PartitionKind::Quarterly:
      return "YyQ";
    case PartitionKind::Yearly:
      return "Yy";
    case PartitionKind::Dynamic:
      break;
  }
  return "";
}

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

local_days new_year(int year) { return local_days(date::year(year) / 1 / 1); }

/// Monday of the first ISO week: the week that holds the fourth of January.
local_days iso_year_begin(int year) {
  const local_days fourth = new_year(year) + days(3);
  return fourth - (date::weekday(fourth) - date::Monday);
}

struct Calendar {
  int year, month, day, hour, yday, weekday, iso_year, iso_week;
};

Calendar calendar_of(local_seconds time) {
  const auto day = date::floor<days>(time);
  const date::year_month_day ymd(day);
  Calendar found{};
  found.year = static_cast<int>(ymd.year());
  found.month = static_cast<int>(static_cast<unsigned>(ymd.month()));
  found.day = static_cast<int>(static_cast<unsigned>(ymd.day()));
  found.hour = static_cast<int>(date::floor<std::chrono::hours>(time - day).count());
  found.yday = static_cast<int>((day - new_year(found.year)).count());
  found.weekday = static_cast<int>(date::weekday(day).c_encoding());
  found.iso_year = found.year + 1;
  while (day < iso_year_begin(found.iso_year)) --found.iso_year;
  found.iso_week = static_cast<int>((day - iso_year_begin(found.iso_year)).count() / 7) + 1;
  return found;
}

int value_of(const Calendar& calendar, char letter) {
  switch (letter) {
    case 'Y':
      return calendar.year;
    case 'y':
      return calendar.year % 100;
    case 'm':
      return calendar.month;
    case 'd':
      return calendar.day;
    case 'H':
      return calendar.hour;
    case 'I':
      return calendar.hour % 12 == 0 ? 12 : calendar.hour % 12;
    case 'j':
      return calendar.yday + 1;
    case 'G':
      return calendar.iso_year;
    case 'V':
      return calendar.iso_week;
    case 'U':
      return (calendar.yday + 7 - calendar.weekday) / 7;
    case 'W':
      return (calendar.yday + 7 - (calendar.weekday + 6) % 7) / 7;
    case 'u':
      return calendar.weekday == 0 ? 7 : calendar.weekday;
    case 'w':
      return calendar.weekday;
    case 'Q':
      return (calendar.month - 1) / 3 + 1;
    default:
      return 0;
  }
}

template <std::size_t N>
std::optional<int> take_name(const std::array<std::string_view, N>& names, bool whole, std::string_view& rest) {
  for (std::size_t i = 0; i < N; ++i) {
    const auto name = whole ? names[i] : names[i].substr(0, 3);
    if (!rest.starts_with(name)) continue;
    rest.remove_prefix(name.size());
    return static_cast<int>(i);
  }
  return std::nullopt;
}

Diagnostic bad_format(PartitionKind kind, std::string_view form, std::string_view why, Span span) {
  return {.code = Code::W0151,
          .message = fmt::format("partition format '{}' {}", form, why),
          .path = {},
          .span = span,
          .hint = fmt::format("the default of {} is {}", name_of(kind), default_format(kind))};
}

}  // namespace

struct IdentityFormat::Fields {
  std::optional<int> year, month, day, hour, hour12, yday, iso_year, iso_week, sunday_week, monday_week, weekday,
      quarter;
  std::optional<bool> afternoon;
};

Result<std::vector<IdentityFormat::Part>> IdentityFormat::split(PartitionKind kind, std::string_view form, Span span) {
  std::vector<Part> parts;
  const auto literal = [&](std::string_view text) {
    if (parts.empty() || parts.back().letter != 0) parts.emplace_back();
    parts.back().literal += text;
  };
  for (std::size_t at = 0; at < form.size(); ++at) {
    if (kind == PartitionKind::Quarterly && form.substr(at).starts_with("Qn")) {
      literal("Q");
      parts.push_back({.letter = 'Q', .padded = true, .literal = {}});
      ++at;
      continue;
    }
    if (form[at] != '%') {
      literal(form.substr(at, 1));
      continue;
    }
    const bool bare = form.substr(at + 1).starts_with('-');
    const std::size_t where = at + (bare ? 2 : 1);
    if (where >= form.size()) return fail(bad_format(kind, form, "ends inside a % part", span));
    const char letter = form[where];
    const std::string_view text = form.substr(at, where - at + 1);
    at = where;
    if (letter == '%' && !bare) {
      literal("%");
      continue;
    }
    const bool known = std::string_view("YymdbBjGVUWuwaAHIp").find(letter) != std::string_view::npos;
    const bool changes = std::string_view("MSfngs").find(letter) != std::string_view::npos;
    const Number* number = number_of(letter);
    if ((!known && !changes) || (bare && !changes && (number == nullptr || !number->may_be_bare)))
      return fail(bad_format(kind, form, fmt::format("has the part {}, which identities cannot hold", text), span));
    if (constant_parts(kind).find(letter) == std::string_view::npos)
      return fail(bad_format(
          kind, form,
          fmt::format("is not the same all through a {} partition: {} changes within it", name_of(kind), text), span));
    parts.push_back({.letter = letter, .padded = !bare, .literal = {}});
  }
  return parts;
}

Result<IdentityFormat> IdentityFormat::parse(PartitionKind kind, std::string_view form, Span span) {
  WEIR_TRY(auto parts, split(kind, form, span));
  IdentityFormat format(kind, std::move(parts));
  if (const std::string fault = format.fault(); !fault.empty()) return fail(bad_format(kind, form, fault, span));
  return format;
}

bool IdentityFormat::has(char letter) const {
  for (const auto& part : parts_)
    if (part.letter == letter) return true;
  return false;
}

bool IdentityFormat::names_date() const {
  const bool month = has('m') || has('b') || has('B');
  const bool weekday = has('u') || has('w') || has('a') || has('A');
  if (has('Y') && ((month && has('d')) || has('j'))) return true;
  if (has('Y') && (has('U') || has('W')) && weekday) return true;
  return has('G') && has('V') && weekday;
}

std::string IdentityFormat::fault() const {
  for (std::size_t i = 0; i + 1 < parts_.size(); ++i) {
    if (parts_[i].padded || parts_[i].letter == 0) continue;
    const auto& next = parts_[i + 1];
    const bool digits = next.letter != 0 ? number_of(next.letter) != nullptr : is_digit(next.literal[0]);
    if (digits)
      return fmt::format("needs a separator after %-{}, as two partitions could share an identity", parts_[i].letter);
  }
  const bool month = has('m') || has('b') || has('B');
  const bool hour = has('H') || (has('I') && has('p'));
  bool enough = false;
  switch (kind_) {
    case PartitionKind::Hourly:
      enough = names_date() && hour;
      break;
    case PartitionKind::Daily:
      enough = names_date();
      break;
    case PartitionKind::Weekly:
      enough = has('G') && has('V');
      break;
    case PartitionKind::Monthly:
      enough = has('Y') && month;
      break;
    case PartitionKind::Quarterly:
      enough = has('Y') && has('Q');
      break;
    case PartitionKind::Yearly:
      enough = has('Y');
      break;
    case PartitionKind::Dynamic:
      break;
  }
  return enough ? std::string() : fmt::format("does not give every {} partition its own identity", name_of(kind_));
}

std::string IdentityFormat::render(local_seconds time) const {
  const Calendar calendar = calendar_of(time);
  std::string text;
  for (const auto& part : parts_) {
    switch (part.letter) {
      case 0:
        text += part.literal;
        break;
      case 'b':
        text += kMonths[static_cast<std::size_t>(calendar.month - 1)].substr(0, 3);
        break;
      case 'B':
        text += kMonths[static_cast<std::size_t>(calendar.month - 1)];
        break;
      case 'a':
        text += kWeekdays[static_cast<std::size_t>(calendar.weekday)].substr(0, 3);
        break;
      case 'A':
        text += kWeekdays[static_cast<std::size_t>(calendar.weekday)];
        break;
      case 'p':
        text += calendar.hour < 12 ? "AM" : "PM";
        break;
      default:
        text += fmt::format("{:0{}}", value_of(calendar, part.letter), part.padded ? number_of(part.letter)->width : 1);
    }
  }
  return text;
}

bool IdentityFormat::take(const Part& part, std::string_view& rest, Fields& fields) {
  if (part.letter == 0) {
    if (!rest.starts_with(part.literal)) return false;
    rest.remove_prefix(part.literal.size());
    return true;
  }
  if (part.letter == 'b' || part.letter == 'B') {
    const auto month = take_name(kMonths, part.letter == 'B', rest);
    if (month) fields.month = *month + 1;
    return month.has_value();
  }
  if (part.letter == 'a' || part.letter == 'A') {
    fields.weekday = take_name(kWeekdays, part.letter == 'A', rest);
    return fields.weekday.has_value();
  }
  if (part.letter == 'p') {
    if (!rest.starts_with("AM") && !rest.starts_with("PM")) return false;
    fields.afternoon = rest[0] == 'P';
    rest.remove_prefix(2);
    return true;
  }
  const auto width = static_cast<std::size_t>(number_of(part.letter)->width);
  std::size_t digits = 0;
  int value = 0;
  while (digits < width && digits < rest.size() && is_digit(rest[digits])) value = value * 10 + (rest[digits++] - '0');
  if (digits == 0 || (part.padded && digits != width)) return false;
  rest.remove_prefix(digits);
  switch (part.letter) {
    case 'Y':
      fields.year = value;
      break;
    case 'm':
      fields.month = value;
      break;
    case 'd':
      fields.day = value;
      break;
    case 'H':
      fields.hour = value;
      break;
    case 'I':
      fields.hour12 = value;
      break;
    case 'j':
      fields.yday = value;
      break;
    case 'G':
      fields.iso_year = value;
      break;
    case 'V':
      fields.iso_week = value;
      break;
    case 'U':
      fields.sunday_week = value;
      break;
    case 'W':
      fields.monday_week = value;
      break;
    case 'u':
    case 'w':
      fields.weekday = value % 7;
      break;
    case 'Q':
      fields.quarter = value;
      break;
    default:
      break;  // %y repeats what %Y says; rendering again checks it
  }
  return true;
}

std::optional<local_days> IdentityFormat::date_of(const Fields& fields) {
  if (fields.year && fields.month && fields.day) {
    const auto ymd = date::year(*fields.year) / *fields.month / *fields.day;
    if (!ymd.ok()) return std::nullopt;
    return local_days(ymd);
  }
  if (fields.year && fields.yday) return new_year(*fields.year) + days(*fields.yday - 1);
  if (!fields.weekday) return std::nullopt;
  const int from_monday = (*fields.weekday + 6) % 7;
  if (fields.iso_year && fields.iso_week)
    return iso_year_begin(*fields.iso_year) + days(7 * (*fields.iso_week - 1) + from_monday);
  if (!fields.year) return std::nullopt;
  const local_days first = new_year(*fields.year);
  if (fields.sunday_week)
    return first + (date::Sunday - date::weekday(first)) + days(7 * (*fields.sunday_week - 1) + *fields.weekday);
  if (fields.monday_week)
    return first + (date::Monday - date::weekday(first)) + days(7 * (*fields.monday_week - 1) + from_monday);
  return std::nullopt;
}

std::optional<local_seconds> IdentityFormat::begin_of(const Fields& fields) const {
  switch (kind_) {
    case PartitionKind::Yearly:
      return new_year(*fields.year);
    case PartitionKind::Quarterly:
      if (*fields.quarter < 1 || *fields.quarter > 4) return std::nullopt;
      return local_days(date::year(*fields.year) / (*fields.quarter * 3 - 2) / 1);
    case PartitionKind::Monthly:
      if (*fields.month < 1 || *fields.month > 12) return std::nullopt;
      return local_days(date::year(*fields.year) / *fields.month / 1);
    case PartitionKind::Weekly:
      return iso_year_begin(*fields.iso_year) + days(7 * (*fields.iso_week - 1));
    case PartitionKind::Daily:
      return date_of(fields);
    case PartitionKind::Hourly: {
      const auto date = date_of(fields);
      if (!date) return std::nullopt;
      const int hour = fields.hour ? *fields.hour : *fields.hour12 % 12 + (*fields.afternoon ? 12 : 0);
      return *date + std::chrono::hours(hour);
    }
    case PartitionKind::Dynamic:
      break;
  }
  return std::nullopt;
}

std::optional<local_seconds> IdentityFormat::read(std::string_view identity) const {
  Fields fields;
  std::string_view rest = identity;
  for (const auto& part : parts_)
    if (!take(part, rest, fields)) return std::nullopt;
  if (!rest.empty()) return std::nullopt;
  const auto begin = begin_of(fields);
  // Rendering again refuses what no calendar writes: 2026-W54, hour 24, a weekday that does not fit its date.
  if (!begin || render(*begin) != identity) return std::nullopt;
  return begin;
}

}  // namespace weir::calendar
