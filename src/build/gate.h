// The bound-plan gate: what a statement really calls and reads once DuckDB has resolved its views and macros.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "duck/database.h"
#include "parse/script.h"
#include "parse/splice.h"
#include "project/model.h"

namespace weir::build {

/// What the bound plan of a query told.
struct BoundPlan {
  /// False where DuckDB cannot write the plan down (readers of CSV and JSON, PIVOT without IN list).
  bool is_known = false;
  /// DuckDB at least explained it: table functions are known, calls within expressions are not.
  bool is_explained = false;
  /// What user SQL may not call or read, in words for a message: "duckdb_databases", "the setting s3_region", "weir's
  /// own attachments".
  std::set<std::string> refused;
  /// Columns of the result, by position: NULLs that nothing gives a type, and texts with a collation. Neither is told
  /// by describe().
  std::vector<std::size_t> untyped;
  std::vector<std::size_t> collated;
};

/// Binds a query without running it.
/// Errors: the engine's own, only where DuckDB cannot answer at all.
duck::Outcome<BoundPlan> bind_plan(duck::Connection& connection, const duck::Sql& query);

/// User SQL before the gate.
struct Suspect {
  /// Who calls: "a model", "a test", "a query".
  std::string_view who = "a model";
  std::string path;
  /// What the parser saw of the statement; decides where the plan is not known.
  const parse::Statement& statement;
  /// Macros that the same script made and that were judged by their bodies, in lower case.
  std::set<std::string> macros;
};

/// Judges a bound plan.
/// Errors: W4003 a function that user SQL may not call, a setting or attachment that it may not know, or a call that
/// could hide one in a statement that cannot be bound to a plan.
Result<void> judge(const BoundPlan& plan, const Suspect& suspect);

/// Binds and judges the query within `sql`. Where the plan is not known each table that the statement reads is judged
/// by itself, since a view may hide what it calls. `plan` receives what binding told. Errors: as above; W4001 where
/// DuckDB cannot answer at all.
Result<void> pass_gate(duck::Connection& connection, const duck::Sql& query, const parse::Spliced& sql,
                       const Suspect& suspect, BoundPlan& plan);

/// Judges only the tables that a statement names: for macros, whose bodies bind when they are called.
Result<void> pass_tables(duck::Connection& connection, const parse::Spliced& sql, const Suspect& suspect);

}  // namespace weir::build
