#include "bind/plan_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bind/plan_read.h"

namespace weir::bind::plan {
namespace {

constexpr std::array kClasses{
    "BOUND_REF",       "BOUND_COLUMN_REF", "BOUND_CONSTANT",    "BOUND_PARAMETER", "BOUND_DEFAULT", "BOUND_FUNCTION",
    "BOUND_CAST",      "BOUND_COMPARISON", "BOUND_CONJUNCTION", "BOUND_OPERATOR",  "BOUND_CASE",    "BOUND_BETWEEN",
    "BOUND_AGGREGATE", "BOUND_WINDOW",     "BOUND_UNNEST",      "BOUND_EXPANDED",  "BOUND_LAMBDA",  "BOUND_LAMBDA_REF"};

// Members that hold no operand: types, constants, and what a function made of its arguments when it was bound. The body
// of a lambda lies there too; what it captures is among the function's children, its parameters are elements of them.
constexpr std::array kNoOperands{"return_type",    "function_data", "arguments", "original_arguments", "value",
                                 "parameter_data", "lambda_expr",   "binding",   "expression_class",   "type"};

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<const char*, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

Result<const Column*> referred(Element reference, std::string_view kind, std::span<const Column> columns) {
  if (kind == "BOUND_REF") {
    const std::uint64_t index = number(reference, "index", kNoIndex);
    if (index < columns.size()) return &columns[index];
  } else if (const auto binding = member(reference, "binding")) {
    const std::uint64_t table = number(*binding, "table_index", kNoIndex);
    const std::uint64_t column = number(*binding, "column_index", kNoIndex);
    for (const Column& each : columns)
      if (each.table_index == table && each.column_index == column) return &each;
  }
  return fail(incomplete(fmt::format("the reference {} leads nowhere", text(reference, "alias"))));
}

/// Collects the references below `expression`, which may nest as deep as the user wrote: hence a list of open ones.
Result<void> collect(Element expression, std::span<const Column> columns, const Origins& origins, ValueKind floor,
                     std::string_view left_out, Origin& all) {
  std::vector<Element> open{expression};
  while (!open.empty()) {
    const Element at = open.back();
    open.pop_back();
    const std::string_view kind = text(at, "expression_class");
    if (kind == "BOUND_REF" || kind == "BOUND_COLUMN_REF") {
      WEIR_TRY(const Column* column, referred(at, kind, columns));
      merge(all, origins.of(column->origin), floor);
      continue;
    }
    if (!kind.empty() && !is_one_of(kind, kClasses))
      return fail(incomplete(fmt::format("expressions of the class {} are not known", kind)));
    simdjson::dom::object object;
    if (at.get(object) != simdjson::SUCCESS) continue;
    for (const auto field : object) {
      if (is_one_of(field.key, kNoOperands) || field.key == left_out) continue;
      if (field.value.is_object()) open.push_back(field.value);
      simdjson::dom::array array;
      if (field.value.get(array) == simdjson::SUCCESS)
        for (const Element each : array)
          if (each.is_object()) open.push_back(each);
    }
    left_out = {};
  }
  return {};
}

/// `CASE WHEN count > 1 THEN error(…) ELSE value END`, which DuckDB puts around a scalar subquery.
const Column* single_value(Element expression, std::span<const Column> columns) {
  if (text(expression, "expression_class") != "BOUND_CASE") return nullptr;
  const auto otherwise = member(expression, "else_expr");
  const auto checks = members(expression, "case_checks");
  if (!otherwise || checks.size() != 1 || text(*otherwise, "expression_class") != "BOUND_REF") return nullptr;
  const auto then = member(checks.front(), "then_expr");
  const std::uint64_t index = number(*otherwise, "index", kNoIndex);
  if (!then || text(*then, "name") != "error" || index >= columns.size()) return nullptr;
  return columns[index].is_single_value ? &columns[index] : nullptr;
}

std::optional<Element> type_of(Element expression) {
  if (const auto type = member(expression, "return_type")) return type;
  if (const auto value = member(expression, "value"))
    if (value->is_object()) return member(*value, "type");
  return std::nullopt;
}

}  // namespace

Diagnostic incomplete(std::string what) {
  return {.code = Code::W2190,
          .severity = Severity::Warning,
          .message = "the lineage of this query is not known: " + std::move(what),
          .hint = "declare it with `-- column out <- asset.column`"};
}

Result<Value> evaluate(Element expression, std::span<const Column> columns, const Origins& origins, ValueKind floor,
                       std::string_view left_out) {
  Value value;
  value.type = type_of(expression);
  const std::string_view kind = text(expression, "expression_class");
  if (kind == "BOUND_REF" || kind == "BOUND_COLUMN_REF") {
    WEIR_TRY(value.column, referred(expression, kind, columns));
    value.origin = origins.of(value.column->origin);
    return value;
  }
  if (const Column* inner = single_value(expression, columns)) {
    value.column = inner;
    value.origin = origins.of(inner->origin);
    return value;
  }
  if (kind == "BOUND_FUNCTION" && text(expression, "name") == "unpivot_list") {
    for (const Element child : members(expression, "children")) {
      WEIR_TRY(const Value one, evaluate(child, columns, origins, floor));
      merge(value.origin, one.origin, ValueKind::Copy);
    }
    return value;
  }
  WEIR_CHECK(collect(expression, columns, origins, floor, left_out, value.origin));
  return value;
}

Result<void> decide(Element expression, std::span<const Column> columns, const Origins& origins, RowRole role,
                    bool but_outer, Numbers& rows) {
  WEIR_TRY(const Value value, evaluate(expression, columns, origins, ValueKind::Expression));
  if (but_outer && value.column != nullptr && value.column->outer) return {};
  decide(rows, value.origin, role);
  return {};
}

}  // namespace weir::bind::plan
