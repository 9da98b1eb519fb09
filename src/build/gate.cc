// The parser's gate reads names as they are written; views, macros and query('…') can hide others. The bound plan has
// them expanded, so the same rule is asked of it again. Binding runs nothing: `ducklake_cleanup_old_files` in a bound
// plan deletes no file (tested).
#include "build/gate.h"

#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "build/names.h"
#include "lake/lakes.h"
#include "parse/functions.h"

namespace weir::build {
namespace {

std::string text_of(const nlohmann::json& node, const char* key) {
  const auto found = node.find(key);
  return found != node.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool is_empty_list(const nlohmann::json& node, const char* key) {
  const auto found = node.find(key);
  return found == node.end() || found->empty();
}

// Attachments that no user SQL leads to: those that write, and the catalogs' own tables.
bool is_closed(const std::string& catalog) {
  const std::string name = folded(catalog);
  return std::any_of(lake::kClosedPrefixes.begin(), lake::kClosedPrefixes.end(),
                     [&name](std::string_view prefix) { return name.starts_with(prefix); });
}

// A scan with parameters was called by name; one without reads a table of an attachment.
void look_at_get(const nlohmann::json& get, BoundPlan& plan) {
  const std::string name = folded(text_of(get, "name"));
  if (!parse::is_table_scan(name)) {
    if (!parse::is_allowed_table_function(name)) plan.refused.insert(name);
    return;
  }
  if (!is_empty_list(get, "parameters")) plan.refused.insert(name);
  const auto data = get.find("function_data");
  if (data == get.end() || !data->is_object()) return;
  if (is_closed(text_of(*data, "catalog_name")) || is_closed(text_of(*data, "catalog")))
    plan.refused.insert("weir's own attachments");
}

void look_at_call(const nlohmann::json& call, BoundPlan& plan) {
  const std::string name = folded(text_of(call, "name"));
  if (parse::is_refused_function(name)) plan.refused.insert(name);
  if (name != "current_setting" || is_empty_list(call, "children")) return;
  const auto& argument = call["children"][0];
  const std::string setting = argument.contains("value") ? folded(text_of(argument["value"], "value")) : std::string();
  if (!parse::is_connection_setting(setting))
    plan.refused.insert(setting.empty() ? "current_setting of a name that is not constant" : "the setting " + setting);
}

void collect(const nlohmann::json& node, BoundPlan& plan) {
  if (node.is_array()) {
    for (const auto& child : node) collect(child, plan);
    return;
  }
  if (!node.is_object()) return;
  if (text_of(node, "type") == "LOGICAL_GET") look_at_get(node, plan);
  if (text_of(node, "expression_class") == "BOUND_FUNCTION") look_at_call(node, plan);
  for (const auto& child : node)
    if (child.is_structured()) collect(child, plan);
}

void collect_explained(const nlohmann::json& node, BoundPlan& plan) {
  if (node.is_array()) {
    for (const auto& child : node) collect_explained(child, plan);
    return;
  }
  if (!node.is_object()) return;
  if (const auto told = node.find("extra_info"); told != node.end() && told->is_object())
    if (const std::string name = folded(text_of(*told, "Function"));
        !name.empty() && !parse::is_table_scan(name) && !parse::is_allowed_table_function(name))
      plan.refused.insert(name);
  if (const auto children = node.find("children"); children != node.end()) collect_explained(*children, plan);
}

// True if a type within the tree has a collation.
bool has_collation(const nlohmann::json& type) {
  if (!type.is_structured()) return false;
  if (type.is_object())
    if (const auto collation = type.find("collation");
        collation != type.end() && collation->is_string() && !collation->get_ref<const std::string&>().empty())
      return true;
  return std::any_of(type.begin(), type.end(), [](const auto& child) { return has_collation(child); });
}

bool has_null_type(const nlohmann::json& type) {
  if (!type.is_structured()) return false;
  if (type.is_object())
    if (const auto id = type.find("id");
        id != type.end() && id->is_string() && id->get_ref<const std::string&>() == "NULL")
      return true;
  return std::any_of(type.begin(), type.end(), [](const auto& child) { return has_null_type(child); });
}

// The query stands in `SELECT * FROM (…)`, so the outer projection holds one plain reference a column. DuckDB turns an
// untyped NULL into an INTEGER by a cast there; casts that the user wrote lie deeper.
void look_at_columns(const nlohmann::json& root, BoundPlan& plan) {
  if (root.value("type", "") != "LOGICAL_PROJECTION" || !root.contains("expressions")) return;
  const auto& expressions = root["expressions"];
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const auto& expression = expressions[i];
    if (expression.contains("return_type") && has_collation(expression["return_type"])) plan.collated.push_back(i);
    if (expression.value("expression_class", "") == "BOUND_CAST" && expression.contains("child") &&
        expression["child"].contains("return_type") && has_null_type(expression["child"]["return_type"]))
      plan.untyped.push_back(i);
  }
}

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

// DuckDB cannot write down the plan of a statement that reads CSV or JSON, but it explains one: the table functions are
// there, calls within expressions are not. What the optimiser has taken out will not run either.
duck::Outcome<void> explain_plan(duck::Connection& connection, const duck::Sql& query, BoundPlan& plan) {
  const auto rows = connection.query(duck::Sql("EXPLAIN (FORMAT JSON) SELECT * FROM ({}\n) AS result", query));
  if (!rows && rows.error().type == duck::FailureType::Interrupt) return tl::unexpected(rows.error());
  // A PIVOT without IN list stands for several statements and cannot be explained; whoever runs it tells any other
  // failure.
  if (!rows || rows->size() == 0) return {};
  const auto parsed = nlohmann::json::parse(rows->text(0, 1), nullptr, false);
  if (!parsed.is_array()) return {};
  plan.is_explained = true;
  collect_explained(parsed, plan);
  return {};
}

}  // namespace

duck::Outcome<BoundPlan> bind_plan(duck::Connection& connection, const duck::Sql& query) {
  auto rows = connection.query(duck::Sql("SELECT CAST(system.main.json_serialize_plan({}) AS VARCHAR)",
                                         duck::Literal(duck::Sql("SELECT * FROM ({}\n) AS result", query).text())));
  if (!rows) return tl::unexpected(rows.error());
  BoundPlan plan;
  const auto parsed = nlohmann::json::parse(rows->text(0, 0), nullptr, false);
  if (!parsed.is_object() || parsed.value("error", true)) {
    if (parsed.is_object() && text_of(parsed, "error_type") != "not implemented") return plan;
    if (auto done = explain_plan(connection, query, plan); !done) return tl::unexpected(done.error());
    return plan;
  }
  plan.is_known = true;
  collect(parsed, plan);
  if (parsed.contains("plans") && !parsed["plans"].empty()) look_at_columns(parsed["plans"][0], plan);
  return plan;
}

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
    if (!errors.empty()) return fail(std::move(errors));
  }
  return {};
}

Result<void> pass_gate(duck::Connection& connection, const duck::Sql& query, const parse::Spliced& sql,
                       const Suspect& suspect, BoundPlan& plan) {
  auto bound = bind_plan(connection, query);
  if (!bound) return fail(lake::explain(Code::W4001, "the statement cannot be bound", bound.error()));
  plan = std::move(*bound);
  WEIR_CHECK(judge(plan, suspect));
  return plan.is_known || plan.is_explained ? Result<void>{} : pass_tables(connection, sql, suspect);
}

}  // namespace weir::build
