#include "trial/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "bind/model_text.h"
#include "bind/stand_ins.h"
#include "build/stage.h"
#include "calendar/resolve.h"
#include "io/clock.h"
#include "project/gate.h"
#include "project/macro_place.h"
#include "project/partition_macro.h"
#include "text/lexer.h"
#include "text/suggest.h"
#include "trial/clock.h"
#include "trial/values.h"

namespace weir::trial {
namespace {

using duck::Sql;
using text::same_word;

const char* const kResult = "_weir_result";

/// Something that the model reads: a table, or a call that reads files.
struct ReadSource {
  std::string name;  // of its stand-in
  std::optional<Asset> asset;
  std::optional<bind::FileCall> file;
  std::vector<std::string> names;  // by which a test may name it; the first is for messages
};

class Bench {
 public:
  Bench(const UnitTest& test, const Project& project, const Graph& graph, const bind::Bound& bound, Outcome& outcome)
      : test_(test), project_(project), graph_(graph), bound_(bound), outcome_(outcome) {}

  void run() {
    auto model = model_of(test_, project_);
    if (!model) return take(std::move(model).error());
    model_ = *model;
    outcome_.model = model_->path;
    if (has_errors(test_.diagnostics)) return take(test_.diagnostics);
    auto opened = bind::StandIns::open(&project_.config);
    if (!opened) return take(std::move(opened).error());
    stand_ins_ = std::move(*opened);
    find_sources();
    set_partition();
    set_window();
    set_arguments();
    fill_inputs();
    if (!outcome_.problems.empty()) return;
    auto connection = stand_ins_->connect();
    if (!connection) return engine_failed(connection.error());
    if (!set_up(*connection) || !compute(*connection)) return;
    compare(*connection);
  }

 private:
  void take(Diagnostics found) { std::move(found.begin(), found.end(), std::back_inserter(outcome_.problems)); }
  void report(Code code, Span span, std::string message, std::string hint = {}) {
    outcome_.problems.push_back({code, Severity::Error, std::move(message), test_.source->path, span, std::move(hint)});
  }
  void engine_failed(const duck::Failure& failure) {
    outcome_.problems.push_back({.code = Code::W4001, .message = failure.message, .path = test_.source->path});
  }

  // What the model reads.

  void find_sources() {
    for (const Reference& reference : model_->references) {
      const std::string key = reference.asset.key();
      if (std::any_of(sources_.begin(), sources_.end(), [&key](const auto& one) { return one.name == key; })) continue;
      ReadSource source{.name = key, .asset = reference.asset, .file = {}, .names = {}};
      const Asset& asset = reference.asset;
      source.names = {asset.schema + "." + asset.name, asset.name, asset.uri(),
                      asset.place + "." + asset.schema + "." + asset.name};
      if (const Model* producer = graph_.producer(asset);
          producer != nullptr && producer->target && producer->target->key() == key) {
        source.names.push_back(producer->path);
        source.names.push_back(producer->path.substr(producer->path.rfind('/') + 1));
      }
      sources_.push_back(std::move(source));
    }
    for (std::size_t i = 0; i < model_->script.statements.size(); ++i)
      for (bind::FileCall& call : bind::file_calls(*model_, i)) {
        ReadSource source{.name = call.asset, .asset = {}, .file = call, .names = {call.asset}};
        for (const std::string& file : call.files) source.names.push_back(file);
        sources_.push_back(std::move(source));
      }
  }

  const ReadSource* source_named(const Word& name) {
    std::vector<const ReadSource*> found;
    std::vector<std::string> known;
    for (const ReadSource& source : sources_) {
      known.push_back(source.names.front());
      if (std::any_of(source.names.begin(), source.names.end(),
                      [&name](const std::string& one) { return same_word(one, name.text); }))
        found.push_back(&source);
    }
    if (found.size() == 1 || (found.size() > 1 && found.front()->file)) return found.front();
    std::string list;
    for (const std::string& one : known) list += (list.empty() ? "" : ", ") + one;
    if (found.size() > 1) {
      report(Code::W2413, name.span, fmt::format("`{}` names several inputs of {}", name.text, model_->path),
             "give the schema too: " + list);
      return nullptr;
    }
    const auto near = text::nearest(name.text, known);
    report(Code::W2413, name.span, fmt::format("{} does not read `{}`", model_->path, name.text),
           near            ? fmt::format("did you mean `{}`?", *near)
           : known.empty() ? "it reads nothing"
                           : "it reads " + list);
    return nullptr;
  }

