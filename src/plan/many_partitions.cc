#include "plan/many_partitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/result.h"
#include "plan/query_tree.h"
#include "text/lexer.h"

namespace weir::plan {
namespace {

using tree::is_class;
using tree::is_type;
using tree::Json;
using tree::member;
using tree::Names;
using tree::text;

/// Aggregates whose result does not depend on the order of the rows.
bool ignores_order(std::string_view name) {
  static const std::set<std::string_view> names = {
      "count",    "count_star", "count_if",      "countif",       "sum",
      "avg",      "mean",       "min",           "max",           "bool_and",
      "bool_or",  "bit_and",    "bit_or",        "bit_xor",       "median",
      "product",  "stddev",     "stddev_samp",   "stddev_pop",    "variance",
      "var_samp", "var_pop",    "quantile_cont", "quantile_disc", "approx_count_distinct"};
  return names.contains(name);
}

bool is_token(const Json& expression) {
  if (!is_class(expression, "CONSTANT")) return false;
  return text(member(expression, "value"), "value") == kAnyPartition;
}

/// Texts that are the token, or hold it.
std::size_t tokens_in(const Json& part) {
  if (part.is_string()) return part.get_ref<const std::string&>().find(kAnyPartition) == std::string::npos ? 0 : 1;
  std::size_t count = 0;
  if (part.is_structured())
    for (const Json& one : part) count += tokens_in(one);
  return count;
}

/// Calls `visit` for every expression of one level: not within subqueries.
void walk_level(const Json& part, const std::function<void(const Json&)>& visit) {
  tree::walk(part, [&visit](const Json& object) {
    visit(object);
    return !is_class(object, "SUBQUERY");
  });
}

bool has_class(const Json& part, std::string_view wanted) {
  bool found = false;
  walk_level(part, [&](const Json& object) { found = found || is_class(object, wanted); });
  return found;
}

std::string function_of(const Json& object) { return text::lower(text(object, "function_name")); }

Json column_of_row() {
  return {{"class", "COLUMN_REF"},
          {"type", "COLUMN_REF"},
          {"alias", ""},
          {"column_names", Json::array({std::string(kPartitionOfRow)})}};
}

Json text_constant(const std::string& value) {
  return {{"class", "CONSTANT"},
          {"type", "VALUE_CONSTANT"},
          {"alias", ""},
          {"value", {{"type", {{"id", "VARCHAR"}, {"type_info", nullptr}}}, {"is_null", false}, {"value", value}}}};
}

Json cast_to(const char* type, const Json& child) {
  return {{"class", "CAST"},
          {"type", "OPERATOR_CAST"},
          {"alias", ""},
          {"child", child},
          {"cast_type", {{"id", type}, {"type_info", nullptr}}},
          {"try_cast", false}};
}

class Widening {
 public:
  Widening(const parse::FunctionKinds& functions, const PartitionNames& partitions)
      : functions_(functions), partitions_(partitions) {}

  /// Widens the root; if it cannot, `why` says why.
  bool widen(Json& root) {
    if (!judge_whole(root)) return false;
    Names tagged;
    if (!widen_select(root, tagged)) return false;
    if (is_tagged_) return true;
    return refuse("the partition does not reach the result");
  }

  std::string why;

 private:
  bool refuse(std::string reason) {
    if (why.empty()) why = std::move(reason);
    return false;
  }

  bool is_aggregate(const Json& object) const {
    return is_class(object, "FUNCTION") && functions_.aggregates.contains(function_of(object));
  }

  /// What is refused wherever it stands.
  bool judge_whole(const Json& root) {
    const std::size_t tokens = tokens_in(root);
    if (tokens == 0) return refuse("its query does not name the partition");
    if (tokens > 1) return refuse("its query names the partition more than once");
    tree::walk(root, [this](const Json& object) {
      judge_object(object);
      return why.empty();
    });
    return why.empty();
  }

