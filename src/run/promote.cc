#include "run/promote.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/failpoint.h"
#include "lake/commit.h"

namespace weir::run {
namespace {

using Models = std::map<std::string, const state::ShownModel*>;

Models by_path(const std::vector<state::ShownModel>& models) {
  Models all;
  for (const state::ShownModel& one : models) all.emplace(one.model, &one);
  return all;
}

struct Moves {
  std::vector<const state::ShownModel*> shown;  // views to make or to point elsewhere
  std::set<std::string> own;                    // keys of the views that are there already
  std::vector<Asset> gone;
  std::set<std::string> left;  // schemas of the environment's own that show nothing any more
};

Moves moves_of(const env::Environment& environment, const std::vector<state::ShownModel>& after) {
  Moves moves;
  const auto& before = environment.shown;
  const Models then = before ? by_path(before->models) : Models();
  std::set<std::string> views;
  for (const state::ShownModel& one : after) {
    if (one.data.empty()) continue;
    views.insert(parse_asset(one.view)->key());
    const auto earlier = then.find(one.model);
    if (earlier == then.end() || earlier->second->data != one.data || earlier->second->view != one.view)
      moves.shown.push_back(&one);
  }
  for (const auto& [path, one] : then) {
    if (one->data.empty()) continue;
    const Asset view = *parse_asset(one->view);
    moves.own.insert(view.key());
    if (!views.contains(view.key())) moves.gone.push_back(view);
  }
  if (environment.name == env::kProd) return moves;
  for (const Asset& view : moves.gone) moves.left.insert(view.schema);
  for (const state::ShownModel& one : after)
    if (!one.data.empty()) moves.left.erase(parse_asset(one.view)->schema);
  return moves;
}

/// What lies under the name of a new view is somebody's own, another environment's perhaps: it is never replaced.
Result<void> judge_names(const lake::Lake& lake, duck::Connection& connection, const Moves& moves,
                         std::int64_t version) {
  std::vector<Asset> views;
  for (const state::ShownModel* one : moves.shown) views.push_back(*parse_asset(one->view));
  WEIR_TRY(const auto states, lake.observe(connection, views, version));
  Diagnostics problems;
  for (const Asset& view : views) {
    const lake::TableState& state = states.at(view.key());
    if (!state.exists || (state.is_view && moves.own.contains(view.key()))) continue;
    problems.push_back({.code = Code::W5404,
                        .message = fmt::format("{} is a {} that is not the environment's; it would show a view there",
                                               view.uri(), state.is_view ? "view" : "table"),
                        .hint = "rename it, the model or the environment"});
  }
  if (!problems.empty()) return fail(std::move(problems));
  return {};
}

std::vector<duck::Sql> statements_of(const lake::Lake& lake, const Moves& moves) {
  std::vector<duck::Sql> statements;
  std::set<std::string> schemas;
  for (const Asset& view : moves.gone)
    statements.emplace_back("DROP VIEW IF EXISTS {}", lake.writable(view.schema, view.name));
  for (const state::ShownModel* one : moves.shown) {
    const Asset view = *parse_asset(one->view);
    const Asset data = *parse_asset(one->data);
    if (schemas.insert(view.schema).second)
      statements.emplace_back("CREATE SCHEMA IF NOT EXISTS {}", duck::TableName{{}, lake.writer(), view.schema});
    statements.emplace_back("CREATE OR REPLACE VIEW {} AS SELECT * FROM {}", lake.writable(view.schema, view.name),
                            duck::TableName{{}, data.schema, data.name});
  }
  return statements;
}

/// True where nothing lies in a schema, in the writer's own transaction.
duck::Outcome<bool> is_empty(const lake::Lake& lake, duck::Connection& writer, const std::string& schema) {
  std::vector<duck::Sql> kinds;
  for (const char* kind : {"duckdb_tables", "duckdb_views", "duckdb_functions"})
    kinds.emplace_back("SELECT 1 FROM {}() WHERE database_name = {} AND schema_name = {}", duck::Identifier(kind),
                       duck::Literal(lake.writer()), duck::Literal(schema));
  auto rows = writer.query(duck::Sql("{} LIMIT 1", duck::Sql::join(kinds, " UNION ALL ")));
  if (!rows) return tl::unexpected(std::move(rows).error());
  return rows->size() == 0;
}

Diagnostic not_moved(const std::string& environment, const duck::Failure& failure) {
  return lake::explain(Code::W5407, "moving the environment " + environment, failure);
}

class Promotion {
 public:
  Promotion(lake::Lakes& lakes, const PromoteRequest& request, Moves moves)
      : lakes_(lakes), request_(request), moves_(std::move(moves)) {}

