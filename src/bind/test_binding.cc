#include "bind/test_binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "bind/breach.h"
#include "bind/query_place.h"
#include "project/validity.h"
#include "project/window_rows.h"
#include "text/lexer.h"

namespace weir::bind {
namespace {

/// Values and predicates that only the engine can judge, gathered for one model.
class Declarations {
 public:
  Declarations(ModelBinding& binding, KnownAssets& known, const std::function<duck::Connection*()>& connection)
      : binding_(binding), known_(known), connection_(connection), model_(*binding.model) {
    for (const BoundColumn& column : binding.bound.columns) columns_.push_back({column.name, column.type});
  }

  duck::Outcome<void> run() {
    check_keys();
    check_time_column();
    for (const Test& test : model_.tests) check(test);
    check_lineage();
    add_declared_lineage(binding_, known_);
    if (failure_) return tl::unexpected(*failure_);
    return {};
  }

 private:
  const duck::Column* column(std::string_view name) const {
    const auto found = std::find_if(columns_.begin(), columns_.end(),
                                    [name](const duck::Column& one) { return text::same_word(one.name, name); });
    return found == columns_.end() ? nullptr : &*found;
  }

  Diagnostic& report(Code code, Span span, std::string message, std::string hint = {}) {
    binding_.found.push_back({code, Severity::Error, std::move(message), model_.source->path, span, std::move(hint)});
    return binding_.found.back();
  }

  /// A test that does not block when it fails does not block when it cannot run.
  Diagnostic& report_test(const Test& test, Code code, Span span, std::string message, std::string hint = {}) {
    Diagnostic& made = report(code, span, std::move(message), std::move(hint));
    if (test.severity != TestSeverity::Error) made.severity = Severity::Warning;
    return made;
  }

  Span place_of(Span within, std::string_view name) const { return place_of_word(model_.source->text, within, name); }

  /// Options stand behind the target on its line.
  Span place_of_option(std::string_view name) const {
    const std::size_t end = model_.source->text.find('\n', model_.target_span.begin);
    const Span line{model_.target_span.begin, static_cast<std::uint32_t>(std::min(end, model_.source->text.size()))};
    const Span found = place_of(line, name);
    return found == line ? model_.target_span : found;
  }

  /// Where the header names the time column.
  Span place_of_time_column() const {
    const Span file{0, static_cast<std::uint32_t>(model_.source->text.size())};
    const Span option = place_of(file, "time_column");
    if (option == file) return model_.target_span;
    const Span rest{option.end, file.end};
    const Span found = place_of(rest, model_.time_column);
    return found == rest ? option : found;
  }

  /// As a run would say it.
  void check_time_column() {
    if (!is_windowed(model_) || model_.time_column.empty()) return;
    const duck::Column* time = column(model_.time_column);
    if (time != nullptr && has_time(time->type)) return;
    const Span span = place_of_time_column();
    if (time == nullptr) {
      suggest(report(Code::W0162, span, fmt::format("the query returns no column {}", model_.time_column)),
              model_.time_column, names_of(columns_), span);
      return;
    }
    report(
        Code::W0162, span, fmt::format("{} is {}, which places no row in a window", time->name, time->type),
        fmt::format("return it as a TIMESTAMP, for example CAST({} AS TIMESTAMP)", duck::quote_identifier(time->name)));
  }

  void check_keys() {
    const std::vector<std::string> times =
        model_.valid_from.empty() ? std::vector<std::string>{} : std::vector{model_.valid_from};
    if (const duck::Column* time = times.empty() ? nullptr : column(times.front());
        time != nullptr && !has_time(time->type))
      report(Code::W6036, place_of_option(times.front()),
             fmt::format("valid_from= names `{}`, which is of type {}", time->name, time->type),
             "its values must be DATE, TIMESTAMP or TIMESTAMPTZ: cast them in the query");
    for (const auto& [names_of_kind, kind] : {std::pair{&model_.key, "key"}, std::pair{&model_.track, "track"},
                                              std::pair{&model_.order, "order"}, std::pair{&times, "valid_from"}})
      for (const std::string& name : *names_of_kind)
        if (column(name) == nullptr) {
          const Span span = place_of_option(name);
          suggest(report(Code::W6011, span, fmt::format("{}= names `{}`, which the query does not return", kind, name)),
                  name, names_of(columns_), span);
        }
  }

