// The bound-plan gate: what a statement really calls and reads once DuckDB has resolved its views and macros.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "build/bound_plan.h"
#include "duck/database.h"
#include "parse/script.h"
#include "parse/splice.h"
#include "project/model.h"

namespace weir::build {

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

/// Judges the plan of a query within `sql`. Where it is not known each table that the statement reads is judged by
/// itself, since a view may hide what it calls. Errors: as above; W4001 where DuckDB cannot answer at all.
Result<void> pass_gate(duck::Connection& connection, const duck::Outcome<BoundPlan>& plan, const parse::Spliced& sql,
                       const Suspect& suspect);

/// Judges only the tables that a statement names: for macros, whose bodies bind when they are called.
Result<void> pass_tables(duck::Connection& connection, const parse::Spliced& sql, const Suspect& suspect);

}  // namespace weir::build
