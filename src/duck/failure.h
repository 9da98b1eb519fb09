// What DuckDB says of a failure, as a value. Inside duck/ only.
#pragma once

#include <duckdb.h>

#include "duck/database.h"

namespace weir::duck {

FailureType type_of(duckdb_error_type type);
/// `raw`: DuckDB's message; `type` wins over what it says of its kind, unless it is Other. An objection of the file
/// guard that was made since the last call takes its place.
Failure failure_from(const char* raw, FailureType type);

}  // namespace weir::duck
