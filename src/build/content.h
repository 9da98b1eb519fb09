// Counting a stage: rows, NULLs and bounds in one pass.
#pragma once

#include <vector>

#include "build/stage.h"

namespace weir::build {

/// Counts rows and NULLs and finds the bounds of every column. Aggregates are named in full, so that no user macro
/// shadows them.
duck::Outcome<Content> sum_up(duck::Connection& connection, const duck::Sql& relation,
                              const std::vector<lake::ColumnState>& columns);

}  // namespace weir::build
