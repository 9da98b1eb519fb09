// The bound-plan gate: what a statement really calls once DuckDB has resolved its views and macros.
#pragma once

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
  std::vector<std::string> table_functions;
  /// Columns of the result, by position: NULLs that nothing gives a type, and texts with a collation. Neither is told by describe().
  std::vector<std::size_t> untyped;
  std::vector<std::size_t> collated;
};

/// Binds a query without running it.
/// Errors: the engine's own, only where DuckDB cannot answer at all.
duck::Outcome<BoundPlan> bind_plan(duck::Connection& connection, const duck::Sql& query);

/// True if a model's bound plan may hold this table function.
bool is_allowed_in_plan(std::string_view table_function);

/// Judges a bound plan. `statement` is what the parser saw; it decides where the plan is not known.
/// Errors: W4003 a function that models may not call, or one that could hide it in a statement that cannot be bound to a plan.
Result<void> judge(const BoundPlan& plan, const Model& model, const parse::Statement& statement);

}  // namespace weir::build
