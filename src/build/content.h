// Counting a stage: rows, NULLs and bounds in one pass.
#pragma once

#include <vector>

#include "build/stage.h"

namespace weir::build {

/// What one pass finds besides counts: the bounds that the footers of files leave open, or the sums that add_hashes()
/// fills, which prove more and cost a third of bounds on a small stage; or nothing.
enum class Sums { Bounds, Hashes, Counts };

/// Counts rows and NULLs of every column (with Counts only of those that must not be NULL), and what is asked for.
/// Aggregates are named in full, so that no user macro shadows them.
duck::Outcome<Content> sum_up(duck::Connection& connection, const duck::Sql& relation,
                              const std::vector<lake::ColumnState>& columns, Sums wanted);

}  // namespace weir::build
