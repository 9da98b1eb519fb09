// Which functions user SQL may call, and which settings are its own: lists by name, shared by the gate on the parsed
// tree and the gate on the bound plan. A table function that stands in none of them is refused.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "duck/database.h"

namespace weir::parse {

/// Table functions on the list: readers of files, makers of rows, read-only questions to a lake. Functions that list
/// attachments, settings or secrets are not. `name` in lower case.
bool is_allowed_table_function(std::string_view name);

/// What the table of an attachment becomes in a bound plan. A statement never calls these by name.
bool is_table_scan(std::string_view name);

/// Table functions of DuckDB and its extensions that are not on the list. A name that is neither allowed nor refused is
/// a macro, or a slip: binding tells.
bool is_refused_table_function(std::string_view name);

/// Functions of any kind that act on a lake or on the instance wherever they stand, even through a read-only
/// attachment, or that tell what user SQL is not to know.
bool is_refused_function(std::string_view name);

/// Functions that hide what they read: query, query_table.
bool hides_its_reads(std::string_view name);

/// Readers of files by name or glob, whose first argument says which.
bool reads_files(std::string_view name);

/// Settings that end with the connection: a script may set them, and ask for them by current_setting. `name` in lower
/// case.
bool is_connection_setting(std::string_view name);

/// True if a text holds a name that begins with `_weir_` or `__ducklake_`, in any case: names of weir's own
/// attachments.
bool names_reserved(std::string_view text);

/// Names (lower case) of DuckDB's functions whose result may change while no input does: now(), random(), nextval() and
/// the like. Asked of the engine once (10 ms) and remembered for the process. Threads: safe.
duck::Outcome<const std::set<std::string>*> volatile_functions(duck::Connection& connection);

/// What DuckDB's own functions do to the rows of a query that calls them; names in lower case. A macro of DuckDB does
/// what the functions do that it calls.
struct FunctionKinds {
  /// All names; one that is not among them is a user's macro, or of an extension.
  std::set<std::string> known;
  std::set<std::string> aggregates;
  /// One row becomes several: unnest.
  std::set<std::string> row_makers;
  std::set<std::string> volatiles;
};
/// Asked of the engine once and remembered for the process. Threads: safe.
duck::Outcome<const FunctionKinds*> function_kinds(duck::Connection& connection);

}  // namespace weir::parse
