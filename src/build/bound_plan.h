// The bound plan of a query, read once for all who ask: what it calls and reads once DuckDB has resolved its views and
// macros, which columns it returns, how many rows at most.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "duck/database.h"

namespace weir::build {

/// What the bound plan of a query told.
struct BoundPlan {
  /// False where DuckDB cannot write the plan down (readers of CSV and JSON, PIVOT without IN list).
  bool is_known = false;
  /// DuckDB at least explained it: table functions are known, calls within expressions are not.
  bool is_explained = false;
  /// Only explained, and it calls table functions: with which arguments is not told. Tables of attached databases are
  /// no such calls.
  bool calls_unseen = false;
  /// What user SQL may not call or read, in words for a message: "duckdb_databases", "the setting s3_region", "weir's
  /// own attachments".
  std::set<std::string> refused;
  /// Names and patterns that readers of files were given.
  std::set<std::string> files;
  /// Columns of the result, by position: NULLs that nothing gives a type, and texts with a collation. Neither is told
  /// by describe().
  std::vector<std::size_t> untyped;
  std::vector<std::size_t> collated;
  /// Names and types as describe() would tell them; nothing where the plan leaves a doubt (names that may stand twice,
  /// nested types).
  std::optional<std::vector<duck::Column>> columns;
  /// No result has more rows; nothing where the plan sets no bound.
  std::optional<std::int64_t> most_rows;
};

/// Binds a query without running it. No stage that it reads has more than `largest_stage` rows, if that is known.
/// Errors: the engine's own, only where DuckDB cannot answer at all.
duck::Outcome<BoundPlan> bind_plan(duck::Connection& connection, const duck::Sql& query,
                                   std::optional<std::int64_t> largest_stage = std::nullopt);

}  // namespace weir::build
