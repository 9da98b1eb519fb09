// Manual scripts: run as written, in an instance of their own, where their aliases are real attachments: the lakes
// read-write under their locks. weir records the slice, the run, the time, and the versions that the script's commits
// made.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/failpoint.h"
#include "build/names.h"
#include "duck/veil.h"
#include "io/installation.h"
#include "project/render.h"
#include "project/setup.h"
#include "run/step.h"

namespace weir::run {
namespace {

constexpr std::int64_t kMostRows = 1000;

/// Lakes that the script attaches, and the lake of its target; sorted, so that two scripts never wait for each other in
/// a circle.
std::set<std::string> lakes_of(const Session& session, const Model& model) {
  std::set<std::string> names{session.lake_of(model).name()};
  for (const parse::Statement& statement : model.script.statements) {
    if (statement.kind != parse::StatementKind::Attach) continue;
    if (const auto asset = parse_asset(statement.attach_uri); asset && asset->kind == AssetKind::Lake)
      names.insert(session.lakes.lake(asset->place).name());
  }
  return names;
}

Result<std::int64_t> newest_version(Session& session, const lake::Lake& lake) {
  WEIR_TRY(duck::Connection connection, session.lakes.connect());
  return lake.current_version(connection);
}

/// Problems of a statement that say no place of their own.
Diagnostics on(const parse::Statement& statement, const Model& model, Diagnostics problems) {
  for (Diagnostic& problem : problems) {
    if (!problem.path.empty()) continue;
    problem.path = model.source->path;
    problem.span = statement.span;
  }
  return problems;
}

/// Attaches what the script attaches, before the instance is confined: afterwards DuckDB reaches no PostgreSQL. An
/// alias that is used again later is left to its turn. Returns the statements that are done with.
Result<std::set<std::size_t>> attach_all(lake::Lakes& instance, duck::Connection& connection, const Model& model) {
  std::set<std::size_t> attached;
  std::set<std::string> aliases;
  for (std::size_t i = 0; i < model.script.statements.size(); ++i) {
    const parse::Statement& statement = model.script.statements[i];
    if (statement.kind != parse::StatementKind::Attach || !aliases.insert(statement.alias).second) continue;
    if (auto done = instance.attach_alias(connection, statement.attach_uri, statement.alias); !done)
      return fail(on(statement, model, std::move(done).error()));
    attached.insert(i);
  }
  return attached;
}

/// Makes what the script takes from libraries and needs at statement `index`. Names of tables stay as written.
Result<void> make_macros(duck::Connection& connection, const Model& model, std::size_t index,
                         const std::string& partition, MacroPlaces& places) {
  const auto as_written = [](const Reference&) { return std::string(); };
  for (const SetupStatement& one : macros_before(model, index, as_written, partition))
    if (auto done = connection.execute(places.apart(one.sql)); !done)
      return fail(build::explain(done.error(), model, one.sql, 0, places));
  return {};
}

/// On the statement, or closer where the engine knows: `before` bytes of ours stand in front of it.
Diagnostic failed_at(const duck::Failure& failure, const Model& model, const parse::Statement& statement,
                     const parse::Spliced& rendered, std::size_t before, const MacroPlaces& macros) {
  Diagnostic found = build::explain(failure, model, rendered, before, macros);
  if (found.span.empty()) found.span = statement.span;
  return found;
}

bool hides_values(const Session& session) {
  return !session.project.config.samples || !session.project.config.private_columns.empty();
}

/// `*`, with the private ones among the statement's columns veiled.
duck::Sql shown_columns(const Session& session, duck::Connection& connection, const duck::Sql& statement) {
  const auto& hidden = session.project.config.private_columns;
  const auto columns =
      hidden.empty() ? duck::Outcome<std::vector<duck::Column>>() : connection.describe(duck::Sql("{}", statement));
  std::vector<duck::Sql> veiled;
  for (const duck::Column& column : columns ? *columns : std::vector<duck::Column>())
    if (std::any_of(hidden.begin(), hidden.end(),
                    [&column](const std::string& name) { return build::same_name(name, column.name); }))
      veiled.push_back(duck::Sql("'•••' AS {}", duck::Identifier(column.name)));
  return veiled.empty() ? duck::Sql("*") : duck::Sql("* REPLACE ({})", duck::Sql::join(veiled, ", "));
}

/// Runs the statements one by one; the last one's rows become the result.
Result<void> run_statements(Session& session, StepWork& work, lake::Lakes& instance) {
  WEIR_TRY(duck::Connection connection, instance.connect());
  const Model& model = *work.step->model;
  const auto seen = [&session](const duck::Failure& failure) {
    return hides_values(session) ? duck::without_values(failure) : failure;
  };
  const Running::Watch watch(session.running, model.path, "running", connection);
  WEIR_TRY(const std::set<std::size_t> attached, attach_all(instance, connection, model));
  WEIR_CHECK(instance.confine(session.project.config));
  MacroPlaces macros(model.source->text.size());
  for (std::size_t i = 0; i < model.script.statements.size(); ++i) {
    const parse::Statement& statement = model.script.statements[i];
    failpoint("manual_statement");
    WEIR_CHECK(make_macros(connection, model, i, work.step->slice, macros));
    if (attached.contains(i)) continue;
    if (statement.kind == parse::StatementKind::Install || statement.kind == parse::StatementKind::Load) continue;
    if (statement.kind == parse::StatementKind::Attach) {
      if (auto done = instance.attach_alias(connection, statement.attach_uri, statement.alias); !done)
        return fail(on(statement, model, std::move(done).error()));
      continue;
    }
    const parse::Spliced rendered = splice_manual(model, i, work.step->slice, work.step->arguments);
    const bool is_result = statement.kind == parse::StatementKind::Result && i + 1 == model.script.statements.size();
    if (is_result) {
      const duck::Sql head(
          "SELECT coalesce(json_group_array(json(row)), '[]') FROM (SELECT to_json(result) AS row FROM (SELECT {} FROM "
          "(",
          shown_columns(session, connection, rendered.sql()));
      auto rows = connection.query(duck::Sql("{}{}\n)) AS result LIMIT {})", head, rendered.sql(), kMostRows));
      if (!rows) return fail(failed_at(seen(rows.error()), model, statement, rendered, head.text().size(), macros));
      work.report.result_json = rows->text(0, 0);
    } else if (auto done = connection.execute(macros.apart(rendered)); !done) {
      return fail(failed_at(seen(done.error()), model, statement, rendered, 0, macros));
    }
  }
  return {};
}

Result<void> run_script(Session& session, StepWork& work) {
  const Model& model = *work.step->model;
  const lake::Lake& target = session.lake_of(model);
  std::vector<std::unique_ptr<lake::LakeLock>> locks;
  for (const std::string& name : lakes_of(session, model)) {
    WEIR_TRY(auto lock, session.lakes.lake(name).lock(session.stop));
    locks.push_back(std::move(lock));
  }
  if (work.lease) WEIR_CHECK(session.store.check({*work.lease}));
  WEIR_TRY(const std::int64_t before, newest_version(session, target));
  WEIR_TRY(const auto instance,
           lake::Lakes::open(session.project.config, {.extension_folder = io::extension_folder()}));
  auto outcome = run_statements(session, work, *instance);
  WEIR_TRY(const std::int64_t after, newest_version(session, target));
  for (std::int64_t version = before + 1; version <= after; ++version) work.report.versions.push_back(version);
  if (outcome) return {};
  Diagnostics problems = std::move(outcome).error();
  if (!work.report.versions.empty())
    problems.front().hint +=
        (problems.front().hint.empty() ? "" : "; ") +
        fmt::format("the script wrote versions {}–{} of lake {} before it failed", before + 1, after, target.name());
  return fail(std::move(problems));
}

}  // namespace

void run_manual(Session& session, StepWork& work) {
  const auto begin = std::chrono::steady_clock::now();
  auto done = run_script(session, work);
  work.report.ms.compute = millis_since(begin);
  if (!done) return fail_step(session, work, std::move(done).error());
  work.report.status = Status::Materialized;
}

}  // namespace weir::run
