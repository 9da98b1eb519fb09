// Manual scripts: run as written, in an instance of their own, where their aliases are real attachments: the lakes
// read-write under their locks. weir records the slice, the run, the time, and the versions that the script's commits
// made.
//
// In an environment other than prod the aliases are its own lakes, where views lead to what only the parents have, and
// these are attached for reading alone. A table that the script names as one that it writes takes the place of such a
// view beforehand: nothing where the script makes it, a copy of the parent's rows where it must be there.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/failpoint.h"
#include "build/names.h"
#include "duck/veil.h"
#include "io/installation.h"
#include "project/manual_reach.h"
#include "project/render.h"
#include "project/setup.h"
#include "run/deferral.h"
#include "run/lake_change.h"
#include "run/seed.h"
#include "run/step.h"

namespace weir::run {
namespace {

constexpr std::int64_t kMostRows = 1000;

/// The lake that an ATTACH of the script means in the environment; nothing for what is no lake.
const lake::Lake* lake_of(const Session& session, const parse::Statement& statement) {
  if (statement.kind != parse::StatementKind::Attach) return nullptr;
  const auto asset = parse_asset(statement.attach_uri);
  if (!asset || asset->kind != AssetKind::Lake) return nullptr;
  return &session.lakes.lake(session.placed.forks.written(*asset).place);
}

/// Lakes that the script attaches, and the lake of its target; sorted, so that two scripts never wait for each other in
/// a circle.
std::set<std::string> lakes_of(const Session& session, const Model& model) {
  std::set<std::string> names{session.lake_of(model).name()};
  for (const parse::Statement& statement : model.script.statements)
    if (const lake::Lake* lake = lake_of(session, statement)) names.insert(lake->name());
  return names;
}

Result<void> attach(const Session& session, lake::Lakes& instance, duck::Connection& connection,
                    const parse::Statement& statement) {
  const lake::Lake* lake = lake_of(session, statement);
  return instance.attach_alias(connection, lake == nullptr ? statement.attach_uri : "ducklake://" + lake->name(),
                               statement.alias);
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
Result<std::set<std::size_t>> attach_all(const Session& session, lake::Lakes& instance, duck::Connection& connection,
                                         const Model& model) {
  std::set<std::size_t> attached;
  std::set<std::string> aliases;
  for (std::size_t i = 0; i < model.script.statements.size(); ++i) {
    const parse::Statement& statement = model.script.statements[i];
    if (statement.kind != parse::StatementKind::Attach || !aliases.insert(statement.alias).second) continue;
    if (auto done = attach(session, instance, connection, statement); !done)
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
  WEIR_TRY(const std::set<std::size_t> attached, attach_all(session, instance, connection, model));
  WEIR_CHECK(instance.confine(session.project.config));
  MacroPlaces macros(model.source->text.size());
  for (std::size_t i = 0; i < model.script.statements.size(); ++i) {
    const parse::Statement& statement = model.script.statements[i];
    failpoint("manual_statement");
    WEIR_CHECK(make_macros(connection, model, i, work.step->slice, macros));
    if (attached.contains(i)) continue;
    if (statement.kind == parse::StatementKind::Install || statement.kind == parse::StatementKind::Load) continue;
    if (statement.kind == parse::StatementKind::Attach) {
      if (auto done = attach(session, instance, connection, statement); !done)
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

/// What made room for the script's tables in the environment's own lakes.
struct Room {
  std::vector<Seed> copies;
  bool has_dropped = false;
};

/// The views that stand where the script will write, each with its lake.
Result<std::map<const lake::Lake*, std::vector<WrittenTable>>> deferrals_written(Session& session, const Model& model) {
  std::map<const lake::Lake*, std::vector<WrittenTable>> found;
  WEIR_TRY(duck::Connection connection, session.lakes.connect());
  const std::vector<WrittenTable> tables = written_tables(model, session.project.config);
  for (const WrittenTable& one : tables) {
    const Asset asset = session.placed.forks.written(one.asset);
    const lake::Lake& lake = session.lakes.lake(asset.place);
    if (lake.config().fork_of.empty()) continue;
    WEIR_TRY(const std::int64_t version, lake.newest_version(connection));
    WEIR_TRY(const auto states, lake.observe(connection, {asset}, version));
    if (states.at(asset.key()).is_deferral) found[&lake].push_back(one);
  }
  return found;
}

/// Views give way: to nothing where the script makes the table, or to a copy.
Result<Room> make_room(Session& session, const Model& model) {
  Room room;
  const env::Forks& forks = session.placed.forks;
  if (forks.empty()) return room;
  WEIR_TRY(const auto deferrals, deferrals_written(session, model));
  std::vector<Seed> copies;
  for (const auto& [lake, tables] : deferrals) {
    std::vector<duck::Sql> drops;
    for (const WrittenTable& one : tables) {
      const Asset to = forks.written(one.asset);
      const bool begins_empty = one.is_made && !(one.is_kept && forks.copies(one.asset));
      if (begins_empty)
        drops.emplace_back("DROP VIEW IF EXISTS {}", lake->writable(to.schema, to.name));
      else
        copies.push_back({&model, forks.read(one.asset), to});
    }
    if (drops.empty()) continue;
    room.has_dropped = true;
    WEIR_TRY(const auto lock, lake->lock(session.stop));
    lake::CommitRecord record;
    record.run = session.run;
    record.environment = session.options.environment;
    WEIR_TRY(const std::int64_t version, change_lake(session.lakes, *lake, drops, std::move(record), "making room",
                                                     "views give way to what a script makes"));
    (void)version;
  }
  WEIR_TRY(room.copies,
           seed_tables(session.lakes, session.store, copies, session.run, session.options.environment, session.stop));
  return room;
}

/// Where the script failed the parents' tables are read again, unless it wrote its own.
Result<void> leave_room(Session& session, const Room& room) {
  if (room.copies.empty() && !room.has_dropped) return {};
  static const std::atomic<bool> never{false};
  WEIR_CHECK(remove_unused(session.lakes, room.copies, session.run, session.options.environment, never));
  return refresh_deferrals(session.project.config, session.lakes, session.options.environment, never);
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
  auto room = make_room(session, *work.step->model);
  if (!room) return fail_step(session, work, std::move(room).error());
  auto done = run_script(session, work);
  if (!done) {
    if (auto left = leave_room(session, *room); !left)
      std::move(left.error().begin(), left.error().end(), std::back_inserter(done.error()));
  }
  work.report.ms.compute = millis_since(begin);
  if (!done) return fail_step(session, work, std::move(done).error());
  work.report.status = Status::Materialized;
}

}  // namespace weir::run
