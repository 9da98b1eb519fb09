#include "build/bound_plan.h"

#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

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

// Names that were made of parts are whole here.
void look_at_files(const nlohmann::json& parameter, BoundPlan& plan) {
  if (parameter.is_object())
    if (std::string name = text_of(parameter, "value"); !name.empty()) plan.files.insert(std::move(name));
  if (!parameter.is_structured()) return;
  for (const auto& child : parameter) look_at_files(child, plan);
}

// A scan with parameters was called by name; one without reads a table of an attachment.
void look_at_get(const nlohmann::json& get, BoundPlan& plan) {
  const std::string name = folded(text_of(get, "name"));
  if (!parse::is_table_scan(name)) {
    if (!parse::is_allowed_table_function(name)) plan.refused.insert(name);
    if (parse::reads_files(name) && name != "glob" && get.contains("parameters"))
      look_at_files(get["parameters"], plan);
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
    if (const std::string name = folded(text_of(*told, "Function")); !name.empty() && !parse::is_table_scan(name)) {
      plan.calls_unseen = true;
      if (!parse::is_allowed_table_function(name)) plan.refused.insert(name);
    }
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

/// The type as describe() spells it, for types of which one word tells all; nothing for the others.
std::string simple_type(const nlohmann::json& type) {
  static const std::set<std::string, std::less<>> simple = {
      "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT",  "USMALLINT", "UINTEGER",
      "UBIGINT", "FLOAT",   "DOUBLE",   "VARCHAR", "DATE",   "TIMESTAMP", "HUGEINT",   "TIMESTAMP WITH TIME ZONE"};
  const std::string id = text_of(type, "id");
  const auto more = type.find("type_info");
  if (more == type.end() || more->is_null()) return simple.contains(id) ? id : "";
  if (id != "DECIMAL" || !text_of(*more, "alias").empty()) return {};
  return fmt::format("DECIMAL({},{})", more->value("width", 0), more->value("scale", 0));
}

// A subquery gives a second `a` the name `a_1`, which describe() of the query itself does not: such a name leaves a
// doubt.
bool may_be_renamed(const std::string& name) {
  const auto digits = name.find_last_not_of("0123456789");
  return digits != std::string::npos && digits + 1 < name.size() && (name[digits] == '_' || name[digits] == ':');
}

std::optional<std::vector<duck::Column>> columns_of(const nlohmann::json& root) {
  if (text_of(root, "type") != "LOGICAL_PROJECTION" || !root.contains("expressions")) return std::nullopt;
  std::vector<duck::Column> columns;
  for (const auto& expression : root["expressions"]) {
    const std::string name = text_of(expression, "alias");
    if (text_of(expression, "expression_class") != "BOUND_REF" || name.empty() || may_be_renamed(name) ||
        !expression.contains("return_type"))
      return std::nullopt;
    std::string type = simple_type(expression["return_type"]);
    if (type.empty()) return std::nullopt;
    columns.push_back({name, std::move(type)});
  }
  return columns;
}

/// Bounds the rows of a plan by the product of its leaves, each taken as two at least, so that it bounds unions and
/// outer joins too.
class RowBound {
 public:
  explicit RowBound(std::optional<std::int64_t> largest_stage) : largest_stage_(largest_stage) {}

  double of(const nlohmann::json& node) {
    const std::string type = text_of(node, "type");
    if (!node.contains("children")) return kUnbounded;
    const auto& children = node["children"];
    if (type == "LOGICAL_GET") return of_scan(node);
    if (type == "LOGICAL_DUMMY_SCAN") return 2;
    if (type == "LOGICAL_EXPRESSION_GET" && node.contains("expressions"))
      return std::max(2.0, static_cast<double>(node["expressions"].size()));
    if (type == "LOGICAL_CTE_REF") {
      const auto known = tables_.find(node.value("cte_index", std::uint64_t{0}));
      return known == tables_.end() ? kUnbounded : known->second;
    }
    if (type == "LOGICAL_MATERIALIZED_CTE" && children.size() == 2) {
      tables_[node.value("table_index", std::uint64_t{0})] = of(children[0]);
      return of(children[1]);
    }
    // Several grouping sets yield several rows for one.
    const bool multiplies = node.contains("grouping_sets") && node["grouping_sets"].size() > 1;
    if (!is_harmless(type) || multiplies || children.empty()) return kUnbounded;
    double rows = 1;
    for (const auto& child : children) rows *= of(child);
    return rows;
  }

 private:
  static constexpr double kUnbounded = std::numeric_limits<double>::infinity();

  static bool is_harmless(const std::string& type) {
    static const std::set<std::string, std::less<>> types = {
        "LOGICAL_PROJECTION",      "LOGICAL_FILTER",   "LOGICAL_AGGREGATE_AND_GROUP_BY",
        "LOGICAL_WINDOW",          "LOGICAL_LIMIT",    "LOGICAL_ORDER_BY",
        "LOGICAL_TOP_N",           "LOGICAL_DISTINCT", "LOGICAL_JOIN",
        "LOGICAL_COMPARISON_JOIN", "LOGICAL_ANY_JOIN", "LOGICAL_CROSS_PRODUCT",
        "LOGICAL_UNION",           "LOGICAL_EXCEPT",   "LOGICAL_INTERSECT"};
    return types.contains(type);
  }

  double of_scan(const nlohmann::json& node) const {
    if (!largest_stage_ || text_of(node, "name") != "seq_scan" || !node.contains("function_data")) return kUnbounded;
    if (text_of(node["function_data"], "catalog") != lake::kStageDatabase) return kUnbounded;
    return std::max(2.0, static_cast<double>(*largest_stage_));
  }

  std::optional<std::int64_t> largest_stage_;
  std::map<std::uint64_t, double> tables_;
};

// DuckDB cannot write down the plan of a statement that reads CSV or JSON, but it explains one: the table functions are
// there, calls within expressions are not. What the optimiser has taken out will not run either.
duck::Outcome<void> explain_plan(duck::Connection& connection, const duck::Sql& query, BoundPlan& plan) {
  const auto rows = connection.query(duck::Sql("EXPLAIN (FORMAT JSON) SELECT * FROM ({}\n) AS result", query));
  if (!rows && (rows.error().type == duck::FailureType::Interrupt || rows.error().type == duck::FailureType::Refused))
    return tl::unexpected(duck::Failure{rows.error().type, rows.error().message, std::nullopt});
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

duck::Outcome<BoundPlan> bind_plan(duck::Connection& connection, const duck::Sql& query,
                                   std::optional<std::int64_t> largest_stage) {
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
  for (const std::string& file : plan.files)
    if (connection.objection_to(file)) plan.refused.insert("the file " + file);
  if (!parsed.contains("plans") || parsed["plans"].empty()) return plan;
  const auto& root = parsed["plans"][0];
  look_at_columns(root, plan);
  plan.columns = columns_of(root);
  constexpr double kCountable = 1e15;
  if (const double rows = RowBound(largest_stage).of(root); rows < kCountable)
    plan.most_rows = static_cast<std::int64_t>(rows);
  return plan;
}

}  // namespace weir::build
