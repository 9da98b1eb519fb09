// The parser's gate reads names as they are written; views, macros and query('…') can hide others. The bound plan has them expanded, so the
// same rule is asked of it again. Binding runs nothing: `ducklake_cleanup_old_files` in a bound plan deletes no file (tested).
#include "build/gate.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

#include "parse/functions.h"

namespace weir::build {
namespace {

void collect(const nlohmann::json& node, BoundPlan& plan) {
  if (node.is_array()) {
    for (const auto& child : node) collect(child, plan);
    return;
  }
  if (!node.is_object()) return;
  const auto type = node.find("type");
  if (type != node.end() && type->is_string() && type->get_ref<const std::string&>() == "LOGICAL_GET") {
    const auto name = node.find("name");
    plan.table_functions.push_back(name != node.end() && name->is_string() ? name->get<std::string>() : "");
  }
  for (const auto& child : node)
    if (child.is_structured()) collect(child, plan);
}

// True if a type within the tree has a collation.
bool has_collation(const nlohmann::json& type) {
  if (!type.is_structured()) return false;
  if (type.is_object())
    if (const auto collation = type.find("collation"); collation != type.end() && collation->is_string() && !collation->get_ref<const std::string&>().empty()) return true;
  return std::any_of(type.begin(), type.end(), [](const auto& child) { return has_collation(child); });
}

bool has_null_type(const nlohmann::json& type) {
  if (!type.is_structured()) return false;
  if (type.is_object())
    if (const auto id = type.find("id"); id != type.end() && id->is_string() && id->get_ref<const std::string&>() == "NULL") return true;
  return std::any_of(type.begin(), type.end(), [](const auto& child) { return has_null_type(child); });
}

// The query stands in `SELECT * FROM (…)`, so the outer projection holds one plain reference a column. DuckDB turns an untyped NULL into an
// INTEGER by a cast there; casts that the user wrote lie deeper.
void look_at_columns(const nlohmann::json& root, BoundPlan& plan) {
  if (root.value("type", "") != "LOGICAL_PROJECTION" || !root.contains("expressions")) return;
  const auto& expressions = root["expressions"];
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const auto& expression = expressions[i];
    if (expression.contains("return_type") && has_collation(expression["return_type"])) plan.collated.push_back(i);
    if (expression.value("expression_class", "") == "BOUND_CAST" && expression.contains("child") && expression["child"].contains("return_type") && has_null_type(expression["child"]["return_type"])) plan.untyped.push_back(i);
  }
}

std::string lower(std::string_view text) {
  std::string lowered(text);
  std::transform(lowered.begin(), lowered.end(), lowered.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lowered;
}

}  // namespace

bool is_allowed_in_plan(std::string_view table_function) {
  // Scans of tables, readers of files, generators of rows, and the read-only questions to a lake. Functions that list attachments,
  // settings or secrets are absent on purpose, as are DuckLake's maintenance and write functions.
  static const std::set<std::string, std::less<>> allowed = {
      "seq_scan",         "column_data_scan", "ducklake_scan",      "sqlite_scan",           "postgres_scan",         "postgres_scan_pushdown",
      "read_parquet",     "parquet_scan",     "read_csv",           "read_csv_auto",         "read_json",             "read_json_auto",
      "read_json_objects", "read_json_objects_auto", "read_ndjson", "read_ndjson_auto",      "read_ndjson_objects",   "read_text",
      "read_blob",        "sniff_csv",        "glob",               "parquet_metadata",      "parquet_schema",        "parquet_file_metadata",
      "parquet_kv_metadata", "parquet_bloom_probe", "parquet_full_metadata", "range",        "generate_series",       "unnest",
      "repeat",           "repeat_row",       "json_each",          "json_tree",             "summary",
      "ducklake_snapshots", "ducklake_current_snapshot", "ducklake_last_committed_snapshot", "ducklake_table_info", "ducklake_table_changes",
      "ducklake_table_insertions", "ducklake_table_deletions", "ducklake_list_files", "ducklake_options"};
  return allowed.contains(lower(table_function));
}

duck::Outcome<BoundPlan> bind_plan(duck::Connection& connection, const duck::Sql& query) {
  auto rows = connection.query(duck::Sql("SELECT CAST(system.main.json_serialize_plan({}) AS VARCHAR)", duck::Literal(duck::Sql("SELECT * FROM ({}\n) AS result", query).text())));
  if (!rows) return tl::unexpected(rows.error());
  BoundPlan plan;
  const auto parsed = nlohmann::json::parse(rows->text(0, 0), nullptr, false);
  if (!parsed.is_object() || parsed.value("error", true)) return plan;
  plan.is_known = true;
  collect(parsed, plan);
  if (parsed.contains("plans") && !parsed["plans"].empty()) look_at_columns(parsed["plans"][0], plan);
  return plan;
}

Result<void> judge(const BoundPlan& plan, const Model& model, const parse::Statement& statement) {
  Diagnostics errors;
  const auto refuse = [&](std::string message, Span span, std::string hint) {
    errors.push_back({Code::W4003, Severity::Error, std::move(message), model.source->path, span, std::move(hint)});
  };
  const auto place_of = [&](const std::string& name) {
    for (const auto& call : statement.functions)
      if (lower(call.name) == name) return call.span;
    return statement.span;
  };
  if (plan.is_known) {
    std::set<std::string> refused;
    for (const auto& name : plan.table_functions)
      if (!is_allowed_in_plan(name)) refused.insert(lower(name));
    for (const auto& name : refused)
      refuse(fmt::format("a model may not call {}, not even through a view, a macro or query()", name), place_of(name), "a manual script may, if it is meant to act on a lake");
  } else {
    for (const auto& call : statement.functions) {
      const bool hides = call.name == "query" || call.name == "query_table" || !call.catalog.empty();
      if (hides)
        refuse(fmt::format("{} could call anything, and this statement cannot be checked because it also reads CSV or JSON files, or pivots without an IN list", call.name), call.span,
               "read the file in a model of its own, or in a CREATE TEMP TABLE before");
      else if (call.is_table_function && !is_allowed_in_plan(call.name) && !parse::is_allowed_table_function(call.name))
        refuse(fmt::format("a model may not call {}", call.name), call.span, "a manual script may, if it is meant to act on a lake");
    }
  }
  if (!errors.empty()) return fail(std::move(errors));
  return {};
}

}  // namespace weir::build
