// The secrets of weir.yaml as DuckDB secrets of the instance: in memory only, never written, never shown.
#pragma once

#include "base/result.h"
#include "duck/database.h"
#include "project/config.h"

namespace weir::lake {

/// Creates one DuckDB secret for each of the configuration and loads the extension that knows its type.
/// Errors: W6001 a secret that DuckDB refuses, W9001.
Result<void> create_secrets(duck::Connection& connection, const Config& config, duck::Database& database,
                            const std::string& extension_folder);

}  // namespace weir::lake
