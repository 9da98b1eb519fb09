// DuckDB's spelling of its types. Inside duck/ only.
#pragma once

#include <duckdb.h>

#include <string>

namespace weir::duck {

/// As duck::Column::type has it.
std::string type_text(duckdb_logical_type type);

}  // namespace weir::duck
