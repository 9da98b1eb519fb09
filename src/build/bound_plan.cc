#include "build/bound_plan.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <limits>
#include <map>

#include "build/names.h"
#include "lake/lakes.h"
#include "parse/functions.h"
#include "parse/trees.h"

namespace weir::build {
namespace {

using Element = simdjson::dom::element;

/// Plans nest as deep as the query does; the engine's own limit on expressions lies far below.
constexpr std::size_t kDeepest = 16'384;

std::optional<Element> member(const Element& node, std::string_view key) {
  Element found;
  if (!node.is_object() || node.at_key(key).get(found) != simdjson::SUCCESS) return std::nullopt;
  return found;
}

std::string_view view_of(const std::optional<Element>& node) {
  std::string_view text;
  if (!node || node->get(text) != simdjson::SUCCESS) return {};
  return text;
}

std::string_view text_of(const Element& node, std::string_view key) { return view_of(member(node, key)); }

std::uint64_t number_of(const Element& node, std::string_view key) {
  std::uint64_t number = 0;
  const auto found = member(node, key);
  if (!found || found->get(number) != simdjson::SUCCESS) return 0;
  return number;
}

/// Elements of the list under a key; none where there is no list.
std::vector<Element> list_of(const Element& node, std::string_view key) {
  std::vector<Element> elements;
  simdjson::dom::array list;
  const auto found = member(node, key);
  if (!found || found->get(list) != simdjson::SUCCESS) return elements;
  for (const Element element : list) elements.push_back(element);
  return elements;
}

template <class Visit>
void for_each_child(const Element& node, const Visit& visit) {
  simdjson::dom::array list;
  simdjson::dom::object object;
  if (node.get(list) == simdjson::SUCCESS)
    for (const Element child : list) visit(child);
  else if (node.get(object) == simdjson::SUCCESS)
    for (const auto field : object) visit(field.value);
}

bool is_structured(const Element& node) { return node.is_object() || node.is_array(); }

bool is_empty_list(const Element& node, std::string_view key) {
  bool is_empty = true;
  if (const auto found = member(node, key)) for_each_child(*found, [&](const Element&) { is_empty = false; });
  return is_empty;
}

/// Owns what an element that it read lies in.
class Reader {
 public:
  bool read(const std::string& text, Element& root) {
    return parser_.allocate(text.size(), kDeepest) == simdjson::SUCCESS &&
           parser_.parse(text).get(root) == simdjson::SUCCESS;
  }