  /// Moves the views. Returns the version of the lake. Requires: the lake's lock is held.
  Result<std::optional<std::int64_t>> commit(const lake::Lake& lake, const std::string& token) {
    WEIR_TRY(duck::Connection writer, lakes_.connect());
    auto transaction = duck::Transaction::begin(writer);
    if (!transaction) return fail(not_moved(request_.environment.name, transaction.error()));
    WEIR_TRY(const std::int64_t base, lake.base_version(writer));
    {
      WEIR_TRY(duck::Connection reader, lakes_.connect());
      WEIR_CHECK(judge_names(lake, reader, moves_, base));
    }
    for (const duck::Sql& statement : statements_of(lake, moves_)) {
      failpoint("promote_statement");
      if (auto done = writer.execute(statement); !done) {
        transaction->rollback();
        return fail(not_moved(request_.environment.name, done.error()));
      }
    }
    if (auto done = drop_schemas(lake, writer); !done) {
      transaction->rollback();
      return fail(not_moved(request_.environment.name, done.error()));
    }
    const lake::CommitRecord record = this->record(token);
    failpoint("before_promotion");
    WEIR_TRY(const std::optional<std::int64_t> version,
             lake::commit(writer, lake, std::move(*transaction), record, lake::author(), message(), base));
    failpoint("after_promotion");
    return version;
  }

  state::PromotionRecord promotion(const std::string& token, std::optional<std::int64_t> version) const {
    return {.environment = request_.environment.name,
            .generation = request_.environment.next_generation(),
            .time = state::now_text(),
            .run = request_.run,
            .token = token,
            .command = request_.command,
            .lake_version = version,
            .models = request_.models};
  }

 private:
  /// What weir made for views goes with the last of them, unless somebody put something there.
  duck::Outcome<void> drop_schemas(const lake::Lake& lake, duck::Connection& writer) {
    for (const std::string& schema : moves_.left) {
      const auto empty = is_empty(lake, writer, schema);
      if (!empty) return tl::unexpected(empty.error());
      if (!*empty) continue;
      if (auto done = writer.execute(duck::Sql("DROP SCHEMA IF EXISTS {}", duck::TableName{{}, lake.writer(), schema}));
          !done)
        return tl::unexpected(std::move(done).error());
    }
    return {};
  }

  lake::CommitRecord record(const std::string& token) const {
    lake::CommitRecord record{
        .weir = WEIR_VERSION, .token = token, .run = request_.run, .environment = request_.environment.name};
    record.generation = request_.environment.next_generation();
    for (const state::ShownModel& one : request_.models)
      record.views[one.view] = {one.data, one.model, one.fingerprint, one.definition};
    return record;
  }

  std::string message() const {
    return fmt::format("{} moves to generation {}", request_.environment.name, request_.environment.next_generation());
  }

