#include "trial/clock.h"

#include <algorithm>
#include <utility>

namespace weir::trial {
namespace {

using duck::Sql;

/// Names with what they return, written over `T`, the time as TIMESTAMPTZ. Local times follow the session's zone, as
/// the functions do.
std::vector<std::pair<std::string, Sql>> functions_of_time(const Sql& t) {
  const Sql local("CAST({} AS TIMESTAMP)", t);
  const Sql today("CAST({} AS DATE)", t);
  return {{"now", Sql("() AS {}", t)},
          {"get_current_timestamp", Sql("() AS {}", t)},
          {"transaction_timestamp", Sql("() AS {}", t)},
          {"current_date", Sql("() AS {}", today)},
          {"today", Sql("() AS {}", today)},
          {"get_current_time", Sql("() AS CAST({} AS TIMETZ)", t)},
          {"current_localtimestamp", Sql("() AS {}", local)},
          {"current_localtime", Sql("() AS CAST({} AS TIME)", local)},
          {"age", Sql("(a) AS system.main.age(CAST({} AS TIMESTAMP), a), (a, b) AS system.main.age(a, b)", today)},
          {"ago", Sql("(i) AS {} - CAST(i AS INTERVAL)", t)}};
}

}  // namespace

std::vector<Sql> stop_clock(const std::string& time, const std::set<std::string>& own_macros) {
  std::vector<Sql> macros;
  for (const auto& [name, body] :
       functions_of_time(Sql("CAST({} AS TIMESTAMPTZ)", duck::Literal(std::string_view(time)))))
    if (!own_macros.contains(name)) macros.push_back(Sql("CREATE TEMP MACRO {}{}", duck::Identifier(name), body));
  return macros;
}

std::optional<std::string> escapes_clock(const Model& model) {
  const auto functions = functions_of_time(Sql("NULL"));
  const auto escapes = [&functions](const parse::FunctionCall& call) {
    return (call.catalog == "system" || call.schema == "pg_catalog") &&
           std::any_of(functions.begin(), functions.end(), [&call](const auto& one) { return one.first == call.name; });
  };
  const auto in_statement = [&escapes](const parse::Statement& statement) -> std::optional<std::string> {
    const auto found = std::find_if(statement.functions.begin(), statement.functions.end(), escapes);
    if (found == statement.functions.end()) return std::nullopt;
    return (found->catalog.empty() ? "" : found->catalog + ".") + found->schema + "." + found->name;
  };
  for (const parse::Statement& statement : model.script.statements)
    if (auto found = in_statement(statement)) return found;
  for (const MacroDefinition& macro : model.macros)
    if (auto found = in_statement(macro.statement)) return found;
  return std::nullopt;
}

}  // namespace weir::trial
