// Large stages: Parquet files written once, in parallel, into the target's folder, where the commit only has to name
// them.
#pragma once

#include <string>
#include <vector>

#include "build/layout.h"
#include "build/work.h"

namespace weir::build {

/// Rows from which files pay (measured: 100 small tables cost three times as much by files as by INSERT).
inline constexpr std::int64_t kRowsWorthFiles = 100'000;

/// Decides between memory and files. Asks DuckDB for its estimate, which costs planning the query once more, only where
/// files are possible, no earlier count is known and the plan sets no bound below.
Result<bool> publishes_by_files(Work& work, const Layout& layout);

/// Runs the query into files and fills stage.files, table (a view over them), relation, content and bytes.
/// Errors: as compute(); files of a failed write are removed.
Result<void> fill_files(Work& work, const Layout& layout, Stage& stage);

/// Removes files that nobody owns; those already gone are fine.
void remove_files(const std::vector<std::string>& files);

}  // namespace weir::build
