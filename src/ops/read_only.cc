#include "ops/read_only.h"

#include <fmt/format.h>

#include "build/gate.h"
#include "metric/compose.h"
#include "project/gate.h"
#include "text/lexer.h"

namespace weir::ops {
namespace {

/// Stands for the relation while the condition is parsed.
constexpr std::string_view kRows = "weir_rows";

Diagnostic no_condition(const std::string& condition, const std::string& why) {
  return {.code = Code::W6633,
          .message = fmt::format("the condition `{}` cannot be used: {}", condition, why),
          .hint = "give what stands behind WHERE: --where \"region = 'EU'\""};
}

}  // namespace

std::vector<parse::Replacement> to_lakes(const parse::Statement& statement, const lake::Lakes& lakes) {
  std::vector<parse::Replacement> replacements;
  for (const parse::TableReference& table : statement.tables) {
    if (table.parts.size() != 3) continue;
    for (const lake::Lake& lake : lakes.all()) {
      if (!text::same_word(lake.name(), table.parts[0])) continue;
      duck::Sql name("{}", lake.readable(table.parts[1], table.parts[2]));
      if (!table.has_alias) name += duck::Sql(" AS {}", duck::Identifier(table.parts[2]));
      replacements.push_back({table.span, (table.is_table_form ? "FROM " : "") + name.text()});
    }
  }
  return replacements;
}

Result<void> pass_read_only_gate(duck::Connection& connection, const parse::Spliced& spliced,
                                 const parse::Statement& statement) {
  if (Diagnostics found =
          judge_reach({.statement = statement, .path = std::string(kTypedText), .who = "a query", .macros = {}});
      !found.empty())
    return fail(std::move(found));
  return build::pass_gate(connection, build::bind_plan(connection, spliced.sql()), spliced,
                          {.who = "a query", .path = std::string(kTypedText), .statement = statement, .macros = {}});
}

Result<duck::Sql> rows_where(duck::Connection& connection, const lake::Lakes& lakes, const duck::Sql& relation,
                             const std::string& condition) {
  if (auto judged = metric::judge_predicate(connection, condition); !judged)
    return fail(no_condition(condition, judged.error().front().message));
  const std::string typed = fmt::format("SELECT * FROM {} WHERE ({}\n)", kRows, condition);
  auto script = parse::parse_script(connection, typed, std::string(kTypedText));
  if (!script) return fail(no_condition(condition, script.error().front().message));
  const parse::Statement& statement = script->statements.front();
  std::vector<parse::Replacement> replacements = to_lakes(statement, lakes);
  for (const parse::TableReference& table : statement.tables)
    if (table.parts.size() == 1 && table.parts.front() == kRows) replacements.push_back({table.span, relation.text()});
  const auto spliced = parse::Spliced::make(typed, statement.span, std::move(replacements));
  if (auto columns = connection.describe(spliced.sql()); !columns)
    return fail(no_condition(condition, lake::mask_secrets(columns.error().message)));
  WEIR_CHECK(pass_read_only_gate(connection, spliced, statement));
  return spliced.sql();
}

}  // namespace weir::ops
