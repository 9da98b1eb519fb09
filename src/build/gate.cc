// The parser's gate reads names as they are written; views, macros and query('…') can hide others. The bound plan has
// them expanded, so the same rule is asked of it again. Binding runs nothing: `ducklake_cleanup_old_files` in a bound
// plan deletes no file (tested).
#include "build/gate.h"

#include <fmt/format.h>

#include "build/names.h"
#include "lake/lakes.h"
#include "parse/functions.h"

namespace weir::build {
namespace {

Diagnostic refusal(const Suspect& suspect, std::string message, Span span, std::string hint) {
  return {Code::W4003, Severity::Error, std::move(message), suspect.path, span, std::move(hint)};
}

std::string cure(const Suspect& suspect) {
  return suspect.who == "a model" ? "a manual script may, if it is meant to act on a lake" : "";
}

void judge_plan(const BoundPlan& plan, const Suspect& suspect, Diagnostics& errors) {
  for (const auto& name : plan.refused) {
    Span place = suspect.statement.span;
    for (const auto& call : suspect.statement.functions)
      if (folded(call.name) == name) place = call.span;
    const bool is_call = name.find(' ') == std::string::npos;
    errors.push_back(refusal(suspect,
                             fmt::format("{} may not {} {}, not even through a view, a macro or query()", suspect.who,
                                         is_call ? "call" : "read", name),
                             place, cure(suspect)));
  }
}

// Names in the statement are all there is to go by; the parser's gate has judged those that it knows.
void judge_names(const Suspect& suspect, Diagnostics& errors) {
  for (const auto& call : suspect.statement.functions) {
    const std::string name = folded(call.name);
    if (parse::hides_its_reads(name) || !call.catalog.empty())
      errors.push_back(refusal(suspect,
                               fmt::format("{} could call anything, and this statement cannot be checked because it "
                                           "also reads CSV or JSON files, or pivots without an IN list",
                                           call.name),
                               call.span, "read the file in a model of its own, or in a CREATE TEMP TABLE before"));
    else if (parse::is_refused_function(name) ||
             (call.is_table_function && !parse::is_allowed_table_function(name) && !suspect.macros.contains(name)))
      errors.push_back(
          refusal(suspect, fmt::format("{} may not call {}", suspect.who, call.name), call.span, cure(suspect)));
  }
}

}  // namespace

Result<void> judge(const BoundPlan& plan, const Suspect& suspect) {
  Diagnostics errors;
  judge_plan(plan, suspect, errors);
  if (!plan.is_known) judge_names(suspect, errors);
  if (!errors.empty()) return fail(std::move(errors));
  return {};
}

Result<void> pass_tables(duck::Connection& connection, const parse::Spliced& sql, const Suspect& suspect) {
  for (const parse::TableReference& table : suspect.statement.tables) {
    const auto relation = sql.text_of(table.span);
    if (!relation) continue;
    const auto plan = bind_plan(connection, duck::Sql("FROM {}", duck::Sql::verbatim(*relation)));
    if (!plan)
      return fail(lake::explain(Code::W4001, "the tables of this statement cannot be looked at", plan.error()));
    Diagnostics errors;
    judge_plan(*plan, suspect, errors);
    // A view of a lake was made elsewhere; which files it reads only its plan could tell.
    if (plan->calls_unseen && errors.empty())
      errors.push_back(refusal(suspect,
                               fmt::format("{} is a view that reads CSV or JSON files, which cannot be checked",
                                           duck::quote_identifier(table.parts.back())),
                               table.span, "read the files in a model"));
    if (!errors.empty()) return fail(std::move(errors));
  }
  return {};
}

Result<void> pass_gate(duck::Connection& connection, const duck::Outcome<BoundPlan>& plan, const parse::Spliced& sql,
                       const Suspect& suspect) {
  if (!plan) return fail(lake::explain(Code::W4001, "the statement cannot be bound", plan.error()));
  WEIR_CHECK(judge(*plan, suspect));
  return plan->is_known ? Result<void>{} : pass_tables(connection, sql, suspect);
}

}  // namespace weir::build
