// The clock of a unit test. `now:` makes temporary macros named like DuckDB's functions of time: the search path finds
// them first, and the keywords (current_timestamp, current_date, localtime, …) are looked up as functions too, so they
// read the same clock. Measured on DuckDB 1.5.5: keywords, defaults, views and macro bodies all follow; only a call
// written with `system.` before it does not, and is refused.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "duck/sql.h"
#include "project/model.h"

namespace weir::trial {

/// Statements that stop the clock at `time`, a text that casts to TIMESTAMPTZ. Names that the model defines itself are
/// left to it.
std::vector<duck::Sql> stop_clock(const std::string& time, const std::set<std::string>& own_macros);

/// A call of the model, or of a macro that it takes, that would read the real clock past these macros.
std::optional<std::string> escapes_clock(const Model& model);

}  // namespace weir::trial