  bind::Columns columns_of(const ReadSource& source, const UnitRows* given) {
    bind::Columns columns;
    if (given != nullptr && !given->columns.empty()) {
      for (const auto& [name, type] : given->columns) {
        const auto known = stand_ins_->connection().describe(Sql("SELECT CAST(NULL AS {})", Sql::verbatim(type.text)));
        if (!known)
          report(Code::W2404, type.span, fmt::format("`{}` is no type", type.text), "BIGINT, DECIMAL(18,2), DATE, …");
        else
          columns.push_back({name.text, known->front().type});
      }
      return columns;
    }
    if (source.asset)
      if (const bind::Columns* known = bound_.columns_of(*source.asset); known != nullptr) return *known;
    if (source.file)
      if (auto known = stand_ins_->connection().describe(Sql("FROM {}", Sql::verbatim(source.file->sql)));
          known && !source.file->is_remote)
        return std::move(*known);
    if (given != nullptr) columns = guess_columns(stand_ins_->connection(), *given);
    if (columns.empty())
      report(Code::W2415, given != nullptr ? given->name.span : test_.model.span,
             fmt::format("the columns of {}, which {} reads, are not known", source.names.front(), model_->path),
             fmt::format("name them in the test: {}: {{columns: {{id: BIGINT}}, rows: []}}", source.names.front()));
    return columns;
  }

  void fill_inputs() {
    std::map<std::string, const UnitRows*> given;
    for (const UnitRows& rows : test_.inputs)
      if (const ReadSource* source = source_named(rows.name); source != nullptr)
        if (!given.emplace(source->name, &rows).second)
          report(Code::W2413, rows.name.span, fmt::format("`{}` is given twice", rows.name.text));
    std::map<std::string, bind::SharedColumns> made;
    for (const ReadSource& source : sources_) {
      const auto rows = given.find(source.name);
      const UnitRows* own = rows == given.end() ? nullptr : rows->second;
      if (source.file) places_.files.emplace(source.file->span.begin, std::pair(*source.file, source.name));
      if (made.contains(source.name)) continue;
      auto columns = std::make_shared<bind::Columns>(columns_of(source, own));
      made.emplace(source.name, columns);
      if (columns->empty()) continue;
      if (!stand_ins_->ensure({{source.name, columns}}).empty()) {
        report(Code::W2415, test_.model.span,
               fmt::format("{} has columns of types that a test cannot make", source.names.front()));
        continue;
      }
      if (own != nullptr) insert_rows(stand_ins_->connection(), source.name, *columns, *own, test_, outcome_.problems);
    }
  }

  // Slice, arguments, clock.

  void set_partition() {
    const bool is_partitioned = model_->partitioning.has_value();
    if (!is_partitioned && test_.partition)
      return report(Code::W2412, test_.partition->span, fmt::format("{} is not partitioned", model_->path),
                    "take `partition:` away");
    if (!is_partitioned) return;
    if (!test_.partition)
      return report(Code::W2412, test_.model.span,
                    fmt::format("{} is partitioned: the test must say which", model_->path), "add `partition: …`");
    auto choice = calendar::choose_partition(*model_->partitioning, {.value = test_.partition->text, .now = io::now()});
    if (!choice) {
      for (Diagnostic& one : choice.error()) {
        one.path = test_.source->path;
        one.span = test_.partition->span;
        outcome_.problems.push_back(std::move(one));
      }
      return;
    }
    places_.partition = choice->value;
  }

  void set_window() {
    const bool is_windowed = model_->strategy == Strategy::IncrementalByTime;
    const auto& given = test_.window_start ? test_.window_start : test_.window_end;
    if (!is_windowed) {
      if (given)
        report(Code::W2412, given->span, fmt::format("{} is not computed by windows", model_->path),
               "take `window:` away");
      return;
    }
    if (!test_.window_start || !test_.window_end)
      return report(Code::W2412, test_.model.span,
                    fmt::format("{} is computed by windows: the test must say which", model_->path),
                    "window: {start: 2026-07-05, end: 2026-07-06}");
    const std::string start = cast_value(*test_.window_start, "TIMESTAMP", Code::W2412);
    const std::string end = cast_value(*test_.window_end, "TIMESTAMP", Code::W2412);
    places_.partition = start + "/" + end;
  }