 private:
  simdjson::dom::parser parser_;
};

bool tells_error(const Element& answer) {
  bool error = true;
  const auto told = member(answer, "error");
  return !told || told->get(error) != simdjson::SUCCESS || error;
}

// Attachments that no user SQL leads to: those that write, and the catalogs' own tables.
bool is_closed(std::string_view catalog) {
  const std::string name = folded(catalog);
  return std::any_of(lake::kClosedPrefixes.begin(), lake::kClosedPrefixes.end(),
                     [&name](std::string_view prefix) { return name.starts_with(prefix); });
}

// Names that were made of parts are whole here.
void look_at_files(const Element& parameter, BoundPlan& plan) {
  if (std::string name(text_of(parameter, "value")); !name.empty()) plan.files.insert(std::move(name));
  for_each_child(parameter, [&plan](const Element& child) { look_at_files(child, plan); });
}

// A scan with parameters was called by name; one without reads a table of an attachment.
void look_at_get(const Element& get, BoundPlan& plan) {
  const std::string name = folded(text_of(get, "name"));
  if (!parse::is_table_scan(name)) {
    if (!parse::is_allowed_table_function(name)) plan.refused.insert(name);
    const auto parameters = member(get, "parameters");
    if (parse::reads_files(name) && name != "glob" && parameters) look_at_files(*parameters, plan);
    return;
  }
  if (!is_empty_list(get, "parameters")) plan.refused.insert(name);
  const auto data = member(get, "function_data");
  if (!data) return;
  if (is_closed(text_of(*data, "catalog_name")) || is_closed(text_of(*data, "catalog")))
    plan.refused.insert("weir's own attachments");
}

void look_at_call(const Element& call, BoundPlan& plan) {
  const std::string name = folded(text_of(call, "name"));
  if (parse::is_refused_function(name)) plan.refused.insert(name);
  if (name != "current_setting") return;
  const std::vector<Element> arguments = list_of(call, "children");
  if (arguments.empty()) return;
  const auto value = member(arguments[0], "value");
  const std::string setting = value ? folded(text_of(*value, "value")) : std::string();
  if (!parse::is_connection_setting(setting))
    plan.refused.insert(setting.empty() ? "current_setting of a name that is not constant" : "the setting " + setting);
}

void collect(const Element& node, BoundPlan& plan) {
  if (text_of(node, "type") == "LOGICAL_GET") look_at_get(node, plan);
  if (text_of(node, "expression_class") == "BOUND_FUNCTION") look_at_call(node, plan);
  for_each_child(node, [&plan](const Element& child) {
    if (is_structured(child)) collect(child, plan);
  });
}

void collect_explained(const Element& node, BoundPlan& plan) {
  if (node.is_array()) for_each_child(node, [&plan](const Element& child) { collect_explained(child, plan); });
  if (!node.is_object()) return;
  if (const auto told = member(node, "extra_info"))
    if (const std::string name = folded(text_of(*told, "Function")); !name.empty() && !parse::is_table_scan(name)) {
      plan.calls_unseen = true;
      if (!parse::is_allowed_table_function(name)) plan.refused.insert(name);
    }
  if (const auto children = member(node, "children")) collect_explained(*children, plan);
}

// True if a type within the tree has a collation.
bool has_collation(const Element& type) {
  bool has = !text_of(type, "collation").empty();
  for_each_child(type, [&has](const Element& child) { has = has || has_collation(child); });
  return has;
}

bool has_null_type(const Element& type) {
  bool has = text_of(type, "id") == "NULL";
  for_each_child(type, [&has](const Element& child) { has = has || has_null_type(child); });
  return has;
}

// The query stands in `SELECT * FROM (…)`, so the outer projection holds one plain reference a column. DuckDB turns an
// untyped NULL into an INTEGER by a cast there; casts that the user wrote lie deeper.
void look_at_columns(const Element& root, BoundPlan& plan) {
  if (text_of(root, "type") != "LOGICAL_PROJECTION") return;
  const std::vector<Element> expressions = list_of(root, "expressions");
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    if (const auto type = member(expressions[i], "return_type"); type && has_collation(*type))
      plan.collated.push_back(i);
    if (text_of(expressions[i], "expression_class") != "BOUND_CAST") continue;
    const auto child = member(expressions[i], "child");
    const auto type = child ? member(*child, "return_type") : std::nullopt;
    if (type && has_null_type(*type)) plan.untyped.push_back(i);
  }
}

/// The type as describe() spells it, for types of which one word tells all; nothing for the others.
std::string simple_type(const Element& type) {
  static const std::set<std::string, std::less<>> simple = {
      "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT",  "USMALLINT", "UINTEGER",
      "UBIGINT", "FLOAT",   "DOUBLE",   "VARCHAR", "DATE",   "TIMESTAMP", "HUGEINT",   "TIMESTAMP WITH TIME ZONE"};
  const std::string id(text_of(type, "id"));
  const auto more = member(type, "type_info");
  if (!more || more->is_null()) return simple.contains(id) ? id : "";
  if (id != "DECIMAL" || !text_of(*more, "alias").empty()) return {};
  return fmt::format("DECIMAL({},{})", number_of(*more, "width"), number_of(*more, "scale"));
}

// A subquery gives a second `a` the name `a_1`, which describe() of the query itself does not: such a name leaves a
// doubt.
bool may_be_renamed(const std::string& name) {
  const auto digits = name.find_last_not_of("0123456789");
  return digits != std::string::npos && digits + 1 < name.size() && (name[digits] == '_' || name[digits] == ':');
}

std::optional<std::vector<duck::Column>> columns_of(const Element& root) {
  if (text_of(root, "type") != "LOGICAL_PROJECTION" || !member(root, "expressions")) return std::nullopt;
  std::vector<duck::Column> columns;
  for (const Element& expression : list_of(root, "expressions")) {
    const std::string name(text_of(expression, "alias"));
    const auto returned = member(expression, "return_type");
    if (text_of(expression, "expression_class") != "BOUND_REF" || name.empty() || may_be_renamed(name) || !returned)
      return std::nullopt;
    std::string type = simple_type(*returned);
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

  double of(const Element& node) {
    const std::string_view type = text_of(node, "type");
    if (!member(node, "children")) return kUnbounded;
    const std::vector<Element> children = list_of(node, "children");
    if (type == "LOGICAL_GET") return of_scan(node);
    if (type == "LOGICAL_DUMMY_SCAN") return 2;
    if (type == "LOGICAL_EXPRESSION_GET" && member(node, "expressions"))
      return std::max(2.0, static_cast<double>(list_of(node, "expressions").size()));
    if (type == "LOGICAL_CTE_REF") {
      const auto known = tables_.find(number_of(node, "cte_index"));
      return known == tables_.end() ? kUnbounded : known->second;
    }
    if (type == "LOGICAL_MATERIALIZED_CTE" && children.size() == 2) {
      tables_[number_of(node, "table_index")] = of(children[0]);
      return of(children[1]);
    }
    // Several grouping sets yield several rows for one.
    const bool multiplies = list_of(node, "grouping_sets").size() > 1;
    if (!is_harmless(type) || multiplies || children.empty()) return kUnbounded;
    double rows = 1;
    for (const Element& child : children) rows *= of(child);
    return rows;
  }

 private:
  static constexpr double kUnbounded = std::numeric_limits<double>::infinity();

  static bool is_harmless(std::string_view type) {
    static const std::set<std::string, std::less<>> types = {
        "LOGICAL_PROJECTION",      "LOGICAL_FILTER",   "LOGICAL_AGGREGATE_AND_GROUP_BY",
        "LOGICAL_WINDOW",          "LOGICAL_LIMIT",    "LOGICAL_ORDER_BY",
        "LOGICAL_TOP_N",           "LOGICAL_DISTINCT", "LOGICAL_JOIN",
        "LOGICAL_COMPARISON_JOIN", "LOGICAL_ANY_JOIN", "LOGICAL_CROSS_PRODUCT",
        "LOGICAL_UNION",           "LOGICAL_EXCEPT",   "LOGICAL_INTERSECT"};
    return types.contains(type);
  }

  double of_scan(const Element& node) const {
    const auto data = member(node, "function_data");
    if (!largest_stage_ || text_of(node, "name") != "seq_scan" || !data) return kUnbounded;
    if (text_of(*data, "catalog") != lake::kStageDatabase) return kUnbounded;
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
  Reader reader;
  const std::string text = rows->text(0, 1);
  Element parsed;
  if (!reader.read(text, parsed) || !parsed.is_array()) return {};
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
  Reader reader;
  const std::string text = parse::finite_json(rows->text(0, 0));
  Element parsed;
  const bool is_read = reader.read(text, parsed) && parsed.is_object();
  if (!is_read || tells_error(parsed)) {
    if (is_read && text_of(parsed, "error_type") != "not implemented") return plan;
    if (auto done = explain_plan(connection, query, plan); !done) return tl::unexpected(done.error());
    return plan;
  }
  plan.is_known = true;
  collect(parsed, plan);
  for (const std::string& file : plan.files)
    if (connection.objection_to(file)) plan.refused.insert("the file " + file);
  const std::vector<Element> plans = list_of(parsed, "plans");
  if (plans.empty()) return plan;
  const Element& root = plans[0];
  look_at_columns(root, plan);
  plan.columns = columns_of(root);
  constexpr double kCountable = 1e15;
  if (const double rows = RowBound(largest_stage).of(root); rows < kCountable)
    plan.most_rows = static_cast<std::int64_t>(rows);
  return plan;
}

}  // namespace weir::build
