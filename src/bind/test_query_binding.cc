#include "bind/test_query_binding.h"

#include <algorithm>

#include "bind/diagnosis.h"
#include "parse/functions.h"
#include "parse/readers.h"
#include "project/custom_test.h"

namespace weir::bind {
namespace {

Failed engine_failed(const duck::Failure& failure) {
  const bool is_stopped = failure.type == duck::FailureType::Interrupt;
  return fail(Diagnostic{.code = is_stopped ? Code::W7010 : Code::W2106,
                         .message = is_stopped ? "checking was interrupted"
                                               : "DuckDB failed while checking: " + first_line(failure.message)});
}

/// One query of a test on its way.
class QueryOfTest {
 public:
  QueryOfTest(ModelBinding& model, const TestQuery& query, KnownAssets& known,
              const std::function<Result<StandIns*>(bool own)>& engine)
      : model_(model), query_(query), known_(known), engine_(engine), declared_(model.model->tests[query.test]) {}

  Result<void> run() {
    gather();
    if (!blame_.empty()) {
      model_.bound.blocked_tests.emplace_back(declared_.name, blame_);
      model_.is_fleeting = true;
      return {};
    }
    const bool is_own = query_.needs_setup && attaches(*binding_.model);
    WEIR_TRY(StandIns * stand_ins, engine_(is_own));
    std::vector<std::pair<std::string, SharedColumns>> tables;
    for (const Input& input : binding_.inputs) tables.emplace_back(input.table, input.columns);
    // A type that checking does not know: nothing can be said.
    if (!stand_ins->ensure(tables).empty()) return {};
    if (!query_.needs_setup) return bind(stand_ins->connection(), *stand_ins);
    auto connection = connection_for(*stand_ins, binding_);
    if (!connection) return engine_failed(connection.error());
    return bind(*connection, *stand_ins);
  }

 private:
  void gather() {
    binding_.model = model_.model;
    binding_.index = model_.index;
    binding_.test = &query_;
    binding_.refused_statement = model_.model->script.statements.size() - 1;
    // Macros and temporary tables of the model read what it reads.
    binding_.inputs = model_.inputs;
    binding_.places = model_.places;
    const SharedColumns own = table_of(*model_.model, model_.bound.columns);
    add_input(binding_, kTarget, model_.model->target->uri(), own);
    for (const Reference& reference : query_.references) {
      std::string key = reference.asset.key();
      if (binding_.places.tables.contains(key)) continue;
      const Model* producer = known_.graph().producer(reference.asset);
      const bool is_own = producer == model_.model;
      // Captures are no part of what the model's result is remembered by.
      const bool is_steady = is_own || known_.columns(reference.asset) || known_.source(reference.asset) != nullptr;
      model_.is_fleeting = model_.is_fleeting || !is_steady;
      SharedColumns columns = is_own ? own : known_.columns_to_read(reference.asset, false);
      if (columns == nullptr) {
        blame_ = producer != nullptr ? producer->path : reference.asset.uri();
        if (const auto broken = known_.project().broken.find(key); broken != known_.project().broken.end())
          blame_ = broken->second;
        return;
      }
      add_input(binding_, std::move(key), known_.history_of(reference.asset).uri(), std::move(columns));
    }
  }

  Result<void> bind(duck::Connection& connection, StandIns& stand_ins) {
    const std::string text = test_for_binding(*binding_.model, query_, binding_.places).text();
    auto answers = bind_queries(connection, {text});
    if (!answers) return engine_failed(answers.error());
    // What a file holds may change by itself.
    for (const parse::FunctionCall& call : query_.statement.functions)
      if (parse::reads_files(call.name)) model_.is_fleeting = true;
    binding_.refusal = std::move(answers->front().refusal);
    if (!binding_.refusal || binding_.refusal->is_unsupported) return bind_where(connection, text);
    if (is_for_the_run(*binding_.refusal)) return {};
    return explain(stand_ins);
  }

  /// Of an extension, or of a lake, or a file that is not there yet: what checking does not have.
  bool is_for_the_run(const Refusal& refusal) const {
    if (refusal.type == duck::FailureType::Io) return true;
    if (refusal.subtype != "MISSING_ENTRY" || refusal.entry.find("Function") == std::string::npos) return false;
    return parse::is_allowed_table_function(refusal.name) ||
           std::any_of(query_.statement.functions.begin(), query_.statement.functions.end(),
                       [&refusal](const parse::FunctionCall& call) {
                         return call.name == refusal.name && (!call.catalog.empty() || !call.schema.empty());
                       });
  }

  Result<void> explain(StandIns& stand_ins) {
    model_.is_fleeting = true;
    auto connection = connection_for(stand_ins, binding_);
    if (!connection) return engine_failed(connection.error());
    if (auto done = diagnose(*connection, binding_, known_); !done) return engine_failed(done.error());
    take_found();
    return {};
  }

  /// A test that does not block when it fails does not block when it cannot run.
  void take_found() {
    for (Diagnostic& one : binding_.found) {
      if (declared_.severity != TestSeverity::Error && one.severity == Severity::Error)
        one.severity = Severity::Warning;
      model_.found.push_back(std::move(one));
    }
  }

  /// `where` is of the rows that the query returns.
  Result<void> bind_where(duck::Connection& connection, const std::string& text) {
    if (declared_.where.empty()) return {};
    const auto bound =
        connection.describe(duck::Sql("SELECT 1 FROM (\n{}\n) AS \"_weir_t\" WHERE (\n{}\n)", duck::Sql::verbatim(text),
                                      duck::Sql::verbatim(parse::with_guarded_readers(declared_.where))));
    if (bound) return {};
    if (bound.error().type == duck::FailureType::Interrupt) return engine_failed(bound.error());
    const Model& model = *model_.model;
    Diagnostic refused{.code = Code::W2132,
                       .message = "the `where` of the test " + declared_.name +
                                  " cannot be bound: " + first_line(bound.error().message),
                       .path = model.source->path,
                       .span = declared_.span};
    const std::string_view line =
        std::string_view(model.source->text).substr(declared_.span.begin, declared_.span.size());
    if (const auto at = line.find(declared_.where); at != std::string_view::npos) {
      const auto begin = declared_.span.begin + static_cast<std::uint32_t>(at);
      refused.span = {begin, begin + static_cast<std::uint32_t>(declared_.where.size())};
    }
    binding_.found.push_back(std::move(refused));
    take_found();
    return {};
  }

  ModelBinding& model_;
  const TestQuery& query_;
  KnownAssets& known_;
  const std::function<Result<StandIns*>(bool own)>& engine_;
  const Test& declared_;
  ModelBinding binding_;
  std::string blame_;
};

}  // namespace

Result<void> bind_test_queries(ModelBinding& binding, KnownAssets& known,
                               const std::function<Result<StandIns*>(bool own)>& engine) {
  if (!binding.model->target) return {};
  for (const TestQuery& query : binding.model->test_queries)
    WEIR_CHECK(QueryOfTest(binding, query, known, engine).run());
  return {};
}

}  // namespace weir::bind
