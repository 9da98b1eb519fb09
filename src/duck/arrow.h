// Results in Arrow's own formats. Inside duck/ only; others call Connection::write_arrow.
#pragma once

#include <duckdb.h>

#include "duck/database.h"

namespace weir::duck {

/// See Connection::write_arrow.
Outcome<void> write_arrow(duckdb_connection connection, const Sql& query, ArrowForm form, const ByteSink& sink);

}  // namespace weir::duck
