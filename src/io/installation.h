// Where weir finds what belongs to its own installation.
#pragma once

#include <string>

namespace weir::io {

/// Returns the folder that holds DuckDB's extensions (`v<version>/<platform>/<name>.duckdb_extension`) and the record
/// `verified`: WEIR_EXTENSIONS if set; else lib/weir/extensions beside the folder of this program, as installed; else
/// the folder that the build was configured with. Whether it holds anything is for the one who loads to say.
std::string extension_folder();
/// Returns the path of DuckDB's library: in lib/weir beside the folder of this program, as installed; else the file
/// that the build was configured with.
std::string duckdb_library();

}  // namespace weir::io