  /// Columns that the table has besides those of the query.
  bool is_added(std::string_view name) const {
    if (text::same_word(name, "_wm_partition") || (model_.keep_hash && text::same_word(name, kHashColumn))) return true;
    return model_.is_history() && validity_columns(model_).contains(name);
  }

  void check(const Test& test) {
    bool all_there = true;
    for (const std::string& name : test.columns) {
      if (column(name) != nullptr || is_added(name)) continue;
      all_there = false;
      const Span span = place_of(test.span, name);
      suggest(
          report_test(test, Code::W2130, span,
                      fmt::format("the test {} is of a column `{}` that the query does not return", test.name, name)),
          name, names_of(columns_), span);
    }
    const bool is_query = test.kind == TestKind::Custom || test.kind == TestKind::Sql;
    if (!test.where.empty() && !is_query) check_predicate(test, test.where);
    if (test.kind == TestKind::Expression) check_predicate(test, test.text);
    if (!all_there || test.columns.empty()) return;
    const duck::Column* first = column(test.columns.front());
    if (first == nullptr) return;
    if (test.kind == TestKind::AcceptedValues) check_values(test, *first);
    if (test.kind == TestKind::Range) check_range(test, *first);
    if (test.kind == TestKind::Pattern)
      check_engine(test, test.text, duck::Sql("SELECT regexp_matches('', {})", duck::Literal(test.text)), 0, true);
    if (test.kind == TestKind::Freshness)
      check_engine(test, first->name,
                   duck::Sql("SELECT CAST(max({}) AS TIMESTAMP) FROM {} AS \"_weir_t\"", duck::Identifier(first->name),
                             relation()),
                   0, false);
    if (test.kind == TestKind::Relationships) check_relationship(test, *first);
  }

  duck::Connection* engine() {
    duck::Connection* opened = connection_();
    if (opened == nullptr && !failure_) failure_ = duck::Failure{.message = "DuckDB cannot be started", .position = {}};
    return opened;
  }

  /// The columns as a relation without rows.
  duck::Sql relation() const {
    std::vector<duck::Sql> parts;
    for (const duck::Column& one : columns_)
      parts.emplace_back("CAST(NULL AS {}) AS {}", duck::Sql::verbatim(one.type), duck::Identifier(one.name));
    const auto add = [&](std::string_view name, std::string_view type) {
      if (column(name) == nullptr)
        parts.emplace_back("CAST(NULL AS {}) AS {}", duck::Sql::verbatim(std::string(type)),
                           duck::Identifier(std::string(name)));
    };
    if (model_.partitioning) add("_wm_partition", "VARCHAR");
    if (model_.is_history())
      for (const auto& [name, type] : validity_columns(model_).columns()) add(name, type);
    if (model_.keep_hash) add(kHashColumn, "VARCHAR");
    return {"(SELECT {})", duck::Sql::join(parts, ", ")};
  }

  /// Lets the engine judge; `before` is the size of what stands before `text` in the statement.
  void check_engine(const Test& test, const std::string& text, const duck::Sql& sql, std::size_t before, bool runs) {
    duck::Connection* opened = engine();
    if (opened == nullptr) return;
    std::optional<duck::Failure> failure;
    if (runs) {
      if (const auto ran = opened->query(sql); !ran) failure = ran.error();
    } else if (const auto bound = opened->describe(sql); !bound) {
      failure = bound.error();
    }
    if (!failure) return;
    if (failure->type == duck::FailureType::Interrupt) {
      failure_ = failure;
      return;
    }
    Span span = test.span;
    const std::string_view line = std::string_view(model_.source->text).substr(test.span.begin, test.span.size());
    if (const auto at = line.find(text); at != std::string_view::npos && !text.empty()) {
      const auto begin = test.span.begin + static_cast<std::uint32_t>(at);
      span = {begin, begin + static_cast<std::uint32_t>(text.size())};
      if (before > 0 && failure->position && *failure->position >= before &&
          *failure->position < before + text.size()) {
        const std::uint32_t byte = begin + *failure->position - static_cast<std::uint32_t>(before);
        const StatementPlaces places(model_.source->text, span);
        const auto token = places.token_at(byte);
        span = token ? token->span : Span{byte, byte + 1};
      }
    }
    report_test(test, Code::W2132, span,
                fmt::format("the test {} cannot be bound: {}", test.name, first_line(failure->message)));
  }

