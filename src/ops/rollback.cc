#include "ops/rollback.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "run/recovery.h"
#include "run/report.h"

namespace weir::ops {
namespace {

constexpr std::size_t kListed = 20;

Diagnostic no_generation(const std::string& environment, const std::vector<state::PromotionRecord>& known,
                         const std::optional<std::int64_t>& wanted) {
  Diagnostic found{.code = Code::W5409};
  found.message = wanted ? fmt::format("{} has no earlier generation {}", environment, *wanted)
                         : fmt::format("{} has no earlier generation", environment);
  std::string others;
  for (std::size_t i = 1; i < known.size(); ++i)
    others += (others.empty() ? "" : ", ") + std::to_string(known[i].generation);
  found.hint = others.empty() ? "every promotion makes one" : "there are " + others;
  return found;
}

std::vector<Rollback::Move> moves_between(const state::PromotionRecord& before, const state::PromotionRecord& after) {
  std::map<std::string, Rollback::Move> moves;
  for (const state::ShownModel& one : before.models) moves[one.model] = {one.model, one.data, ""};
  for (const state::ShownModel& one : after.models) {
    Rollback::Move& move = moves[one.model];
    move.model = one.model;
    move.after = one.data;
  }
  std::vector<Rollback::Move> changed;
  for (auto& [model, move] : moves)
    if (move.before != move.after) changed.push_back(std::move(move));
  return changed;
}

/// Every table that the generation shows must be there.
Result<void> judge_tables(Workspace& workspace, const state::PromotionRecord& target) {
  WEIR_TRY(const Config* config, workspace.config());
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(true));
  const lake::Lake& lake = lakes->lake(config->lakes.front().name);
  std::vector<Asset> assets;
  for (const state::ShownModel& one : target.models)
    if (const auto asset = parse_asset(one.data)) assets.push_back(*asset);
  WEIR_TRY(duck::Connection connection, lakes->connect());
  WEIR_TRY(const std::int64_t version, lake.newest_version(connection));
  WEIR_TRY(const auto states, lake.observe(connection, assets, version));
  Diagnostics problems;
  for (const state::ShownModel& one : target.models) {
    const auto asset = parse_asset(one.data);
    if (!asset || states.at(asset->key()).exists) continue;
    problems.push_back(
        {.code = Code::W5408,
         .message = fmt::format("{} of generation {} is gone: {}", one.model, target.generation, one.data),
         .hint = "put the model's earlier text back and run it: weir run --force"});
  }
  if (!problems.empty()) return fail(std::move(problems));
  return {};
}

}  // namespace

Result<std::vector<state::PromotionRecord>> generations(Workspace& workspace, const std::string& environment,
                                                        std::size_t limit) {
  WEIR_TRY(state::Store * store, workspace.store());
  return store->promotions(environment, limit);
}

Result<Rollback> rollback(Workspace& workspace, const RollbackRequest& request, run::Listener& listener,
                          const std::atomic<bool>& stop) {
  WEIR_TRY(const Project* project, workspace.project());
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(true));
  WEIR_TRY(state::Store * store, workspace.store());
  WEIR_CHECK(run::recover(*project, *lakes, *store, listener, stop));
  WEIR_TRY(const auto known, store->promotions(request.environment, kListed));
  if (known.size() < 2) return fail(no_generation(request.environment, known, request.to));
  const state::PromotionRecord& newest = known.front();
  std::optional<state::PromotionRecord> target = known[1];
  if (request.to) {
    WEIR_TRY(target, store->promotion(request.environment, *request.to));
    if (!target || target->generation >= newest.generation)
      return fail(no_generation(request.environment, known, request.to));
  }
  WEIR_CHECK(judge_tables(workspace, *target));
  Rollback done{.from = newest.generation, .to = target->generation, .moves = moves_between(newest, *target)};
  if (request.is_dry_run) return done;
  env::Environment environment;
  environment.name = request.environment;
  environment.shown = newest;
  const run::PromoteRequest promotion{
      .environment = environment, .models = target->models, .run = "", .command = request.command};
  WEIR_TRY(const auto made, run::promote(*project, *lakes, *store, promotion, stop));
  if (made) done.made = made->generation;
  return done;
}

}  // namespace weir::ops
