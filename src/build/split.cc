#include "build/split.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "build/names.h"

namespace weir::build {
namespace {

using calendar::Wall;

/// Files that one COPY keeps open at a time, by DuckDB's default: more would leave several files a piece.
constexpr std::size_t kMostPieces = 100;

struct Range {
  Wall from;
  Wall to;
};

/// The stretch that two times name, the second one's window included.
std::optional<Range> range_between(const Model& model, const std::string& first, const std::string& last) {
  const auto calendar = calendar::WindowCalendar::make(model.interval, model.lookback, model.tz);
  if (!calendar) return std::nullopt;
  const auto window = calendar->between(first, last);
  if (!window) return std::nullopt;
  return Range{window->begin, window->end};
}

/// True if the engine answers by reading some columns of files or tables once: no join, no grouping, nothing that only
/// the query itself should compute.
bool is_plain_scan(const nlohmann::json& node) {
  static const std::set<std::string> passing = {"UNGROUPED_AGGREGATE", "SIMPLE_AGGREGATE", "PROJECTION", "FILTER",
                                                "UNION"};
  static const std::set<std::string> reading = {"READ_PARQUET",  "TABLE_SCAN",   "SEQ_SCAN",
                                                "DUCKLAKE_SCAN", "EMPTY_RESULT", "COLUMN_DATA_SCAN"};
  std::string name = node.value("name", "");
  name.erase(name.find_last_not_of(' ') + 1);
  const auto children = node.find("children");
  if (children == node.end() || children->empty()) return reading.contains(name);
  return passing.contains(name) && std::all_of(children->begin(), children->end(), is_plain_scan);
}

/// Asks for the least and the greatest time where that is cheap.
Result<std::optional<Range>> asked_range(Work& work) {
  const duck::Identifier time(work.time->name);
  const duck::Sql head(
      "SELECT CAST(system.main.min(result.{}) AS VARCHAR), CAST(system.main.max(result.{}) AS VARCHAR) "
      "FROM (",
      time, time);
  const duck::Sql explain("EXPLAIN (FORMAT json) ");
  const duck::Sql question("{}{}\n) AS result{}", head, work.query, work.where);
  auto plan = work.connection.query({"{}{}", explain, question});
  if (!plan) return work.failed(plan.error(), work.request.query, explain.text().size() + head.text().size());
  const auto tree = nlohmann::json::parse(plan->text(0, plan->columns().size() - 1), nullptr, false);
  if (!tree.is_array() || tree.empty() || !is_plain_scan(tree[0])) return std::optional<Range>();
  auto rows = work.connection.query(question);
  if (!rows) return work.failed(rows.error(), work.request.query, head.text().size());
  if (rows->is_null(0, 0) || rows->is_null(0, 1)) return std::optional<Range>();
  return range_between(work.request.model, rows->text(0, 0), rows->text(0, 1));
}

/// Between which times the rows lie; nothing if that is not known.
Result<std::optional<Range>> range_of(Work& work) {
  const auto windows = calendar::Windows::parse(work.request.windows);
  if (!windows || windows->empty()) return std::optional<Range>();
  const Range own{windows->parts().front().begin, windows->parts().back().end};
  if (own.from != calendar::kEver && own.to != calendar::kForEver) return std::optional<Range>(own);
  std::optional<Range> found;
  if (const auto& times = work.request.times) {
    found = range_between(work.request.model, times->first, times->second);
  } else {
    WEIR_TRY(found, asked_range(work));
  }
  if (!found) return found;
  found->from = std::max(found->from, own.from);
  found->to = std::min(found->to, own.to);
  return found;
}

bool is_single_days(const Model& model, const std::vector<Wall>& cuts) {
  const auto length = calendar::parse_length(model.interval);
  const bool is_daily = !length || (!length->is_months && length->count == 86'400);
  for (std::size_t i = 1; i < cuts.size(); ++i)
    if (cuts[i] - cuts[i - 1] != date::days(1)) return false;
  return is_daily;
}

}  // namespace

Result<std::optional<Split>> split_of(Work& work, const Layout& layout) {
  if (!work.time || !replaces_part(work.request.model)) return std::optional<Split>();
  const auto cell = std::find_if(layout.cells.begin(), layout.cells.end(),
                                 [&](const Cell& one) { return one.source == work.time->name; });
  const bool clashes = find_column(layout.columns, kPieceColumn) != nullptr;
  if (cell == layout.cells.end() || clashes) return std::optional<Split>();
  WEIR_TRY(const auto range, range_of(work));
  Split split;
  split.is_bound = !work.request.target.partitioned_by.empty() && cell->type == "DATE";
  if (range) {
    WEIR_TRY(split.cuts, cuts_between(work.request.model, range->from, range->to, kMostPieces));
  }
  if (split.cuts.empty() && !split.is_bound) return std::optional<Split>();
  if (split.is_bound || (cell->type == "DATE" && is_single_days(work.request.model, split.cuts)))
    split.folders_of = cell->name;
  const duck::Sql time("result.{}", duck::Identifier(work.time->name));
  WEIR_TRY(split.number, piece_number(work.request.model, split.cuts, time, work.time->type));
  return std::optional<Split>(std::move(split));
}

std::vector<Piece> empty_pieces(const Work& work, const Split& split) {
  std::vector<Piece> pieces;
  for (std::string& windows : pieces_of(work.request.windows, split.cuts))
    pieces.push_back({.windows = std::move(windows)});
  return pieces;
}

std::optional<std::size_t> piece_of_file(const std::string& file, const std::vector<Piece>& pieces,
                                         const Split& split) {
  const auto end = file.find_last_of('/');
  const auto begin = file.find_last_of('=', end);
  if (end == std::string::npos || begin == std::string::npos) return std::nullopt;
  const std::string value = file.substr(begin + 1, end - begin - 1);
  if (split.folders_of.empty()) {
    std::size_t number = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
    if (read.ec != std::errc() || number >= pieces.size()) return std::nullopt;
    return number;
  }
  const auto since = calendar::Windows::parse(value + "/..");
  if (!since || since->parts().size() != 1) return std::nullopt;
  const Wall day = since->parts().front().begin;
  return static_cast<std::size_t>(std::upper_bound(split.cuts.begin(), split.cuts.end(), day) - split.cuts.begin());
}

}  // namespace weir::build