  void check_predicate(const Test& test, const std::string& text) {
    const duck::Sql head("SELECT 1 FROM {} AS \"_weir_t\" WHERE (\n", relation());
    check_engine(test, text, {"{}{}\n)", head, duck::Sql::verbatim(text)}, head.text().size(), false);
  }

  /// True if the text is a value of the type; nothing if the engine cannot say.
  std::optional<bool> is_value(const std::string& text, const std::string& type) {
    duck::Connection* opened = engine();
    if (opened == nullptr) return std::nullopt;
    const auto answer = opened->query(
        duck::Sql("SELECT TRY_CAST({} AS {}) IS NOT NULL", duck::Literal(text), duck::Sql::verbatim(type)));
    if (!answer) return std::nullopt;
    return answer->boolean(0, 0);
  }

  void check_values(const Test& test, const duck::Column& of) {
    if (of.type == "VARCHAR") return;
    for (const std::string& value : test.values)
      if (is_value(value, of.type) == false)
        report_test(test, Code::W2131, place_of(test.span, value),
                    fmt::format("`{}` is no value of column `{}`, whose type is {}", value, of.name, of.type),
                    "correct the value, or cast the column in the query");
  }

  void check_range(const Test& test, const duck::Column& of) {
    for (const auto& bound : {test.minimum, test.maximum}) {
      if (!bound) continue;
      if (!bound->starts_with('\'') && is_value(*bound, of.type) == true) continue;
      const duck::Sql head("SELECT 1 FROM {} AS \"_weir_t\" WHERE {} < (\n", relation(), duck::Identifier(of.name));
      check_engine(test, *bound, {"{}{}\n)", head, duck::Sql::verbatim(*bound)}, head.text().size(), false);
    }
  }

  void check_relationship(const Test& test, const duck::Column& of) {
    if (!test.reference) return;
    SharedColumns parent = known_.columns(*test.reference);
    if (parent == nullptr)
      if (const KnownSchema* source = known_.source(*test.reference); source != nullptr)
        parent = std::make_shared<Columns>(source->columns);
    if (parent == nullptr) return;
    const auto found = std::find_if(parent->begin(), parent->end(), [&test](const duck::Column& one) {
      return text::same_word(one.name, test.reference_column);
    });
    const std::string uri = test.reference->uri();
    if (found == parent->end()) {
      Diagnostic missing{.code = Code::W2112,
                         .message = fmt::format("{} has no column `{}` for the test {}: {}", uri, test.reference_column,
                                                test.name, columns_as_known(known_, *test.reference, *parent)),
                         .path = model_.source->path,
                         .span = place_of_column(model_.source->text, test.span, test.reference_column)};
      suggest(missing, test.reference_column, names_of(*parent), missing.span);
      breach(*test.reference, std::move(missing));
      return;
    }
    if (text::same_word(found->type, of.type)) return;
    breach(*test.reference, {.code = Code::W2113,
                             .message = fmt::format("`{}` is {} and {}.{} is {}: the types differ", of.name, of.type,
                                                    uri, found->name, found->type),
                             .path = model_.source->path,
                             .span = place_of_column(model_.source->text, test.span, test.reference_column),
                             .hint = "the test casts and may still pass; give both one type"});
  }

  void breach(const Asset& asset, Diagnostic found) {
    // It cites what was captured, which may change while nothing else does.
    binding_.is_fleeting = true;
    report_breach(binding_, known_, asset, std::move(found));
  }

