// `weir query`: one read-only statement. It runs on an instance that has only read-only attachments, behind the same gate as models.
#include <fmt/format.h>

#include <algorithm>

#include "build/gate.h"
#include "lake/lakes.h"
#include "ops/data.h"
#include "parse/script.h"
#include "parse/splice.h"

namespace weir::ops {
namespace {

constexpr std::string_view kPath = "query";

bool same(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

Result<parse::Statement> only_select(duck::Connection& connection, const std::string& sql) {
  WEIR_TRY(parse::Script script, parse::parse_script(connection, sql, std::string(kPath)));
  if (script.statements.size() == 1 && script.statements.front().kind == parse::StatementKind::Result) return std::move(script.statements.front());
  Diagnostic found{.code = Code::W8010};
  found.message = script.statements.size() == 1 ? fmt::format("`weir query` only reads; this is {}", script.statements.front().what)
                                                : fmt::format("`weir query` takes one statement, not {}", script.statements.size());
  found.hint = "give one SELECT; to change data, write a model";
  return fail(std::move(found));
}

/// Names that begin with a configured lake lead to its read-only attachment; all others are left to the current catalog.
parse::Spliced to_lakes(const std::string& sql, const parse::Statement& statement, const lake::Lakes& lakes) {
  std::vector<parse::Replacement> replacements;
  for (const parse::TableReference& table : statement.tables) {
    if (table.parts.size() != 3) continue;
    for (const lake::Lake& lake : lakes.all()) {
      if (!same(lake.name(), table.parts[0])) continue;
      duck::Sql name("{}", lake.readable(table.parts[1], table.parts[2]));
      if (!table.has_alias) name += duck::Sql(" AS {}", duck::Identifier(table.parts[2]));
      replacements.push_back({table.span, name.text()});
    }
  }
  return parse::Spliced::make(sql, statement.span, std::move(replacements));
}

Diagnostic explain_query(const duck::Failure& failure, const std::string& sql) {
  Diagnostic found{.code = Code::W4001, .message = lake::mask_secrets(failure.message)};
  if (failure.position && *failure.position < sql.size()) found.hint = fmt::format("near: {}", sql.substr(*failure.position, 40));
  return found;
}

/// The bound plan shows every table function, whatever views and macros hide it.
Result<void> check_functions(duck::Connection& connection, const duck::Sql& statement, const std::string& sql) {
  const auto plan = build::bind_plan(connection, statement);
  if (!plan) return fail(explain_query(plan.error(), sql));
  for (const std::string& function : plan->table_functions) {
    if (build::is_allowed_in_plan(function)) continue;
    return fail(Diagnostic{.code = Code::W4003, .message = fmt::format("the function {} is not allowed in a query", function)});
  }
  return {};
}

Result<void> write_out(duck::Connection& connection, const duck::Sql& rows, const QueryRequest& request) {
  const duck::Literal output(request.output);
  duck::Sql copy;
  if (request.format == "csv") copy = duck::Sql("COPY {} TO {} (FORMAT csv, HEADER true)", rows, output);
  else if (request.format == "json") copy = duck::Sql("COPY {} TO {} (FORMAT json, ARRAY true)", rows, output);
  else if (request.format == "parquet") copy = duck::Sql("COPY {} TO {} (FORMAT parquet)", rows, output);
  else return fail(Diagnostic{.code = Code::W8011, .message = fmt::format("there is no format `{}`", request.format), .hint = "box, csv, json or parquet"});
  if (auto done = connection.execute(copy); !done) return fail(explain_query(done.error(), request.sql));
  return {};
}

}  // namespace

Result<QueryResult> query(Workspace& workspace, const QueryRequest& request) {
  WEIR_TRY(lake::Lakes* lakes, workspace.lakes(false));
  WEIR_TRY(duck::Connection connection, lakes->connect());
  WEIR_TRY(const parse::Statement statement, only_select(connection, request.sql));
  WEIR_TRY(const Config* config, workspace.config());
  if (auto done = connection.execute(duck::Sql("USE {}.main", duck::Identifier(lakes->lake(config->default_lake().name).reader()))); !done)
    return fail(explain_query(done.error(), request.sql));
  const parse::Spliced spliced = to_lakes(request.sql, statement, *lakes);
  WEIR_CHECK(check_functions(connection, spliced.sql(), request.sql));
  const duck::Sql limit = request.limit ? duck::Sql(" LIMIT {}", *request.limit + (request.format.empty() ? 1 : 0)) : duck::Sql();
  QueryResult result;
  if (!request.format.empty()) {
    WEIR_CHECK(write_out(connection, duck::Sql("(SELECT * FROM ({}){})", spliced.sql(), limit), request));
    return result;
  }
  auto columns = connection.describe(spliced.sql());
  if (!columns) return fail(explain_query(columns.error(), request.sql));
  result.columns = std::move(*columns);
  auto rows = connection.query(duck::Sql("SELECT CAST(COLUMNS(*) AS VARCHAR) FROM ({}){}", spliced.sql(), limit));
  if (!rows) return fail(explain_query(rows.error(), request.sql));
  for (std::size_t row = 0; row < rows->size(); ++row) {
    if (request.limit && row == static_cast<std::size_t>(*request.limit)) {
      result.is_cut = true;
      break;
    }
    auto& values = result.rows.emplace_back();
    for (std::size_t column = 0; column < rows->columns().size(); ++column) values.push_back(rows->maybe_text(row, column));
  }
  return result;
}

}  // namespace weir::ops
