#include "ops/due.h"

#include <algorithm>
#include <map>

#include "calendar/schedule.h"
#include "io/clock.h"

namespace weir::ops {
namespace {

using calendar::Instant;

/// Last successes by model, each in the nearest environment that has one: what an environment does not build, it reads
/// from the one that it comes from.
Result<std::map<std::string, state::Store::Success>> successes(Workspace& workspace, Instant until) {
  std::map<std::string, state::Store::Success> all;
  WEIR_TRY(state::Store * store, workspace.store_if_there());
  if (store == nullptr) return all;
  WEIR_TRY(const std::vector<env::Settings> chain, workspace.chain());
  for (const env::Settings& environment : chain) {
    WEIR_TRY(auto found, store->successes(environment.name, calendar::format_instant(until)));
    all.merge(found);
  }
  return all;
}

Result<std::optional<Instant>> when(const std::map<std::string, state::Store::Success>& successes,
                                    const std::string& model, std::string state::Store::Success::*which) {
  const auto found = successes.find(model);
  if (found == successes.end()) return std::optional<Instant>();
  WEIR_TRY(const Instant instant, calendar::parse_instant(found->second.*which));
  return std::optional<Instant>(instant);
}

/// Requires: a model whose header was checked.
Result<calendar::Schedule> schedule_of(const Model& model) {
  if (model.schedule_cron.empty())
    return calendar::Schedule::every(calendar::parse_duration(model.schedule_every).value_or(1));
  return calendar::Schedule::cron(model.schedule_cron, model.schedule_tz);
}

}  // namespace

Result<DueReport> due(Workspace& workspace, const std::optional<std::string>& at) {
  DueReport report{.at = io::now(), .models = {}};
  if (at) {
    WEIR_TRY(report.at, calendar::parse_instant(*at));
  }
  WEIR_TRY(const Graph* graph, workspace.graph());
  WEIR_TRY(const auto succeeded, successes(workspace, report.at));
  for (const Model& model : graph->models()) {
    if (model.schedule_cron.empty() && model.schedule_every.empty()) continue;
    WEIR_TRY(const calendar::Schedule schedule, schedule_of(model));
    Due one{.model = model.path,
            .cron = model.schedule_cron,
            .every = model.schedule_every,
            .tz = model.schedule_tz,
            .last = schedule.last_at(report.at),
            .next = schedule.next_after(report.at)};
    WEIR_TRY(one.ran, when(succeeded, model.path, &state::Store::Success::started));
    one.is_due = one.last && (!one.ran || *one.ran < *one.last);
    report.models.push_back(std::move(one));
  }
  return report;
}

Result<FreshnessReport> freshness(Workspace& workspace, const std::optional<std::string>& asset) {
  FreshnessReport report{.at = io::now(), .models = {}};
  WEIR_TRY(const Graph* graph, workspace.graph());
  std::optional<Asset> wanted;
  if (asset) {
    WEIR_TRY(wanted, workspace.asset_named(*asset));
  }
  WEIR_TRY(const auto succeeded, successes(workspace, report.at));
  bool is_produced = !wanted;
  for (const Model& model : graph->models()) {
    if (wanted && !(*wanted == model.relation)) continue;
    is_produced = true;
    const auto window = calendar::parse_duration(model.freshness);
    if (!window) continue;
    Freshness one{.model = model.path, .window = std::chrono::seconds(*window), .state = "never"};
    WEIR_TRY(one.succeeded, when(succeeded, model.path, &state::Store::Success::finished));
    if (one.succeeded) {
      one.age = std::max(std::chrono::duration_cast<std::chrono::seconds>(report.at - *one.succeeded),
                         std::chrono::seconds(0));
      one.state = *one.age <= one.window ? "green" : "amber";
    }
    report.models.push_back(std::move(one));
  }
  if (!is_produced)
    return fail(Diagnostic{
        .code = Code::W2012, .message = "no model produces " + wanted->uri(), .hint = workspace.hint_for(*asset)});
  return report;
}

}  // namespace weir::ops