  void check_lineage() {
    for (const DeclaredLineage& line : model_.lineage)
      for (const auto& [asset, name] : line.sources) {
        SharedColumns columns = known_.columns(asset);
        if (columns == nullptr) {
          const KnownSchema* last = known_.source(asset);
          if (last == nullptr) last = known_.captured(asset);
          if (last == nullptr) continue;
          binding_.is_fleeting = true;
          columns = std::make_shared<Columns>(last->columns);
        }
        if (has_column(*columns, name) || text::same_word(name, "_wm_partition")) continue;
        Diagnostic missing{
            .code = Code::W2111,
            .message = fmt::format("`{}` is said to come from {}.{}, which is not there: {}", line.output, asset.uri(),
                                   name, columns_as_known(known_, asset, *columns)),
            .path = model_.source->path,
            .span = place_of_column(model_.source->text, line.span, name)};
        suggest(missing, name, names_of(*columns), missing.span);
        breach(asset, std::move(missing));
      }
  }

  ModelBinding& binding_;
  KnownAssets& known_;
  const std::function<duck::Connection*()>& connection_;
  const Model& model_;
  Columns columns_;
  std::optional<duck::Failure> failure_;
};

/// Sources as texts that compare without case, for telling whether two sets are the same.
std::set<std::string> sources_as_text(const std::vector<ColumnOrigin>& from) {
  std::set<std::string> texts;
  for (const ColumnOrigin& one : from) texts.insert(text::lower(one.from.asset + "." + one.from.column));
  return texts;
}

}  // namespace

void add_declared_lineage(ModelBinding& binding, const KnownAssets& known) {
  const Model& model = *binding.model;
  const bool is_bound = binding.bound.state == BoundModel::State::Bound;
  std::map<std::string, std::pair<const DeclaredLineage*, std::vector<ColumnOrigin>>> declared;
  for (const DeclaredLineage& line : model.lineage) {
    auto& [first, origins] = declared[text::lower(line.output)];
    if (first == nullptr) first = &line;
    for (const auto& [asset, column] : line.sources)
      origins.push_back({{known.history_of(asset).uri(), column}, ValueKind::Expression, true});
  }
  for (auto& [name, found] : declared) {
    auto& [line, origins] = found;
    auto& columns = binding.bound.columns;
    auto column = std::find_if(columns.begin(), columns.end(),
                               [&name = name](const BoundColumn& one) { return text::lower(one.name) == name; });
    const Span place = place_of_word(model.source->text, line->span, line->output);
    if (column == columns.end()) {
      if (is_bound) {
        Diagnostic unknown{.code = Code::W2141,
                           .severity = Severity::Hint,
                           .message = fmt::format("the query returns no column `{}`", line->output),
                           .path = model.source->path,
                           .span = place};
        std::vector<std::string> names;
        for (const BoundColumn& one : columns) names.push_back(one.name);
        suggest(unknown, line->output, names, place);
        binding.found.push_back(std::move(unknown));
        continue;
      }
      // A script's columns may be known from nowhere else.
      column = columns.insert(columns.end(), {line->output, {}, {}});
    }
    if (is_bound && !column->from.empty() && sources_as_text(column->from) != sources_as_text(origins)) {
      std::string shown;
      for (const ColumnOrigin& one : column->from)
        shown += fmt::format("{}{}.{}", shown.empty() ? "" : ", ", one.from.asset, one.from.column);
      binding.found.push_back({Code::W2140, Severity::Hint,
                               fmt::format("the query makes `{}` from {}", line->output, shown), model.source->path,
                               place, "the declared sources count; take the line away if it is out of date"});
    }
    column->from.insert(column->from.begin(), origins.begin(), origins.end());
  }
}

duck::Outcome<void> bind_declarations(ModelBinding& binding, KnownAssets& known,
                                      const std::function<duck::Connection*()>& connection) {
  const Model& model = *binding.model;
  if (model.tests.empty() && model.lineage.empty() && model.key.empty() && model.track.empty() && model.order.empty() &&
      !is_windowed(model))
    return {};
  return Declarations(binding, known, connection).run();
}

}  // namespace weir::bind
