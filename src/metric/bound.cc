// Warnings of declarations over the columns of their table: an empty stand-in of the table's name takes its place, and
// DuckDB binds. Whether an expression is an aggregate is asked by binding it as a WHERE, where none may stand; nothing
// is ever computed, since a text may hold a subquery that reads.
#include <fmt/format.h>

#include <algorithm>

#include "io/hash.h"
#include "metric/expression.h"
#include "metric/fit_texts.h"
#include "metric/judge.h"
#include "metric/place.h"
#include "metric/table_path.h"
#include "text/lexer.h"
#include "text/suggest.h"

namespace weir::metric {
namespace {

duck::Sql columns_sql(const std::vector<duck::Column>& columns) {
  std::vector<duck::Sql> parts;
  for (const duck::Column& column : columns)
    parts.push_back(duck::Sql("{} {}", duck::Identifier(column.name), duck::Sql::verbatim(column.type)));
  return duck::Sql::join(parts, ", ");
}

/// A column's name as SQL takes it.
std::string written(const std::string& name) {
  const auto tokens = text::lex(name);
  const bool is_word = tokens.size() == 1 && tokens.front().kind == text::TokenKind::Word;
  return is_word ? name : duck::quote_identifier(name);
}

class BoundJudge {
 public:
  BoundJudge(duck::Connection& connection, const Model& model, const KnownTable& table)
      : connection_(connection), model_(model), table_(table), name_{"", model.target->schema, model.target->name} {}

  Result<Diagnostics> run() {
    auto transaction = duck::Transaction::begin(connection_);
    if (!transaction) return engine_failed(transaction.error());
    for (const duck::Sql& statement : {duck::Sql("CREATE SCHEMA IF NOT EXISTS {}", duck::Identifier(name_.schema)),
                                       duck::Sql("CREATE TABLE {} ({})", name_, columns_sql(table_.columns))})
      if (auto done = connection_.execute(statement); !done) return engine_failed(done.error());
    std::vector<std::string> queries;
    for (const Metric& metric : model_.metrics)
      for (std::string& query : queries_for(metric.expression, metric.filter)) queries.push_back(std::move(query));
    if (auto done = trees_.fetch(connection_, queries); !done) return engine_failed(done.error());
    for (const Metric& metric : model_.metrics) judge(metric);
    transaction->rollback();
    return std::move(found_);
  }

 private:
  static Failed engine_failed(const duck::Failure& failure) {
    return fail(Diagnostic{.code = Code::W4001, .message = "metrics cannot be checked: " + failure.message});
  }

  void say(Code code, Severity severity, std::string message, Span span, std::string hint = {}) {
    found_.push_back({code, severity, std::move(message), model_.source->path, span, std::move(hint)});
  }

  Span place(const Metric& metric, bool in_filter, Span part) const {
    return in_filter ? place_of(*model_.source, metric.filter_span, metric.filter, part)
                     : place_of(*model_.source, metric.expression_span, metric.expression, part);
  }
  static Span whole(const std::string& text) { return {0, static_cast<std::uint32_t>(text.size())}; }

  bool has_column(std::string_view name) const {
    return std::any_of(table_.columns.begin(), table_.columns.end(),
                       [name](const duck::Column& column) { return text::same_word(column.name, name); });
  }

  /// The part of a name that ought to be a column and is none: of `a`, `a.field`, `table.a`, `schema.table.a`.
  std::optional<std::string> missing(const ColumnUse& use) const {
    const auto& parts = use.parts;
    if (has_column(parts.front())) return std::nullopt;
    std::size_t column = 0;
    if (parts.size() > 1 && text::same_word(parts[0], name_.table)) column = 1;
    if (parts.size() > 2 && text::same_word(parts[0], name_.schema) && text::same_word(parts[1], name_.table))
      column = 2;
    if (has_column(parts[column])) return std::nullopt;
    return parts[column];
  }

  std::string table_in_words() const {
    const std::string name = table_path(*model_.target);
    if (!table_.version) return name;
    return table_.captured.empty()
               ? fmt::format("{} (schema version {})", name, *table_.version)
               : fmt::format("{} (schema version {}, captured {})", name, *table_.version, table_.captured);
  }

  /// True if every column is there.
  bool judge_columns(const Metric& metric, bool in_filter) {
    bool all = true;
    for (const ColumnUse& use : columns_of(trees_, in_filter ? metric.filter : metric.expression)) {
      const auto column = missing(use);
      if (!column) continue;
      all = false;
      std::vector<std::string> names;
      for (const duck::Column& known : table_.columns) names.push_back(known.name);
      const auto near = text::nearest(*column, names);
      Diagnostic found{.code = metric.is_measure ? Code::W2210 : Code::W2211, .severity = Severity::Warning};
      found.message = fmt::format("the {} `{}` reads `{}`, which {} does not have",
                                  metric.is_measure ? "measure" : "dimension", metric.name, *column, table_in_words());
      found.path = model_.source->path;
      found.span = place(metric, in_filter, use.span);
      names.resize(std::min<std::size_t>(names.size(), 12));
      found.hint = near ? fmt::format("did you mean `{}`?", *near) : fmt::format("it has {}", fmt::join(names, ", "));
      // The place is that of the first part of a name.
      if (near && use.parts.size() == 1) found.fix = Fix{found.span, written(*near)};
      found_.push_back(std::move(found));
    }
    return all;
  }