  void judge_object(const Json& object) {
    const std::string_view type = text(object, "type");
    if (type == "LIMIT_MODIFIER" || type == "LIMIT_PERCENT_MODIFIER") refuse("it has a LIMIT");
    if (object.contains("sample") && !object.at("sample").is_null()) refuse("it takes a sample");
    if (is_class(object, "POSITIONAL_REFERENCE")) refuse("it names columns by their place");
    if (is_class(object, "STAR") && member(object, "columns") == Json(true)) refuse("it uses COLUMNS");
    if (!is_class(object, "FUNCTION") && !is_class(object, "WINDOW")) return;
    const std::string name = function_of(object);
    const std::string schema = text::lower(text(object, "schema"));
    const bool is_own = name == "wm_partition" || name == "weir_partition";
    const bool is_builtin = (schema.empty() || schema == "main" || schema == "pg_catalog") &&
                            (text(object, "catalog").empty() || text(object, "catalog") == "system");
    if (!is_own && (!is_builtin || !functions_.known.contains(name)))
      refuse(fmt::format("it calls the macro {}", name));
    if (functions_.volatiles.contains(name)) refuse(fmt::format("it calls {}, whose result may change", name));
    const bool is_ordered = is_class(object, "WINDOW")
                                ? !member(object, "orders").empty() || !member(object, "arg_orders").empty()
                                : !member(member(object, "order_bys"), "orders").empty();
    const bool looks_at_many = is_class(object, "WINDOW") || is_aggregate(object);
    if (looks_at_many && !is_ordered && !ignores_order(name))
      refuse(fmt::format("the result of {} depends on the order of the rows", name));
  }

  /// True if a subquery of an expression reads what carries the partition, or names it.
  bool hides_partition(const Json& part, const Names& tagged) const {
    bool found = false;
    tree::walk(part, [&](const Json& object) {
      if (is_class(object, "SUBQUERY"))
        tree::walk(member(object, "subquery"), [&](const Json& inner) {
          found = found || (is_type(inner, "BASE_TABLE") && is_tagged_name(inner, tagged)) || is_token(inner);
          return true;
        });
      return true;
    });
    return found;
  }

  static bool is_tagged_name(const Json& table, const Names& tagged) {
    return text(table, "schema_name").empty() && tagged.contains(text::lower(text(table, "table_name")));
  }

  static bool reads_tagged(const Json& part, const Names& tagged) {
    bool found = false;
    tree::walk(part, [&](const Json& object) {
      found = found || (is_type(object, "BASE_TABLE") && is_tagged_name(object, tagged)) || is_token(object);
      return true;
    });
    return found;
  }

  /// Widens a query; is_tagged_ says whether its rows carry the partition. `tagged`: CTEs whose rows do.
  bool widen_select(Json& node, Names tagged) {
    is_tagged_ = false;
    if (!is_type(node, "SELECT_NODE")) {
      if (!reads_tagged(node, tagged)) return true;
      return refuse(is_type(node, "SET_OPERATION_NODE") ? "the partition stands below a set operation"
                                                        : "the partition stands in a recursive query");
    }
    for (Json& cte : node["cte_map"]["map"]) {
      const std::string name = text::lower(text(cte, "key"));
      if (!widen_select(cte["value"]["query"]["node"], tagged)) return false;
      if (is_tagged_ && !member(cte["value"], "aliases").empty())
        return refuse("a WITH clause gives its columns other names");
      if (is_tagged_)
        tagged.insert(name);
      else
        tagged.erase(name);
    }
    std::string source;
    if (!widen_from(node["from_table"], tagged, source)) return false;
    const bool is_nested = is_tagged_;
    Json tag;
    if (is_nested) tag = column_of_row();
    for (const char* clause : {"select_list", "where_clause", "having", "qualify", "group_expressions", "modifiers"})
      if (hides_partition(member(node, clause), tagged))
        return refuse("a subquery of an expression reads the partition");
    if (!take_condition(node, tag)) return false;
    is_tagged_ = !tag.is_null();
    if (!is_tagged_) {
      for (const char* clause : {"select_list", "having", "qualify", "group_expressions", "modifiers"})
        if (tokens_in(member(node, clause)) > 0) return refuse("the partition stands outside of WHERE");
      return true;
    }
    return carry(node, tag, is_nested ? std::optional(source) : std::nullopt);
  }

