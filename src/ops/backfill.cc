#include "ops/backfill.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "calendar/windows.h"
#include "ops/data.h"
#include "plan/many_partitions.h"
#include "plan/partitions.h"
#include "plan/windows.h"
#include "project/project.h"
#include "project/setup.h"
#include "project/window_rows.h"
#include "run/inline.h"

namespace weir::ops {
namespace {

/// More slices than this are rarely meant.
constexpr std::size_t kMany = 1000;

Failed which(std::string message) {
  return fail(Diagnostic{.code = Code::W8025,
                         .message = std::move(message),
                         .hint = "--from A --to B, or --partitions v1,v2, or --from-query SQL"});
}

Result<std::vector<std::string>> values_of(Workspace& workspace, const std::string& sql) {
  WEIR_TRY(const QueryResult result, query(workspace, {.sql = sql, .limit = {}, .format = {}, .output = {}}));
  if (result.columns.size() != 1)
    return which(fmt::format("the query of --from-query returns {} columns, not one", result.columns.size()));
  std::vector<std::string> values;
  for (const auto& row : result.rows) {
    if (!row.front()) return which("the query of --from-query returns NULL, which names no partition");
    values.push_back(*row.front());
  }
  if (values.empty()) return which("the query of --from-query returns no row");
  return values;
}

/// As `weir status` says. A range that is none is told by the run, in its words.
Result<std::set<std::string>> stale_slices(Workspace& workspace, const Model& model, const plan::SliceRange& range) {
  std::set<std::string> names;
  StatusRequest asked{.asset = model.relation.uri()};
  if (is_windowed(model)) {
    asked.from = range.from;
    asked.to = range.to;
  }
  WEIR_TRY(const std::vector<AssetStatus> assets, status(workspace, workspace.environment(), asked));
  for (const AssetStatus& asset : assets)
    for (const SliceStatus& slice : asset.slices)
      if (slice.status == "stale") names.insert(slice.slice);
  return names;
}

std::size_t count_of(const DryRun& dry, const std::function<bool(const plan::Step&)>& is_counted) {
  const auto& steps = dry.planned.plan.steps;
  return static_cast<std::size_t>(std::count_if(steps.begin(), steps.end(), [&](const plan::Step& step) {
    return step.action == plan::Action::Build && is_counted(step);
  }));
}

}  // namespace

Result<RunRequest> run_of(Workspace& workspace, const BackfillRequest& request) {
  WEIR_TRY(const Project* project, workspace.project());
  WEIR_TRY(const Model* model, find_model(*project, request.model));
  const int ways =
      (request.from || request.to ? 1 : 0) + (request.partitions.empty() ? 0 : 1) + (request.from_query ? 1 : 0);
  if (ways == 0) return which(fmt::format("nothing says which slices of {} are meant", model->path));
  if (ways > 1) return which("the slices are named in two ways");
  plan::SliceRange range{.from = request.from.value_or(request.to.value_or("")),
                         .to = request.to.value_or(request.from.value_or("")),
                         .values = request.partitions,
                         .all = request.all,
                         .outdated = request.outdated};
  if (request.to && !request.from) return which("--to without --from");
  if (request.from_query) {
    WEIR_TRY(range.values, values_of(workspace, *request.from_query));
  }
  if (request.stale) {
    WEIR_TRY(range.stale, stale_slices(workspace, *model, range));
  }
  RunRequest run = request.run;
  run.select = {model->path + (request.downstream ? "+" : "")};
  run.range = std::move(range);
  run.ranged = model->path;
  return run;
}

std::string_view name_of(Route::Way way) {
  switch (way) {
    case Route::Way::OneQuery:
      return "one query";
    case Route::Way::SideBySide:
      return "side by side";
    case Route::Way::OneByOne:
      return "one after another";
    case Route::Way::Windows:
      break;
  }
  return "windows";
}

namespace {

/// Why the query of the model does not give many partitions at once; empty if it does.
Result<std::string> why_not_one_query(Workspace& workspace, const DryRun& dry, const plan::SliceGroup& group) {
  const plan::Step& step = *group.first;
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(false));
  WEIR_TRY(duck::Connection connection, lakes->connect());
  const Graph& graph = *dry.planned.placed.graph;
  const WhereToRead where = [&](const Reference& reference) -> std::string {
    const Model* producer = graph.producer(reference.asset);
    if (producer != nullptr && (producer->plane == Plane::Ephemeral || producer->plane == Plane::View))
      return run::inlined(*producer, where);
    return duck::Sql("{}", duck::TableName{{}, reference.asset.schema, reference.asset.name}).text();
  };
  const std::string any(plan::kAnyPartition);
  std::vector<parse::Spliced> setup;
  for (SetupStatement& one : setup_statements(*step.model, where, any, step.arguments))
    setup.push_back(std::move(one.sql));
  const parse::Spliced query =
      splice_statement(*step.model, step.model->script.statements.size() - 1, where, any, step.arguments);
  return plan::many_query(connection, query, setup, plan::names_of(*step.model, group.slices)).why;
}

}  // namespace

