#include "lsp/functions.h"

#include "parse/functions.h"

namespace weir::lsp {

std::shared_ptr<const KnownFunctions> functions_of(duck::Connection& connection) {
  // Operators have names too; a function in several forms is shown with the shortest.
  const auto rows = connection.query(
      "SELECT function_name, is_table, function_name || '(' || array_to_string(parameters, ', ') || ')' || "
      "coalesce(' \u2192 ' || return_type, ''), coalesce(description, '') FROM (SELECT lower(function_name) AS "
      "function_name, function_type IN ('table', 'table_macro') AS is_table, parameters, return_type, description FROM "
      "duckdb_functions() WHERE internal AND schema_name = 'main' AND function_type <> 'pragma' AND "
      "regexp_matches(function_name, "
      "'^[a-z][a-z0-9_]*$')) QUALIFY row_number() OVER (PARTITION BY function_name, is_table ORDER BY len(parameters), "
      "return_type) = 1 ORDER BY function_name");
  if (!rows) return nullptr;
  auto functions = std::make_shared<KnownFunctions>();
  for (std::size_t row = 0; row < rows->size(); ++row) {
    KnownFunction one{.name = rows->text(row, 0), .is_table = rows->boolean(row, 1)};
    const bool may_call =
        !parse::is_refused_function(one.name) && (!one.is_table || parse::is_allowed_table_function(one.name));
    if (!may_call) continue;
    one.signature = rows->text(row, 2);
    one.description = rows->text(row, 3);
    functions->push_back(std::move(one));
  }
  return functions;
}

}  // namespace weir::lsp