  /// `source` becomes the name of the relation whose rows carry the partition.
  bool widen_from(Json& from, const Names& tagged, std::string& source) {
    is_tagged_ = false;
    if (is_type(from, "BASE_TABLE")) {
      is_tagged_ = is_tagged_name(from, tagged);
      if (is_tagged_ && !member(from, "column_name_alias").empty()) return refuse("an alias renames columns");
      source = text::lower(text(from, "alias").empty() ? text(from, "table_name") : text(from, "alias"));
      return true;
    }
    if (is_type(from, "SUBQUERY")) {
      if (!widen_select(from["subquery"]["node"], tagged)) return false;
      if (is_tagged_ && !member(from, "column_name_alias").empty()) return refuse("an alias renames columns");
      source = text::lower(text(from, "alias"));
      return true;
    }
    if (is_type(from, "JOIN")) return widen_join(from, tagged, source);
    if (reads_tagged(from, tagged)) return refuse("the partition stands in a part of FROM that cannot carry it");
    return true;
  }

  bool widen_join(Json& join, const Names& tagged, std::string& source) {
    std::string right_source;
    if (!widen_from(join["left"], tagged, source)) return false;
    const bool left = is_tagged_;
    if (!widen_from(join["right"], tagged, right_source)) return false;
    const bool right = is_tagged_;
    is_tagged_ = left || right;
    if (reads_tagged(member(join, "condition"), tagged))
      return refuse("the partition stands in the condition of a join");
    if (!is_tagged_) return true;
    if (left && right) return refuse("rows of the partition are joined with each other");
    const std::string_view type = text(join, "join_type");
    const std::string_view form = text(join, "ref_type");
    const bool is_plain = form == "REGULAR" || form == "CROSS" || form == "NATURAL";
    if (!is_plain || (type != "INNER" && !(type == "LEFT" && left)))
      return refuse("the partition stands below a join that is neither inner nor a left join from its side");
    if (right) source = right_source;
    return true;
  }

  /// Takes `E = {partition}` out of the WHERE clause, if it stands there; `tag` becomes E.
  bool take_condition(Json& node, Json& tag) {
    Json& where = node["where_clause"];
    if (tokens_in(where) == 0) return true;
    if (!tag.is_null()) return refuse("its query names the partition more than once");
    Json* condition = &where;
    std::size_t at = 0;
    Json* all = nullptr;
    if (is_type(where, "CONJUNCTION_AND")) {
      all = &where["children"];
      while (at < all->size() && tokens_in((*all)[at]) == 0) ++at;
      condition = &(*all)[at];
    }
    if (!is_type(*condition, "COMPARE_EQUAL"))
      return refuse("the partition stands in no condition <expression> = {partition}");
    Json& left = (*condition)["left"];
    Json& right = (*condition)["right"];
    if (!is_token(left) && !is_token(right))
      return refuse("the partition stands in no condition <expression> = {partition}");
    tag = is_token(left) ? right : left;
    if (has_class(tag, "SUBQUERY") || has_class(tag, "WINDOW") || !has_class(tag, "COLUMN_REF"))
      return refuse("what is compared with the partition does not look at one row only");
    if (is_class(tag, "CAST") && text(member(tag, "cast_type"), "id") == "DATE") {
      if (!partitions_.are_dates) return refuse("a date is compared with the name of a partition that is none");
      tag = cast_to("VARCHAR", tag);
    }
    tag["alias"] = "";
    Json wanted = asked_for(tag);
    if (all == nullptr || !is_type(wanted, "CONJUNCTION_AND")) {
      *condition = std::move(wanted);
      return true;
    }
    // DuckDB reads an AND within an AND as one list.
    all->erase(at);
    for (Json& one : wanted["children"]) all->push_back(std::move(one));
    return true;
  }