  /// The value as DuckDB writes it in this type; the text itself, and a problem, if it is none.
  std::string cast_value(const Word& value, const std::string& type, Code code) {
    const auto cast = stand_ins_->connection().query(Sql(
        "SELECT CAST(CAST({} AS {}) AS VARCHAR)", duck::Literal(std::string_view(value.text)), Sql::verbatim(type)));
    if (cast) return cast->text(0, 0);
    report(code, value.span, fmt::format("`{}` is no {}", value.text, type));
    return value.text;
  }

  void set_arguments() {
    for (const Argument& argument : model_->arguments)
      if (argument.default_value) places_.arguments[argument.name] = *argument.default_value;
    std::vector<std::string> known;
    for (const Argument& argument : model_->arguments) known.push_back(argument.name);
    for (const auto& [name, value] : test_.arguments) {
      const auto declared =
          std::find_if(model_->arguments.begin(), model_->arguments.end(),
                       [&name = name](const Argument& one) { return same_word(one.name, name.text); });
      if (declared == model_->arguments.end()) {
        const auto near = text::nearest(name.text, known);
        report(Code::W2412, name.span, fmt::format("{} has no argument `{}`", model_->path, name.text),
               near ? fmt::format("did you mean `{}`?", *near) : "");
        continue;
      }
      if (!same_word(declared->type, "s3object")) (void)cast_value(value, declared->type, Code::W2416);
      places_.arguments[declared->name] = value.text;
    }
  }

  // Running.

  bool set_up(duck::Connection& connection) {
    if (test_.now) {
      if (const auto call = escapes_clock(*model_)) {
        report(Code::W2412, test_.now->span,
               fmt::format("`now:` cannot stop {}(), which {} calls by its whole name", *call, model_->path),
               "call it without `system.` in the model");
        return false;
      }
      const std::string time = cast_value(*test_.now, "TIMESTAMPTZ", Code::W2412);
      if (!outcome_.problems.empty()) return false;
      for (const Sql& macro : stop_clock(time, own_macros(*model_)))
        if (!ran(connection.execute(macro))) return false;
    }
    for (const Sql& macro : partition_macros(*model_))
      if (!ran(connection.execute(macro))) return false;
    macros_ = MacroPlaces(model_->source->text.size());
    for (std::size_t i = 0; i < model_->script.statements.size(); ++i) {
      for (const SetupStatement& sent : bind::macros_for_binding(*model_, i, places_))
        if (!set_up_by(connection, sent.sql)) return false;
      if (i + 1 == model_->script.statements.size()) break;
      const parse::Spliced sql = bind::text_for_binding(*model_, i, places_);
      if (!sql.text().empty() && !set_up_by(connection, sql)) return false;
    }
    return true;
  }

  template <class Answer>
  bool ran(const Answer& answer) {
    if (!answer) engine_failed(answer.error());
    return answer.has_value();
  }

  bool set_up_by(duck::Connection& connection, const parse::Spliced& sql) {
    if (auto done = connection.execute(macros_.apart(sql)); !done) {
      blame(done.error(), sql, 0);
      return false;
    }
    return true;
  }

  void blame(const duck::Failure& failure, const parse::Spliced& sql, std::size_t before) {
    outcome_.problems.push_back(build::explain(failure, *model_, sql, before, macros_));
  }

  bool compute(duck::Connection& connection) {
    const parse::Spliced query = bind::text_for_binding(*model_, model_->script.statements.size() - 1, places_);
    const Sql head("CREATE TEMP TABLE {} AS ", duck::Identifier(kResult));
    if (auto done = connection.execute(Sql("{}{}", head, query.sql())); !done) {
      blame(done.error(), query, head.text().size());
      return false;
    }
    auto columns = connection.describe(Sql("FROM {}", duck::TableName{"temp", "main", kResult}));
    if (!ran(columns)) return false;
    columns_ = std::move(*columns);
    return true;
  }

  // Comparing.