Result<std::vector<Route>> routes_of(Workspace& workspace, const DryRun& dry) {
  std::vector<Route> routes;
  for (const plan::SliceGroup& group : plan::slice_groups(dry.planned.plan)) {
    Route route{.model = group.first->model->path, .slices = group.slices.size()};
    route.why = group.why_not_at_once;
    if (is_windowed(*group.first->model)) {
      route.way = Route::Way::Windows;
      route.why = group.slices.size() == 1 ? "" : plan::reason_for_single_windows(*group.first->model);
    } else if (group.in_order) {
      route.way = Route::Way::OneByOne;
    } else {
      if (route.why.empty()) {
        WEIR_TRY(route.why, why_not_one_query(workspace, dry, group));
      }
      if (!route.why.empty()) route.way = Route::Way::SideBySide;
    }
    routes.push_back(std::move(route));
  }
  return routes;
}

std::string text_of(const Route& route) {
  if (route.way == Route::Way::Windows)
    return route.slices == 1
               ? fmt::format("{}: its windows by one query", route.model)
               : fmt::format("{}: {} windows one after another: {}", route.model, route.slices, route.why);
  const char* by = route.way == Route::Way::OneQuery ? "by " : "";
  return fmt::format("{}: {} partition{} {}{}{}", route.model, route.slices, route.slices == 1 ? "" : "s", by,
                     name_of(route.way), route.why.empty() ? std::string() : ": " + route.why);
}

Result<std::size_t> slices_of(const DryRun& dry) {
  std::size_t count = 0;
  for (const plan::Step& step : dry.planned.plan.steps) {
    if (step.action != plan::Action::Build) continue;
    const auto windows = is_windowed(*step.model) ? calendar::Windows::parse(step.slice) : std::nullopt;
    if (!windows || !windows->is_bounded()) {
      ++count;
      continue;
    }
    const Model& model = *step.model;
    WEIR_TRY(const auto calendar, calendar::WindowCalendar::make(model.interval, model.lookback, model.tz));
    count += calendar.count(*windows);
  }
  return count;
}

Result<std::vector<std::string>> concerns_of(const DryRun& dry) {
  std::vector<std::string> concerns;
  WEIR_TRY(const std::size_t slices, slices_of(dry));
  if (slices > kMany) concerns.push_back(fmt::format("{} slices are to be built", slices));
  const std::size_t again = count_of(dry, [&](const plan::Step& step) {
    if (step.model->strategy != Strategy::Append || !step.model->target) return false;
    const state::SliceRecord* record = dry.planned.world.slice(step.model->target->key(), step.slice);
    const auto standing = plan::standing_of(record, *step.model, step.fingerprint, dry.planned.world);
    return standing != plan::Standing::Missing && standing != plan::Standing::Failed;
  });
  if (again > 0)
    concerns.push_back(fmt::format("{} of them {} there already and {} appended to once more: {} rows come twice",
                                   again, again == 1 ? "is" : "are", again == 1 ? "is" : "are",
                                   again == 1 ? "its" : "their"));
  return concerns;
}

}  // namespace weir::ops
