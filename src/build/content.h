// Counting a stage: rows, NULLs and bounds in one pass.
#pragma once

#include <vector>

#include "build/stage.h"

namespace weir::build {

/// Counts rows and NULLs and finds the bounds of every column, and on demand the sums that add_hashes() fills.
/// Aggregates are named in full, so that no user macro shadows them.
duck::Outcome<Content> sum_up(duck::Connection& connection, const duck::Sql& relation,
                              const std::vector<lake::ColumnState>& columns, bool with_hashes = false);

}  // namespace weir::build