  duck::Outcome<std::vector<duck::Column>> bind(const std::string& expression) {
    return connection_.describe(duck::Sql("SELECT {} AS m FROM {}", duck::Sql::verbatim(expression), name_));
  }
  /// True if the text can decide about single rows: it holds neither aggregate nor window function. Requires: it binds.
  bool is_of_a_row(const std::string& expression) {
    return connection_
        .describe(duck::Sql("SELECT 1 AS m FROM {} WHERE ({}) IS NULL", name_, duck::Sql::verbatim(expression)))
        .has_value();
  }

  /// Says why the engine refuses. Positions behind the text are in SQL of ours.
  void refused(const Metric& metric, bool in_filter, const duck::Failure& failure, std::size_t text_begin) {
    const std::string& text = in_filter ? metric.filter : metric.expression;
    Span span = whole(text);
    if (failure.position && *failure.position >= text_begin && *failure.position - text_begin < text.size()) {
      span.begin = static_cast<std::uint32_t>(*failure.position - text_begin);
      for (const text::Token& token : text::lex(text))
        if (token.span.begin <= span.begin && span.begin < token.span.end) span = {span.begin, token.span.end};
    }
    const std::string what = metric.is_measure ? "measure" : "dimension";
    // What follows is a proposal of the engine, which knows its own names alone.
    const std::string message = failure.message.substr(0, failure.message.find('\n'));
    if (failure.type == duck::FailureType::Catalog)
      return say(Code::W2216, Severity::Hint,
                 fmt::format("the {} `{}` cannot be checked: {}", what, metric.name, message),
                 place(metric, in_filter, span));
    say(Code::W2215, Severity::Warning, fmt::format("the {} `{}` cannot be computed: {}", what, metric.name, message),
        place(metric, in_filter, span));
  }

  void judge(const Metric& metric) {
    constexpr std::size_t kSelect = 7;  // SELECT
    const bool has_columns = judge_columns(metric, false);
    const bool has_filter_columns = metric.filter.empty() || judge_columns(metric, true);
    if (!has_columns || !has_filter_columns) return;
    if (!metric.filter.empty() && !judge_filter(metric)) return;
    if (auto bound = bind(rendered(metric.expression, metric.filter)); !bound)
      return refused(metric, false, bound.error(), kSelect);
    const bool is_row = is_of_a_row(rendered(metric.expression, metric.filter));
    const Span span = place(metric, false, whole(metric.expression));
    if (!metric.is_measure && !is_row)
      say(Code::W2213, Severity::Warning,
          fmt::format("the dimension `{}` holds {}, so nothing can be grouped by it", metric.name,
                      has_window(trees_, metric.expression) ? "a window function" : "an aggregate"),
          span, "declare it as a measure, or compute it in the model");
    if (metric.is_measure && (is_row || is_window_of_rows(metric)))
      say(Code::W2212, Severity::Warning,
          fmt::format("the measure `{}` is no aggregate: it gives a value for each row", metric.name), span,
          is_row ? fmt::format("write for example `sum({})`, or declare it as a dimension", metric.expression)
                 : "compute it in the model, and aggregate its column");
  }

  /// A window function over rows, not over the aggregates of groups.
  bool is_window_of_rows(const Metric& metric) {
    if (!has_window(trees_, metric.expression)) return false;
    const auto known = functions(connection_);
    return known && !has_aggregate(trees_, metric.expression, **known);
  }

  bool judge_filter(const Metric& metric) {
    const auto bound = bind(duck::Sql("({})", duck::Sql::verbatim(metric.filter)).text());
    if (!bound) {
      refused(metric, true, bound.error(), 8);
      return false;
    }
    if (bound->front().type == "BOOLEAN") return true;
    say(Code::W2214, Severity::Warning,
        fmt::format("the filter of the measure `{}` is of type {}, not BOOLEAN", metric.name, bound->front().type),
        place(metric, true, whole(metric.filter)), "write a comparison");
    return false;
  }

  duck::Connection& connection_;
  const Model& model_;
  const KnownTable& table_;
  duck::TableName name_;
  parse::Trees trees_;
  Diagnostics found_;
};

/// What the warnings of a model depend on.
std::string key_of(const Model& model, const KnownTable& table) {
  std::string text = model.target->key();
  const auto add = [&text](std::string_view part) { text += fmt::format("{}:{}", part.size(), part); };
  for (const duck::Column& column : table.columns) {
    add(column.name);
    add(column.type);
  }
  for (const Metric& metric : model.metrics) {
    add(metric.is_measure ? "measure" : "dimension");
    add(metric.expression);
    add(metric.filter);
  }
  return io::xxh3_hex(text);
}

}  // namespace

Result<Diagnostics> bound_warnings(duck::Connection& connection, const Model& model, const KnownTable& table) {
  if (model.metrics.empty() || table.columns.empty()) return Diagnostics{};
  return BoundJudge(connection, model, table).run();
}

Result<Diagnostics> bound_warnings(const Project& project, const TableOf& table_of, ParserProvider& parser,
                                   FitTexts& fit) {
  Diagnostics all;
  for (const Model& model : project.models) {
    if (model.metrics.empty()) continue;
    const auto table = table_of(model);
    if (!table) continue;
    const std::string key = key_of(model, *table);
    if (fit.contains(key)) continue;
    const auto connection = parser.connection();
    if (!connection)
      return fail(
          Diagnostic{.code = Code::W4001, .message = "DuckDB cannot be started: " + connection.error().message});
    WEIR_TRY(Diagnostics found, bound_warnings(**connection, model, *table));
    if (found.empty()) fit.add(key);
    std::move(found.begin(), found.end(), std::back_inserter(all));
  }
  return all;
}

std::string bound_cache_of(const Project& project) { return project.config.root + "/.weir/cache/metrics-bound"; }

}  // namespace weir::metric
