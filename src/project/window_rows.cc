#include "project/window_rows.h"

#include <vector>

namespace weir {
namespace {

constexpr std::string_view kInstant = "TIMESTAMP WITH TIME ZONE";

bool is_midnight(calendar::Wall wall) { return wall == date::floor<date::days>(wall); }

/// The bound as a value of the column's own type: compared with another, values near the border could be cast over it,
/// and files would not be skipped.
duck::Sql bound(const calendar::WindowCalendar& windows, calendar::Wall wall, std::string_view type) {
  if (type == kInstant)
    return duck::Sql("CAST({} AS TIMESTAMP WITH TIME ZONE)",
                     duck::Literal(std::string_view(calendar::format_instant(windows.instant_of(wall)))));
  // A date that is compared with a time of day counts as its midnight.
  const std::string_view as = type == "DATE" && !is_midnight(wall) ? "TIMESTAMP" : type;
  return duck::Sql("CAST({} AS {})", duck::Literal(std::string_view(calendar::timestamp_text(wall))),
                   duck::Sql::verbatim(std::string(as)));
}

}  // namespace

bool has_time(std::string_view type) {
  return type == "DATE" || type == kInstant || type == "TIMESTAMP" || type == "TIMESTAMP_S" || type == "TIMESTAMP_MS" ||
         type == "TIMESTAMP_NS";
}

Result<duck::Sql> in_windows(const Model& model, const std::string& slice, const duck::Sql& column,
                             std::string_view type) {
  const auto windows = calendar::Windows::parse(slice);
  WEIR_TRY(const auto zone, calendar::WindowCalendar::make(model.interval, model.lookback, model.tz));
  if (!windows || windows->empty()) return duck::Sql("FALSE");
  std::vector<duck::Sql> stretches;
  for (const calendar::Window& part : windows->parts()) {
    std::vector<duck::Sql> terms;
    if (part.begin != calendar::kEver) terms.emplace_back("{} >= {}", column, bound(zone, part.begin, type));
    if (part.end != calendar::kForEver) terms.emplace_back("{} < {}", column, bound(zone, part.end, type));
    if (terms.empty()) terms.emplace_back("{} IS NOT NULL", column);
    stretches.push_back(duck::Sql::join(terms, " AND "));
  }
  return duck::Sql("({})", duck::Sql::join(stretches, " OR "));
}

Result<std::vector<calendar::Wall>> cuts_between(const Model& model, calendar::Wall from, calendar::Wall to,
                                                 std::size_t most) {
  WEIR_TRY(const auto zone, calendar::WindowCalendar::make(model.interval, model.lookback, model.tz));
  std::vector<calendar::Wall> cuts;
  if (from == calendar::kEver || to == calendar::kForEver) return cuts;
  // More windows than files could ever be worth: they stay together.
  constexpr std::size_t kMostWindows = 100'000;
  for (calendar::Wall at = zone.next(zone.floor(from)); at < to; at = zone.next(at)) {
    if (cuts.size() == kMostWindows) return std::vector<calendar::Wall>();
    cuts.push_back(at);
  }
  const std::size_t step = cuts.size() / most + 1;
  std::vector<calendar::Wall> kept;
  for (std::size_t i = step - 1; i < cuts.size(); i += step) kept.push_back(cuts[i]);
  return kept;
}

std::vector<std::string> pieces_of(const std::string& slice, const std::vector<calendar::Wall>& cuts) {
  const auto windows = calendar::Windows::parse(slice).value_or(calendar::Windows());
  std::vector<std::string> pieces;
  for (std::size_t i = 0; i <= cuts.size(); ++i) {
    calendar::Windows stretch;
    stretch.add({i == 0 ? calendar::kEver : cuts[i - 1], i == cuts.size() ? calendar::kForEver : cuts[i]});
    pieces.push_back(windows.without(windows.without(stretch)).name());
  }
  return pieces;
}

namespace {

/// Halves the pieces at each step, so that a row is compared with few borders.
duck::Sql number_between(const std::vector<duck::Sql>& borders, const duck::Sql& column, std::size_t first,
                         std::size_t last) {
  if (first == last) return duck::Sql("{}", static_cast<std::int64_t>(first));
  const std::size_t middle = (first + last) / 2;
  return duck::Sql("CASE WHEN {} < {} THEN {} ELSE {} END", column, borders[middle],
                   number_between(borders, column, first, middle), number_between(borders, column, middle + 1, last));
}

}  // namespace

Result<duck::Sql> piece_number(const Model& model, const std::vector<calendar::Wall>& cuts, const duck::Sql& column,
                               std::string_view type) {
  WEIR_TRY(const auto zone, calendar::WindowCalendar::make(model.interval, model.lookback, model.tz));
  std::vector<duck::Sql> borders;
  for (const calendar::Wall cut : cuts) borders.push_back(bound(zone, cut, type));
  return number_between(borders, column, 0, borders.size());
}

std::optional<std::string> window_bound(const Model& model, std::string_view name, const std::string& slice) {
  if (!is_windowed(model)) return std::nullopt;
  const auto windows = calendar::Windows::parse(slice);
  const bool is_open = !windows || windows->empty();
  if (name == "window_start")
    return calendar::timestamp_text(is_open ? calendar::kEver : windows->parts().front().begin);
  if (name == "window_end") return calendar::timestamp_text(is_open ? calendar::kForEver : windows->parts().back().end);
  return std::nullopt;
}

std::string timestamp_literal(std::string_view text) {
  return duck::Sql("CAST({} AS TIMESTAMP)", duck::Literal(text)).text();
}

}  // namespace weir