  /// A condition that holds for all rows of the partitions that are asked for.
  Json asked_for(const Json& tag) const {
    // wm_partition(column), and the text of CAST(… AS DATE), order as the time beneath does.
    const Json* time = nullptr;
    if (is_class(tag, "CAST") && is_class(tag["child"], "CAST")) time = &tag["child"];
    if (function_of(tag) == "wm_partition" && tag["children"].size() == 1 && is_class(tag["children"][0], "COLUMN_REF"))
      time = &tag["children"][0];
    if (time != nullptr && !partitions_.begin.empty())
      return {{"class", "CONJUNCTION"},
              {"type", "CONJUNCTION_AND"},
              {"alias", ""},
              {"children", Json::array({compared("COMPARE_GREATERTHANOREQUALTO", *time, partitions_.begin),
                                        compared("COMPARE_LESSTHAN", *time, partitions_.end)})}};
    Json choices = Json::array({tag});
    for (const std::string& name : partitions_.names) choices.push_back(text_constant(name));
    return {{"class", "OPERATOR"}, {"type", "COMPARE_IN"}, {"alias", ""}, {"children", std::move(choices)}};
  }

  static Json compared(const char* type, const Json& time, const std::string& bound) {
    return {{"class", "COMPARISON"},
            {"type", type},
            {"alias", ""},
            {"left", time},
            {"right", cast_to("TIMESTAMP", text_constant(bound))}};
  }

  /// Lets the rows of one SELECT carry `tag`. `source`: the relation that holds it as a column already.
  bool carry(Json& node, const Json& tag, const std::optional<std::string>& source) {
    if (!judge_level(node, source)) return false;
    if (source) leave_out_of_stars(node, *source);
    for (const char* clause : {"select_list", "qualify", "modifiers"}) split_windows(node[clause], tag);
    if (!split_groups(node, tag)) return false;
    Json item = tag;
    item["alias"] = std::string(kPartitionOfRow);
    node["select_list"].push_back(std::move(item));
    return true;
  }

  bool judge_level(const Json& node, const std::optional<std::string>& source) {
    for (const Json& modifier : node["modifiers"])
      if (is_type(modifier, "DISTINCT_MODIFIER") && !member(modifier, "distinct_on_targets").empty())
        return refuse("it has a DISTINCT ON");
    for (const Json& item : node["select_list"]) {
      if (has_class(item, "WINDOW") && text(item, "alias").empty()) return refuse("a window function has no name (AS)");
      if (!is_class(item, "STAR") && has_class(item, "STAR")) return refuse("a star stands within an expression");
    }
    bool is_row = false;
    walk_level(node, [&](const Json& object) {
      const Json& names = member(object, "column_names");
      if (source && is_class(object, "COLUMN_REF") && names.size() == 1 && names[0].is_string() &&
          text::lower(names[0].get_ref<const std::string&>()) == *source)
        is_row = true;
    });
    if (is_row) return refuse(fmt::format("it uses {} as a value", *source));
    return true;
  }

  static void leave_out_of_stars(Json& node, const std::string& source) {
    for (Json& item : node["select_list"]) {
      if (!is_class(item, "STAR")) continue;
      const std::string relation = text::lower(text(item, "relation_name"));
      if (relation.empty() || relation == source) item["exclude_list"].push_back(std::string(kPartitionOfRow));
    }
  }

  void split_windows(Json& part, const Json& tag) {
    if (part.is_object() && is_class(part, "SUBQUERY")) return;
    if (part.is_structured())
      for (Json& one : part) split_windows(one, tag);
    if (part.is_object() && is_class(part, "WINDOW")) part["partitions"].push_back(tag);
  }

  bool split_groups(Json& node, const Json& tag) {
    bool has_aggregates = !node["having"].is_null();
    for (const char* clause : {"select_list", "having", "qualify", "modifiers"})
      walk_level(node[clause], [&](const Json& object) { has_aggregates = has_aggregates || is_aggregate(object); });
    Json& groups = node["group_expressions"];
    Json& sets = node["group_sets"];
    if (text(node, "aggregate_handling") == "FORCE_AGGREGATES") {
      for (const Json& item : node["select_list"]) {
        bool is_total = false;
        walk_level(item, [&](const Json& object) { is_total = is_total || is_aggregate(object); });
        if (!is_total && has_class(item, "COLUMN_REF")) return true;  // the new item becomes a key by itself
      }
      return refuse("an aggregate without keys has a row for an empty partition too");
    }
    if (!has_aggregates && groups.empty() && sets.empty()) return true;
    if (groups.empty()) return refuse("an aggregate without keys has a row for an empty partition too");
    if (sets.size() != 1 || sets[0].size() != groups.size()) return refuse("it has grouping sets");
    sets[0].push_back(groups.size());
    groups.push_back(tag);
    return true;
  }

