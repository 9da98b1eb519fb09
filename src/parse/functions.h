// Which functions a model may call: lists by name, shared by the gate on the parsed tree and the gate on the bound plan.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "duck/database.h"

namespace weir::parse {

/// Table functions on the list: readers of files, makers of rows, read-only questions to a lake. Functions that list attachments, settings or
/// secrets are not. `name` in lower case.
bool is_allowed_table_function(std::string_view name);

/// Functions that act on a lake or on the instance wherever they stand, even through a read-only attachment.
bool is_refused_function(std::string_view name);

/// Functions that hide what they read: query, query_table.
bool hides_its_reads(std::string_view name);

/// Readers of files by name or glob, whose first argument says which.
bool reads_files(std::string_view name);

/// Names (lower case) of DuckDB's functions whose result may change while no input does: now(), random(), nextval() and the like.
/// Asked of the engine once (10 ms) and remembered for the process. Threads: safe.
duck::Outcome<const std::set<std::string>*> volatile_functions(duck::Connection& connection);

}  // namespace weir::parse
