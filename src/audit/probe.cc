// User text (a predicate, a bound) is taken into SQL only after DuckDB has bound it inside `[( … )]`: text that closes
// the bracket early does not parse there, or does not parse inside the `( … )` in which it is used, so it can be
// nothing but one expression.
#include "audit/probe.h"

#include <cctype>
#include <charconv>

#include "build/gate.h"
#include "build/names.h"
#include "parse/readers.h"
#include "text/lexer.h"

namespace weir::audit {
namespace {

using duck::Identifier;
using duck::Literal;
using duck::Sql;
using Problem = std::string;

tl::unexpected<Problem> no(Problem problem) { return tl::unexpected(std::move(problem)); }

// Without one of these words a text holds no query, and so no table function; the parser's gate has judged its calls.
bool may_hold_query(const std::string& text) {
  for (const auto& token : text::lex_code(text)) {
    const std::string_view word = std::string_view(text).substr(token.span.begin, token.span.size());
    for (const std::string_view lead :
         {"SELECT", "FROM", "TABLE", "WITH", "PIVOT", "UNPIVOT", "DESCRIBE", "SUMMARIZE", "SHOW"})
      if (text::same_word(word, lead)) return true;
  }
  return false;
}

tl::expected<Sql, Problem> expression(duck::Connection& clean, const std::string& text, const Sql& relation) {
  const Sql user = Sql::verbatim(parse::with_guarded_readers(text));
  const Sql whole("SELECT [(\n{}\n)] FROM {} AS \"_weir_t\"", user, relation);
  if (const auto bound = clean.describe(whole); !bound) return no(bound.error().message);
  if (may_hold_query(text)) {
    const auto plan = build::bind_plan(clean, whole);
    if (!plan) return no(plan.error().message);
    if (!plan->refused.empty()) return no("a test may not call " + *plan->refused.begin());
    if (!plan->is_known && !plan->is_explained)
      return no("this predicate cannot be checked before it runs; a custom test can");
  }
  return Sql("(\n{}\n)", user);
}

tl::expected<Sql, Problem> predicate(duck::Connection& clean, const std::string& text, const Sql& relation) {
  auto made = expression(clean, text, relation);
  if (!made) return made;
  if (const auto bound = clean.describe(Sql("SELECT 1 FROM {} AS \"_weir_t\" WHERE {}", relation, *made)); !bound)
    return no(bound.error().message);
  return made;
}

/// The column as the table spells it.
tl::expected<const lake::ColumnState*, Problem> column(const AuditRequest& request, const std::string& name) {
  if (const auto* found = build::find_column(request.columns, name); found != nullptr) return found;
  return no("there is no column `" + name + "`");
}

bool is_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error == std::errc() && end == text.data() + text.size() &&
         std::isalpha(static_cast<unsigned char>(text.back())) == 0;
}

bool is_numeric(const std::string& type) {
  return type.ends_with("INT") || type == "INTEGER" || type == "UINTEGER" || type == "FLOAT" || type == "DOUBLE" ||
         type.starts_with("DECIMAL");
}

/// A value of the column's type, if the text is one.
tl::expected<std::optional<Sql>, Problem> typed(duck::Connection& clean, const std::string& text,
                                                const std::string& type) {
  const Sql type_name = Sql::verbatim(type);
  const auto survives = clean.query(Sql("SELECT TRY_CAST({} AS {}) IS NOT NULL", Literal(text), type_name));
  if (!survives) return no(survives.error().message);
  if (!survives->boolean(0, 0)) return std::nullopt;
  return Sql("CAST({} AS {})", Literal(text), type_name);
}

/// A bound of `range`: a plain number, a value of the column's type, or an expression such as current_date.
tl::expected<Sql, Problem> bound_value(duck::Connection& clean, const std::string& text,
                                       const lake::ColumnState& column, const Sql& relation) {
  if (is_number(text) && is_numeric(column.type)) return Sql("({})", Sql::verbatim(text));
  if (!text.starts_with('\'')) {
    auto value = typed(clean, text, column.type);
    if (!value) return no(value.error());
    if (*value) return **value;
  }
  return expression(clean, text, relation);
}

tl::expected<Probe, Problem> not_null(const Test& test, const AuditRequest& request) {
  Probe probe;
  std::vector<Sql> parts;
  for (const auto& name : test.columns) {
    const auto found = column(request, name);
    if (!found) return no(found.error());
    parts.push_back(Sql("{} IS NULL", Identifier((*found)->name)));
  }
  probe.violation = Sql("({})", Sql::join(parts, " OR "));
  return probe;
}

tl::expected<Probe, Problem> accepted_values(duck::Connection& clean, const Test& test, const AuditRequest& request) {
  const auto found = column(request, test.columns.at(0));
  if (!found) return no(found.error());
  std::vector<Sql> values;
  for (const auto& text : test.values) {
    auto value = typed(clean, text, (*found)->type);
    if (!value) return no(value.error());
    if (!*value)
      return no("`" + text + "` is no value of column `" + (*found)->name + "`, whose type is " + (*found)->type);
    values.push_back(std::move(**value));
  }
  Probe probe;
  probe.violation = Sql("{} NOT IN ({})", Identifier((*found)->name), Sql::join(values, ", "));
  return probe;
}

tl::expected<Probe, Problem> range(duck::Connection& clean, const Test& test, const AuditRequest& request,
                                   const Sql& relation) {
  const auto found = column(request, test.columns.at(0));
  if (!found) return no(found.error());
  std::vector<Sql> parts;
  for (const auto& [text, is_minimum] : {std::pair{test.minimum, true}, std::pair{test.maximum, false}}) {
    if (!text) continue;
    const auto value = bound_value(clean, *text, **found, relation);
    if (!value) return no(value.error());
    const Identifier name((*found)->name);
    parts.push_back(is_minimum ? Sql("{} < {}", name, *value) : Sql("{} > {}", name, *value));
  }
  if (parts.empty()) return no("a range needs `min` or `max`");
  Probe probe;
  probe.violation = Sql("({})", Sql::join(parts, " OR "));
  return probe;
}

tl::expected<Probe, Problem> freshness(const Test& test, const AuditRequest& request, const Sql& scope) {
  const auto found = column(request, test.columns.at(0));
  if (!found) return no(found.error());
  const auto seconds = seconds_of(test.text);
  if (!seconds) return no("`" + test.text + "` is no duration; write for example 30m, 2h or 1d");
  Probe probe;
  probe.shape = ProbeShape::Aggregate;
  const Sql newest("CAST(max({}) FILTER (WHERE {}) AS TIMESTAMP)", Identifier((*found)->name), scope);
  probe.violation =
      Sql("CAST(coalesce({} < CAST(now() AS TIMESTAMP) - to_seconds({}), true) AS BIGINT)", newest, *seconds);
  return probe;
}

tl::expected<Probe, Problem> row_count(const Test& test, const Sql& scope) {
  std::vector<Sql> parts;
  for (const auto& [text, is_minimum] : {std::pair{test.minimum, true}, std::pair{test.maximum, false}}) {
    if (!text) continue;
    if (!is_number(*text)) return no("`" + *text + "` is no number of rows");
    const Sql number = Sql::verbatim(*text);
    parts.push_back(is_minimum ? Sql("count(*) FILTER (WHERE {}) < {}", scope, number)
                               : Sql("count(*) FILTER (WHERE {}) > {}", scope, number));
  }
  if (parts.empty()) return no("a row count needs `min` or `max`");
  Probe probe;
  probe.shape = ProbeShape::Aggregate;
  probe.violation = Sql("CAST(({}) AS BIGINT)", Sql::join(parts, " OR "));
  return probe;
}

tl::expected<Probe, Problem> unique(const Test& test, const AuditRequest& request) {
  Probe probe;
  probe.shape = ProbeShape::Groups;
  for (const auto& name : test.columns) {
    const auto found = column(request, name);
    if (!found) return no(found.error());
    probe.columns.push_back((*found)->name);
  }
  return probe;
}

tl::expected<Probe, Problem> relationships(const Test& test, const AuditRequest& request) {
  const auto found = column(request, test.columns.at(0));
  if (!found) return no(found.error());
  if (!test.reference) return no("a relationship needs an asset to look in");
  auto parent = request.resolve(*test.reference);
  if (!parent) return no(parent.error().front().message);
  Probe probe;
  probe.shape = ProbeShape::Parents;
  probe.columns = {(*found)->name};
  probe.parent = std::move(*parent);
  probe.parent_column = test.reference_column;
  return probe;
}

tl::expected<Probe, Problem> of_kind(duck::Connection& clean, const Test& test, const AuditRequest& request,
                                     const Sql& scope) {
  const Sql& relation = relation_of(test, request);
  switch (test.kind) {
    case TestKind::Unique:
      return unique(test, request);
    case TestKind::NotNull:
      return not_null(test, request);
    case TestKind::AcceptedValues:
      return accepted_values(clean, test, request);
    case TestKind::Relationships:
      return relationships(test, request);
    case TestKind::Range:
      return range(clean, test, request, relation);
    case TestKind::Pattern: {
      const auto found = column(request, test.columns.at(0));
      if (!found) return no(found.error());
      Probe probe;
      probe.violation =
          Sql("NOT regexp_matches(CAST({} AS VARCHAR), {})", Identifier((*found)->name), Literal(test.text));
      return probe;
    }
    case TestKind::Expression: {
      const auto holds = predicate(clean, test.text, relation);
      if (!holds) return no(holds.error());
      Probe probe;
      probe.violation = Sql("NOT {}", *holds);
      return probe;
    }
    case TestKind::Freshness:
      return freshness(test, request, scope);
    case TestKind::RowCount:
      return row_count(test, scope);
    case TestKind::Custom:
    case TestKind::Sql:
      break;
  }
  Probe probe;
  probe.shape = ProbeShape::Query;
  return probe;
}

}  // namespace