  lake::Lakes& lakes_;
  const PromoteRequest& request_;
  Moves moves_;
};

Failed moved_meanwhile(const std::string& environment) {
  return fail(Diagnostic{.code = Code::W5412,
                         .message = fmt::format("{} was moved by somebody else meanwhile", environment),
                         .hint = "run the command again"});
}

/// The environment is as it was looked at: neither the state nor the lake, which is ahead of it where somebody died in
/// between, knows a newer generation. Requires: the lake's lock is held, so that it stays so.
Result<void> expect_unmoved(const lake::Lake& lake, lake::Lakes& lakes, state::Store& store,
                            const env::Environment& environment) {
  const std::int64_t known = environment.next_generation() - 1;
  WEIR_TRY(const auto newest, store.promotions(environment.name, 1));
  if ((newest.empty() ? 0 : newest.front().generation) != known) return moved_meanwhile(environment.name);
  WEIR_TRY(duck::Connection connection, lakes.connect());
  WEIR_TRY(const std::int64_t reconciled, store.reconciled_version(lake.name()));
  WEIR_TRY(const auto versions, lake.commits_after(connection, reconciled));
  for (const lake::VersionRecord& version : versions) {
    const auto commit = lake::CommitRecord::from_json(version.extra_info);
    if (commit && commit->environment == environment.name && commit->generation > known)
      return moved_meanwhile(environment.name);
  }
  return {};
}

bool is_good(Status status) {
  return status == Status::Materialized || status == Status::Unchanged || status == Status::Fresh;
}

}  // namespace

Result<std::optional<state::PromotionRecord>> promote(const Project& project, lake::Lakes& lakes, state::Store& store,
                                                      const PromoteRequest& request, const std::atomic<bool>& stop) {
  const auto& before = request.environment.shown;
  if (request.models.empty() && !before) return std::optional<state::PromotionRecord>();
  if (before && before->models == request.models && !request.environment.has_moved) return before;
  Moves moves = moves_of(request.environment, request.models);
  const bool moves_views = !moves.shown.empty() || !moves.gone.empty();
  Promotion promotion(lakes, request, std::move(moves));
  const std::string token = state::new_run_id();
  failpoint("before_moving");
  // Held until the state has the generation: two that move one environment do so one after the other.
  const lake::Lake& lake = lakes.lake(project.config.lakes.front().name);
  WEIR_TRY(const auto lock, lake.lock(stop));
  WEIR_CHECK(expect_unmoved(lake, lakes, store, request.environment));
  std::optional<std::int64_t> version;
  if (moves_views) {
    WEIR_TRY(version, promotion.commit(lake, token));
  }
  state::PromotionRecord record = promotion.promotion(token, version);
  WEIR_CHECK(store.promote(record));
  failpoint("promotion_recorded");
  return std::optional(std::move(record));
}

std::vector<state::ShownModel> shown_after(const Session& session, const env::Environment& environment,
                                           const std::vector<StepReport>& steps, bool is_whole, Diagnostics& notes) {
  std::map<std::string, Status> ended;
  std::vector<std::string> failed;
  for (const StepReport& step : steps) {
    ended.emplace(step.model, step.status);
    if (step.is_held_up) failed.push_back(step.model);
  }
  std::vector<state::ShownModel> before;
  if (environment.shown) before = environment.shown->models;
  std::map<std::string, state::ShownModel> after;
  for (const state::ShownModel& one : before)
    // What the project no longer has is shown no more.
    if (!is_whole || session.owned.contains(one.model)) after.emplace(one.model, one);
  for (const auto& [path, placement] : session.owned) {
    const auto status = ended.find(path);
    const bool has_step = placement.data && !placement.is_reused;
    if (has_step && status == ended.end()) continue;
    if (has_step && !is_good(status->second)) {
      failed.push_back(path);
      continue;
    }
    after[path] = {path, placement.fingerprint, placement.data ? placement.data->uri() : std::string(),
                   placement.view.uri(), placement.definition};
  }
  std::vector<state::ShownModel> models;
  for (auto& [path, one] : after) models.push_back(std::move(one));
  if (failed.empty() || session.options.partial || models == before) return models;
  notes.push_back({.code = Code::W5407,
                   .severity = Severity::Warning,
                   .message = fmt::format("{} was not moved: {} did not end well", environment.name, failed.front()),
                   .hint = "readers see what they saw before; --partial moves the models that did"});
  return before;
}

}  // namespace weir::run