  const parse::FunctionKinds& functions_;
  const PartitionNames& partitions_;
  bool is_tagged_ = false;
};

}  // namespace

ManyPartitions many_partitions(const std::string& answer, const parse::FunctionKinds& functions,
                               const PartitionNames& partitions) {
  auto whole = tree::document(answer);
  if (!whole) return {.tree = {}, .why = "DuckDB gives no tree of its query"};
  if (text::lower(answer).find(kPartitionOfRow) != std::string::npos)
    return {.tree = {}, .why = fmt::format("it has a column {}", kPartitionOfRow)};
  Widening widening(functions, partitions);
  if (!widening.widen((*whole)["statements"][0]["node"])) return {.tree = {}, .why = widening.why};
  return {.tree = whole->dump(-1, ' ', false, Json::error_handler_t::replace), .why = {}};
}

PartitionNames names_of(const Model& model, std::vector<std::string> partitions) {
  PartitionNames known;
  const calendar::Partitioning& partitioning = *model.partitioning;
  const bool is_own_form = !partitioning.has_own_format && partitioning.kind != calendar::PartitionKind::Dynamic;
  known.are_dates = is_own_form && partitioning.kind == calendar::PartitionKind::Daily;
  for (const std::string& partition : partitions) {
    if (!is_own_form) break;
    const auto slot = calendar::slot_named(partitioning, partition);
    if (!slot) continue;
    if (known.begin.empty() || slot->local_begin < known.begin) known.begin = slot->local_begin;
    if (known.end.empty() || slot->local_end > known.end) known.end = slot->local_end;
  }
  known.names = std::move(partitions);
  return known;
}

std::string reason_against_many(const Model& model) {
  if (!model.partitioning) return "it has no partitions";
  if (model.is_volatile) return "its query calls a function whose result may change at any time";
  const bool has_macro = std::any_of(
      model.script.statements.begin(), model.script.statements.end(),
      [](const parse::Statement& statement) { return statement.kind == parse::StatementKind::CreateTempMacro; });
  if (has_macro || !model.macros.empty()) return "it uses macros";
  return {};
}

ManyQuery many_query(duck::Connection& connection, const parse::Spliced& query,
                     const std::vector<parse::Spliced>& setup, const PartitionNames& partitions) {
  for (const parse::Spliced& statement : setup)
    if (statement.text().find(kAnyPartition) != std::string::npos)
      return {.sql = {}, .why = "its setup names the partition"};
  const auto functions = parse::function_kinds(connection);
  if (!functions) return {.sql = {}, .why = functions.error().message};
  const auto serialized = [&connection](const duck::Sql& sql) -> std::string {
    const auto rows = connection.query(
        duck::Sql("SELECT CAST(system.main.json_serialize_sql({}) AS VARCHAR)", duck::Literal(sql.text())));
    return rows ? rows->text(0, 0) : std::string();
  };
  const ManyPartitions many = many_partitions(serialized(query.sql()), **functions, partitions);
  if (many.tree.empty()) return {.sql = {}, .why = many.why};
  const auto written =
      connection.query(duck::Sql("SELECT system.main.json_deserialize_sql({})", duck::Literal(many.tree)));
  if (!written) return {.sql = {}, .why = "DuckDB does not write the query that was found"};
  duck::Sql sql = duck::Sql::verbatim(written->text(0, 0));
  // DuckDB's own rendering is trusted only where it is read back as it was.
  if (tree::comparable(serialized(sql)) != tree::comparable(many.tree))
    return {.sql = {}, .why = "DuckDB reads the query that was found another way"};
  return {.sql = std::move(sql), .why = {}};
}

}  // namespace weir::plan