  void compare(duck::Connection& connection) {
    std::set<std::size_t> named;
    for (const UnitRow& row : test_.expected.rows)
      for (const auto& [name, value] : row.cells)
        if (const auto at = find_column(columns_, name, "the result of " + model_->path, test_, outcome_.problems))
          named.insert(*at);
    if (!outcome_.problems.empty()) return;
    std::vector<std::size_t> wanted(named.begin(), named.end());
    if (wanted.empty())
      for (std::size_t i = 0; i < columns_.size(); ++i) wanted.push_back(i);
    const auto expected = expected_cells(connection, columns_, wanted, test_, outcome_.problems);
    if (!outcome_.problems.empty()) return;
    std::vector<Sql> texts;
    for (const std::size_t column : wanted) {
      texts.push_back(Sql("CAST({} AS VARCHAR)", duck::Identifier(columns_[column].name)));
      outcome_.columns.push_back(columns_[column].name);
    }
    const auto rows =
        connection.query(Sql("SELECT {} FROM {}", Sql::join(texts, ", "), duck::TableName{"temp", "main", kResult}));
    if (!ran(rows)) return;
    std::vector<UnitCells> actual(rows->size());
    for (std::size_t row = 0; row < rows->size(); ++row)
      for (std::size_t i = 0; i < wanted.size(); ++i) actual[row].push_back(rows->maybe_text(row, i));
    outcome_.expected_rows = expected.size();
    outcome_.actual_rows = actual.size();
    outcome_.differences = compare_rows(expected, actual, key_among(wanted), test_.is_ordered);
    if (outcome_.differences.empty()) return;
    outcome_.status = Outcome::Status::Failed;
    report(Code::W2417, test_.expected.name.span,
           fmt::format("{} does not return these rows: {} of them and {} returned, {} differ", model_->path,
                       expected.size(), actual.size(), outcome_.differences.size()));
  }

  /// Positions of the model's key among the compared columns; empty unless all of it is compared.
  std::vector<std::size_t> key_among(const std::vector<std::size_t>& wanted) const {
    std::vector<std::size_t> key;
    for (const std::string& name : model_->key)
      for (std::size_t i = 0; i < wanted.size(); ++i)
        if (same_word(columns_[wanted[i]].name, name)) key.push_back(i);
    return key.size() == model_->key.size() ? key : std::vector<std::size_t>();
  }

  const UnitTest& test_;
  const Project& project_;
  const Graph& graph_;
  const bind::Bound& bound_;
  Outcome& outcome_;
  const Model* model_ = nullptr;
  bind::Places places_;
  std::vector<ReadSource> sources_;
  std::unique_ptr<bind::StandIns> stand_ins_;
  MacroPlaces macros_{0};
  bind::Columns columns_;
};

}  // namespace

Result<const Model*> model_of(const UnitTest& test, const Project& project) {
  const auto place = [&test](Diagnostics found) {
    for (Diagnostic& one : found) {
      if (!one.path.empty()) continue;
      one.path = test.source->path;
      one.span = test.model.span;
    }
    return fail(std::move(found));
  };
  const auto refuse = [&](std::string message, std::string hint) {
    return place({{.code = Code::W2418, .message = std::move(message), .hint = std::move(hint)}});
  };
  if (test.model.text.empty()) return fail(test.diagnostics);
  for (const MacroLibrary& library : project.libraries)
    if (library.path == test.model.text)
      return refuse(fmt::format("`{}` is a library of macros", library.path), "test a model that calls them");
  auto model = find_model(project, test.model.text);
  if (!model) return place(std::move(model).error());
  if ((*model)->plane == Plane::Manual || (*model)->script.statements.empty())
    return refuse(fmt::format("`{}` is a manual script, which has no query to test", (*model)->path), "");
  return *model;
}

Outcome run_unit_test(const UnitTest& test, const Project& project, const Graph& graph, const bind::Bound& bound) {
  Outcome outcome;
  outcome.test = test.name;
  outcome.model = test.model.text;
  const auto begin = std::chrono::steady_clock::now();
  Bench(test, project, graph, bound, outcome).run();
  if (!outcome.problems.empty() && outcome.status != Outcome::Status::Failed) outcome.status = Outcome::Status::Error;
  outcome.ms = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin).count();
  return outcome;
}

}  // namespace weir::trial
