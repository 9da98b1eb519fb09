// The check that stands between the disk and LOAD: DuckDB's own signature check costs 65 to 115 ms a file, so it is
// done once by setup, which records what it checked; here only the record is compared.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "duck/database.h"

namespace weir::lake {

/// Compares the extension files with the lines `name size mtime_ns inode sha256` of `folder`/verified.
/// Errors: W9001 no record, a missing file, or a file that differs from its line.
Result<void> check_extensions(const std::string& folder, const std::vector<std::string>& names);

/// Checks and loads. Errors: W9001.
Result<void> load_extensions(duck::Database& database, const std::string& folder,
                             const std::vector<std::string>& names);

}  // namespace weir::lake
