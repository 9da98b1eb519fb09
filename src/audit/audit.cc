// Runs the tests of one step. What only counts rows of one relation is answered by a single scan; a test that errors
// there is asked again alone, so that its neighbours keep their verdicts.
#include "audit/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "audit/custom.h"
#include "audit/probe.h"
#include "audit/sample.h"
#include "build/gate.h"
#include "build/stage.h"
#include "duck/veil.h"
#include "lake/lakes.h"
#include "parse/readers.h"
#include "project/custom_test.h"
#include "project/gate.h"
#include "project/macro_place.h"
#include "text/line_index.h"

namespace weir::audit {
namespace {

using duck::Identifier;
using duck::Sql;
using Clock = std::chrono::steady_clock;

std::int64_t since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
}

/// One declared test on its way to a verdict.
struct Running {
  const Test& test;
  Verdict verdict;
  std::optional<Probe> probe;
  std::int64_t rows = 0;  // rows that the test looked at, where a share is tolerated
};

void set_error(Running& running, std::string message) {
  running.verdict.status = Verdict::Status::Error;
  running.verdict.error = std::move(message);
}

void set_refused(Running& running, std::string message) {
  set_error(running, lake::mask_secrets(std::move(message)));
  running.verdict.is_refused = true;
}

void decide(Running& running, std::int64_t violating) {
  auto& verdict = running.verdict;
  verdict.violating = violating;
  verdict.tolerated = running.test.tolerated_rows;
  if (running.test.tolerated_share)
    verdict.tolerated =
        static_cast<std::int64_t>(std::floor(*running.test.tolerated_share * static_cast<double>(running.rows) + 1e-9));
  verdict.status = violating > verdict.tolerated ? Verdict::Status::Failed : Verdict::Status::Passed;
}

class Audit {
 public:
  Audit(duck::Connection& clean, const std::function<Result<duck::Connection>()>& connect, const AuditRequest& request)
      : clean_(clean), connect_(connect), request_(request) {}

  Result<std::vector<Verdict>> run() {
    running_.reserve(request_.model.tests.size());
    for (const auto& test : request_.model.tests) prepare(test);
    for (const auto scope : {TestScope::Slice, TestScope::Table}) shared_scan(scope);
    for (auto& running : running_) {
      if (!running.probe) continue;
      const auto start = Clock::now();
      if (running.probe->shape == ProbeShape::Groups) groups(running);
      if (running.probe->shape == ProbeShape::Parents) parents(running);
      if (running.probe->shape == ProbeShape::Query) query(running);
      sample(running);
      running.verdict.ms += since(start);
    }
    if (interrupted_ || (request_.stop != nullptr && request_.stop->load()))
      return fail(
          Diagnostic{.code = Code::W5003, .message = "the audit of " + request_.model.path + " was interrupted"});
    std::vector<Verdict> verdicts;
    for (auto& running : running_) verdicts.push_back(std::move(running.verdict));
    return verdicts;
  }

 private:
  void prepare(const Test& test) {
    running_.push_back({test, {.test = test.name, .severity = test.severity}, std::nullopt, 0});
    auto probe = make_probe(clean_, test, request_);
    if (probe)
      running_.back().probe = std::move(*probe);
    else
      set_refused(running_.back(), std::move(probe.error()));
  }

  void engine_error(Running& running, const duck::Failure& failure) {
    if (failure.type == duck::FailureType::Interrupt) interrupted_ = true;
    const bool hides = !request_.samples || !request_.private_columns.empty();
    set_error(running, lake::mask_secrets(hides ? duck::without_values(failure).message : failure.message));
  }

  static Sql violations(const Probe& probe) {
    return probe.shape == ProbeShape::Aggregate ? probe.violation
                                                : Sql("count_if({} AND {})", probe.scope, probe.violation);
  }

  void shared_scan(TestScope scope) {
    std::vector<Running*> members;
    for (auto& running : running_)
      if (running.probe && running.test.scope == scope &&
          (running.probe->shape == ProbeShape::Rows || running.probe->shape == ProbeShape::Aggregate))
        members.push_back(&running);
    if (members.empty()) return;
    if (scan(members) || members.size() == 1) return;
    for (auto* member : members) scan({member});
  }

  /// Answers all of them in one query. False: the engine failed, and each that is asked alone has its error.
  bool scan(const std::vector<Running*>& members) {
    const auto start = Clock::now();
    std::vector<Sql> parts;
    for (const auto* member : members) {
      parts.push_back(violations(*member->probe));
      parts.push_back(Sql("count_if({})", member->probe->scope));
    }
    const auto rows = clean_.query(
        Sql("SELECT {} FROM {} AS \"_weir_t\"", Sql::join(parts, ", "), relation_of(members.front()->test, request_)));
    if (!rows) {
      if (members.size() == 1) engine_error(*members.front(), rows.error());
      return false;
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
      members[i]->rows = rows->integer(0, 2 * i + 1);
      decide(*members[i], rows->integer(0, 2 * i));
      members[i]->verdict.ms = since(start);
    }
    return true;
  }