const Sql& relation_of(const Test& test, const AuditRequest& request) {
  return test.scope == TestScope::Table ? request.table : request.slice;
}

tl::expected<Probe, Problem> make_probe(duck::Connection& clean, const Test& test, const AuditRequest& request) {
  Sql scope("true");
  if (!test.where.empty() && test.kind != TestKind::Custom && test.kind != TestKind::Sql) {
    auto made = predicate(clean, test.where, relation_of(test, request));
    if (!made) return no("where: " + made.error());
    scope = std::move(*made);
  }
  auto probe = of_kind(clean, test, request, scope);
  if (!probe) return probe;
  probe->scope = std::move(scope);
  if (probe->shape == ProbeShape::Rows) {
    // What only this test can get wrong (a pattern that is none, types that do not compare) must not spoil the scan
    // that others share.
    const auto bound = clean.describe(Sql("SELECT count_if({} AND {}) FROM {} AS \"_weir_t\"", probe->scope,
                                          probe->violation, relation_of(test, request)));
    if (!bound) return no(bound.error().message);
  }
  return probe;
}

std::optional<std::int64_t> seconds_of(const std::string& duration) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(duration.data(), duration.data() + duration.size(), count);
  if (error != std::errc() || count <= 0) return std::nullopt;
  const std::string unit(end, duration.data() + duration.size());
  std::int64_t factor = 0;
  if (unit.empty() || unit == "s") factor = 1;
  if (unit == "m") factor = 60;
  if (unit == "h") factor = 3600;
  if (unit == "d") factor = 86400;
  if (unit == "w") factor = 604800;
  if (factor == 0 || count > 3'000'000'000 / factor * 100) return std::nullopt;
  return count * factor;
}

}  // namespace weir::audit
