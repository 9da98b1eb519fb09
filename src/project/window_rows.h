// What the windows of a slice are in SQL: the condition on a time column, and the values of {window_start} and
// {window_end}.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calendar/windows.h"
#include "duck/sql.h"
#include "project/model.h"

namespace weir {

inline bool is_windowed(const Model& model) { return model.strategy == Strategy::IncrementalByTime; }
/// One write makes a part of the table exactly the result's rows and leaves the others: a partition, or windows.
inline bool replaces_part(const Model& model) {
  return (model.partitioning && model.strategy == Strategy::Replace) || (is_windowed(model) && model.key.empty());
}

/// True for types whose values have a place in time: DATE, TIMESTAMP of any precision, TIMESTAMP WITH TIME ZONE.
bool has_time(std::string_view type);

/// The condition that `column`, of type `type`, lies in the windows that `slice` names, in the zone of the model's
/// windows: on a TIMESTAMP or DATE what clocks show counts, on a TIMESTAMP WITH TIME ZONE the real instant. A row
/// without a time lies in none. Requires: has_time(type), and a model of windows, valid. Errors: W0150.
Result<duck::Sql> in_windows(const Model& model, const std::string& slice, const duck::Sql& column,
                             std::string_view type);

/// Borders of windows behind `from` and before `to`, evenly left out so that `most` pieces remain at most. Errors:
/// W0150.
Result<std::vector<calendar::Wall>> cuts_between(const Model& model, calendar::Wall from, calendar::Wall to,
                                                 std::size_t most);
/// The windows of `slice` before the first cut, between each and the next, and behind the last: names, "" for none.
std::vector<std::string> pieces_of(const std::string& slice, const std::vector<calendar::Wall>& cuts);
/// Which of those pieces the value of `column` lies in, from 0. Requires: has_time(type). Errors: W0150.
Result<duck::Sql> piece_number(const Model& model, const std::vector<calendar::Wall>& cuts, const duck::Sql& column,
                               std::string_view type);

/// "2026-07-05 00:00:00", the begin of the first window ("window_start") or the end of the last one ("window_end"),
/// open bounds where `slice` names no windows; nothing for other names, and for models that have no windows.
std::optional<std::string> window_bound(const Model& model, std::string_view name, const std::string& slice);

/// `CAST('2026-07-05 00:00:00' AS TIMESTAMP)`.
std::string timestamp_literal(std::string_view text);

}  // namespace weir