  /// Counts the rows in scope where a share of them is tolerated; false if that failed.
  bool count_rows(Running& running, duck::Connection& connection, const Sql& relation) {
    if (!running.test.tolerated_share) return true;
    const auto rows = connection.query(Sql("SELECT count(*) FROM {} AS \"_weir_t\"", relation));
    if (!rows) {
      engine_error(running, rows.error());
      return false;
    }
    running.rows = rows->integer(0, 0);
    return true;
  }

  bool count(Running& running, duck::Connection& connection, const Sql& sql) {
    const auto rows = connection.query(sql);
    if (!rows) {
      engine_error(running, rows.error());
      return false;
    }
    decide(running, rows->integer(0, 0));
    return true;
  }

  /// The rows that the test looks at.
  Sql scoped(const Running& running) const {
    const Sql& relation = relation_of(running.test, request_);
    return running.test.where.empty()
               ? relation
               : Sql("(SELECT * FROM {} AS \"_weir_t\" WHERE {})", relation, running.probe->scope);
  }

  /// Rows that may take part in a duplicate: a group with a NULL is ignored.
  Sql without_nulls(const Running& running) const {
    std::vector<Sql> parts;
    for (const auto& name : running.probe->columns) parts.push_back(Sql("{} IS NOT NULL", Identifier(name)));
    return Sql("(SELECT {} FROM {} AS \"_weir_t\" WHERE {})", Sql::names(running.probe->columns), scoped(running),
               Sql::join(parts, " AND "));
  }

  void groups(Running& running) {
    if (!count_rows(running, clean_, scoped(running))) return;
    count(running, clean_,
          Sql("SELECT count(*) FROM (SELECT 1 FROM {} AS \"_weir_t\" GROUP BY {} HAVING count(*) > 1)",
              without_nulls(running), Sql::names(running.probe->columns)));
  }

  Sql orphans(const Running& running) const {
    const Identifier child(running.probe->columns.front());
    return Sql(
        "(SELECT * FROM {} AS \"_weir_t\" WHERE {} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM (SELECT {} AS \"_weir_v\" "
        "FROM {}) AS \"_weir_p\" WHERE "
        "\"_weir_p\".\"_weir_v\" = \"_weir_t\".{}))",
        scoped(running), child, Identifier(running.probe->parent_column), running.probe->parent, child);
  }

  void parents(Running& running) {
    if (!count_rows(running, clean_, scoped(running))) return;
    count(running, clean_, Sql("SELECT count(*) FROM {} AS \"_weir_o\"", orphans(running)));
  }

  Result<CustomQuery> custom_query(const Test& test) const {
    if (const TestQuery* query = query_of_test(request_.model, test); query != nullptr)
      return splice_test_query(*query, request_);
    return fail(Diagnostic{.code = Code::W0218,
                           .message = "there is no custom test `" + test.text + "`",
                           .hint = "weir init --data-test makes one"});
  }

  /// The same gate as for models, on the tree and on the bound plan.
  Result<void> pass(duck::Connection& connection, const CustomQuery& custom) const {
    const GatedStatement gated{
        .statement = custom.statement, .path = custom.path, .who = "a test", .macros = own_macros(request_.model)};
    if (Diagnostics found = judge_reach(gated); !found.empty()) return fail(std::move(found));
    return build::pass_gate(
        connection, build::bind_plan(connection, custom.query.sql()), custom.query,
        {.who = "a test", .path = custom.path, .statement = custom.statement, .macros = gated.macros});
  }

