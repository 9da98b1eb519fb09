#include "calendar/yearly_rules.h"

#include <algorithm>
#include <utility>

namespace weir::calendar {
namespace {

using std::chrono::seconds;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Reads from the front of a text; a part that is not there leaves it as it was.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }

  bool take(char wanted) {
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// "CET" or "<+03>".
  bool name() {
    if (take('<')) {
      const auto end = rest_.find('>');
      if (end == std::string_view::npos) return false;
      rest_.remove_prefix(end + 1);
      return true;
    }
    const auto letters = static_cast<std::size_t>(
        std::find_if(rest_.begin(), rest_.end(), [](char c) { return (c < 'A' || c > 'Z') && (c < 'a' || c > 'z'); }) -
        rest_.begin());
    rest_.remove_prefix(letters);
    return letters >= 3;
  }

  std::optional<int> number() {
    std::size_t digits = 0;
    int value = 0;
    while (digits < rest_.size() && digits < 3 && is_digit(rest_[digits])) value = value * 10 + (rest_[digits++] - '0');
    if (digits == 0) return std::nullopt;
    rest_.remove_prefix(digits);
    return value;
  }

  /// "[+-]h[:m[:s]]", hours beyond 24 too.
  std::optional<seconds> time() {
    const bool is_negative = take('-');
    if (!is_negative) (void)take('+');
    const auto hours = number();
    if (!hours) return std::nullopt;
    seconds total = std::chrono::hours(*hours);
    if (take(':')) total += std::chrono::minutes(number().value_or(0));
    if (take(':')) total += seconds(number().value_or(0));
    return is_negative ? -total : total;
  }

  /// ",M3.5.0/3"
  std::optional<ChangeDay> change() {
    ChangeDay day;
    if (!take(',') || !this->day(day)) return std::nullopt;
    if (!take('/')) return day;
    const auto at = time();
    if (!at) return std::nullopt;
    day.time = *at;
    return day;
  }

 private:
  bool day(ChangeDay& day) {
    if (take('M')) {
      const auto month = number();
      const auto week = take('.') ? number() : std::nullopt;
      const auto weekday = take('.') ? number() : std::nullopt;
      if (!month || !week || !weekday || *month < 1 || *month > 12 || *week < 1 || *week > 5 || *weekday > 6)
        return false;
      day.month = static_cast<unsigned>(*month);
      day.week = static_cast<unsigned>(*week);
      day.weekday = static_cast<unsigned>(*weekday);
      return true;
    }
    day.form = take('J') ? ChangeDay::Form::DayWithoutLeap : ChangeDay::Form::DayOfYear;
    const auto number_of_day = number();
    day.day = number_of_day.value_or(0);
    return number_of_day.has_value();
  }

  std::string_view rest_;
};

}  // namespace

date::local_seconds ChangeDay::in(date::year year) const {
  const date::local_days first(year / date::January / 1);
  date::local_days found = first + date::days(day);
  if (form == Form::DayWithoutLeap) found = first + date::days(day - 1 + (year.is_leap() && day >= 60 ? 1 : 0));
  if (form == Form::MonthWeekDay) {
    const date::weekday wanted(weekday);
    found = week == 5 ? date::local_days(year / date::month(month) / wanted[date::last])
                      : date::local_days(year / date::month(month) / wanted[week]);
  }
  return date::local_seconds(found) + time;
}

std::array<YearlyRules::Change, 2> YearlyRules::changes_in(date::year year) const {
  std::array<Change, 2> changes{Change{date::sys_seconds(to_summer.in(year).time_since_epoch() - standard), summer},
                                Change{date::sys_seconds(to_standard.in(year).time_since_epoch() - summer), standard}};
  if (changes[1].at < changes[0].at) std::swap(changes[0], changes[1]);
  return changes;
}

std::optional<YearlyRules> parse_yearly_rules(std::string_view text) {
  Reader reader(text);
  YearlyRules rules;
  if (!reader.name()) return std::nullopt;
  // POSIX counts offsets to the west.
  const auto standard = reader.time();
  if (!standard || !reader.name()) return std::nullopt;
  rules.standard = -*standard;
  const auto summer = reader.time();
  rules.summer = summer ? -*summer : rules.standard + std::chrono::hours(1);
  const auto to_summer = reader.change();
  const auto to_standard = to_summer ? reader.change() : std::nullopt;
  if (!to_standard || !reader.at_end()) return std::nullopt;
  rules.to_summer = *to_summer;
  rules.to_standard = *to_standard;
  return rules;
}

}  // namespace weir::calendar
