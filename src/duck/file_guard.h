// The function that every name of a file in user SQL passes through, see kFileGuard in database.h.
#pragma once

#include <duckdb.h>

#include <string>

namespace weir::duck {

class Database;

/// Makes the function in an instance. `database` says what it objects to; it must outlive the instance. Returns false
/// if DuckDB refuses.
bool make_file_guard(duckdb_connection connection, Database* database);

/// What the guard said to a statement of this thread since it was last asked; empty if nothing. DuckDB evaluates the
/// arguments of table functions where it binds, which is the thread that asked.
std::string take_objection();

}  // namespace weir::duck