  void query(Running& running) {
    auto connection = connect_();
    if (!connection) return set_error(running, connection.error().front().message);
    const auto custom = custom_query(running.test);
    if (!custom)
      return set_refused(running, custom.error().front().message +
                                      (custom.error().front().hint.empty() ? "" : "; " + custom.error().front().hint));
    MacroPlaces macros(longest_of(*custom));
    if (custom->needs_setup)
      for (const parse::Spliced& statement : request_.setup)
        if (const auto done = connection->execute(macros.apart(statement)); !done)
          return placed_error(running, done.error(), *custom, macros, 0);
    if (auto passed = pass(*connection, *custom); !passed) return set_refused(running, passed.error().front().message);
    Sql rows("(\n{}\n)", custom->query.sql());
    if (const auto bound = connection->describe(Sql("SELECT count(*) FROM {} AS \"_weir_t\"", rows)); !bound) {
      placed_error(running, bound.error(), *custom, macros, kBefore);
      running.verdict.is_refused = true;
      return;
    }
    if (!running.test.where.empty()) {
      const Sql where = Sql::verbatim(parse::with_guarded_readers(running.test.where));
      const Sql whole("SELECT [(\n{}\n)] FROM {} AS \"_weir_t\"", where, rows);
      if (const auto bound = connection->describe(whole); !bound) return engine_error(running, bound.error());
      const auto plan = build::bind_plan(*connection, whole);
      if (!plan) return engine_error(running, plan.error());
      if (!plan->refused.empty()) return set_refused(running, "a test may not call " + *plan->refused.begin());
      rows = Sql("(SELECT * FROM {} AS \"_weir_t\" WHERE (\n{}\n))", rows, where);
    }
    if (!count_rows(running, *connection, relation_of(running.test, request_))) return;
    const auto answer = connection->query(Sql("SELECT count(*) FROM {} AS \"_weir_t\"", rows));
    if (!answer) return placed_error(running, answer.error(), *custom, macros, kBefore);
    decide(running, answer->integer(0, 0));
    if (!wants_sample(running)) return;
    const auto columns = connection->describe(Sql("SELECT * FROM {} AS \"_weir_t\"", rows));
    if (!columns) return engine_error(running, columns.error());
    running.verdict.sample_json = sample_rows(*connection, rows, *columns, request_);
  }

  static constexpr std::size_t kBefore = sizeof("SELECT count(*) FROM (\n") - 1;

  std::size_t longest_of(const CustomQuery& custom) const {
    std::size_t longest = custom.query.text().size() + running_.size();
    for (const parse::Spliced& one : request_.setup) longest = std::max(longest, one.text().size());
    return longest;
  }

  /// Names the file and line of the test's own text, or of a macro's, where the engine knows it. `before`: bytes of
  /// ours before the test's query.
  void placed_error(Running& running, const duck::Failure& failure, const CustomQuery& custom,
                    const MacroPlaces& macros, std::size_t before) {
    engine_error(running, failure);
    if (!failure.position) return;
    const auto name = [&](const std::string& path, const std::string& text, Span place) {
      running.verdict.error =
          fmt::format("{}:{}: {}", path, text::LineIndex(text).position(place.begin).line, running.verdict.error);
    };
    const Model& model = request_.model;
    if (const auto place = macros.find(*failure.position);
        place && *failure.position >= before + custom.query.text().size()) {
      const auto span = place->macro->source_of(place->byte);
      const std::string& path = place->macro->path();
      const auto library = std::find_if(model.macros.begin(), model.macros.end(),
                                        [&path](const MacroDefinition& one) { return one.source->path == path; });
      const Source& source = library == model.macros.end() ? *model.source : *library->source;
      if (span) name(source.path, source.text, *span);
      return;
    }
    if (*failure.position < before || !running.test.where.empty()) return;
    const auto span = custom.query.source_of(static_cast<std::uint32_t>(*failure.position - before));
    if (!span) return;
    const TestQuery& query = *query_of_test(model, running.test);
    const std::string& text = query.is_in_header ? model.source->text : custom.source->text;
    name(custom.source->path, text, place_in_file(model, query, *span));
  }

  bool wants_sample(const Running& running) const {
    return request_.samples && running.verdict.status != Verdict::Status::Error && running.verdict.violating > 0;
  }

  void sample(Running& running) {
    if (!wants_sample(running)) return;
    std::vector<duck::Column> columns;
    for (const auto& column : request_.columns) columns.push_back({column.name, column.type});
    const Probe& probe = *running.probe;
    if (probe.shape == ProbeShape::Rows)
      running.verdict.sample_json = sample_rows(clean_,
                                                Sql("(SELECT * FROM {} AS \"_weir_t\" WHERE {} AND {})",
                                                    relation_of(running.test, request_), probe.scope, probe.violation),
                                                columns, request_);
    if (probe.shape == ProbeShape::Parents)
      running.verdict.sample_json = sample_rows(clean_, orphans(running), columns, request_);
    if (probe.shape == ProbeShape::Groups)
      running.verdict.sample_json = sample_groups(clean_, without_nulls(running), probe.columns, request_);
  }

  duck::Connection& clean_;
  const std::function<Result<duck::Connection>()>& connect_;
  const AuditRequest& request_;
  std::vector<Running> running_;
  bool interrupted_ = false;
};

}  // namespace

Result<std::vector<Verdict>> audit(duck::Connection& clean, const std::function<Result<duck::Connection>()>& connect,
                                   const AuditRequest& request) {
  return Audit(clean, connect, request).run();
}

}  // namespace weir::audit
