// `weir due`, `weir status --freshness`, `weir status --cascade`, `weir inputs`: when models run, how old their results
// are, what started them, what they read.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/output.h"
#include "duck/sql.h"
#include "ops/cascade.h"
#include "ops/due.h"
#include "ops/inputs.h"

namespace weir::cli {
namespace {

using nlohmann::ordered_json;

std::string shown(const std::optional<calendar::Instant>& instant, const char* otherwise) {
  return instant ? short_time(calendar::format_instant(*instant)) : otherwise;
}

void put(ordered_json& object, const char* key, const std::optional<calendar::Instant>& instant) {
  if (instant) object[key] = calendar::format_instant(*instant);
}

std::string schedule_text(const ops::Due& due) {
  if (due.cron.empty()) return "every " + due.every;
  return due.tz.empty() ? due.cron : fmt::format("{} ({})", due.cron, due.tz);
}

/// The two largest units that say it: 2d 3h, 15m, 40s.
std::string age_text(std::chrono::seconds age) {
  constexpr std::pair<std::int64_t, char> kUnits[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
  std::string text;
  std::int64_t left = age.count();
  int parts = 0;
  for (const auto& [unit, letter] : kUnits) {
    if (parts == 2) break;
    if (parts > 0) ++parts;
    if (left < unit) continue;
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", left / unit, letter);
    left %= unit;
    parts = std::max(parts, 1);
  }
  return text.empty() ? "0s" : text;
}

/// What `weir query` reads it by.
std::string clause(const run::RecordedInputs::Table& table) {
  return duck::Sql("{} AT (VERSION => {})", duck::TableName{table.asset.place, table.asset.schema, table.asset.name},
                   table.version)
      .text();
}

}  // namespace

Exit due_command(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  const auto report = ops::due(*workspace, args.text("at"));
  if (!report) return refuse(report.error(), workspace->loaded(), streams);
  if (args.flag("json")) {
    ordered_json models = ordered_json::array();
    for (const ops::Due& one : report->models) {
      ordered_json schedule = one.cron.empty() ? ordered_json{{"every", one.every}} : ordered_json{{"cron", one.cron}};
      if (one.every.empty()) schedule["tz"] = one.tz.empty() ? "UTC" : one.tz;
      ordered_json model{{"model", one.model}, {"schedule", std::move(schedule)}, {"due", one.is_due}};
      put(model, "last_due", one.last);
      put(model, "next_due", one.next);
      put(model, "last_run", one.ran);
      models.push_back(std::move(model));
    }
    streams.out << ordered_json{{"at", calendar::format_instant(report->at)}, {"models", models}}.dump(2) << "\n";
    return Exit::Done;
  }
  std::vector<std::vector<std::string>> rows{{"model", "schedule", "", "last due", "last run", "next due"}};
  for (const ops::Due& one : report->models)
    rows.push_back({one.model, schedule_text(one), one.is_due ? "due" : "done", shown(one.last, ""),
                    shown(one.ran, "never"), shown(one.next, "")});
  print_table(rows, streams);
  return Exit::Done;
}

Exit show_freshness(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  const auto report = ops::freshness(*workspace, args.text("asset"));
  if (!report) return refuse(report.error(), workspace->loaded(), streams);
  if (args.flag("json")) {
    ordered_json models = ordered_json::array();
    for (const ops::Freshness& one : report->models) {
      ordered_json model{{"model", one.model}, {"freshness", one.state}, {"window_seconds", one.window.count()}};
      put(model, "succeeded", one.succeeded);
      if (one.age) model["age_seconds"] = one.age->count();
      models.push_back(std::move(model));
    }
    streams.out << ordered_json{{"at", calendar::format_instant(report->at)}, {"models", models}}.dump(2) << "\n";
    return Exit::Done;
  }
  std::vector<std::vector<std::string>> rows{{"model", "freshness", "window", "age", "last success"}};
  for (const ops::Freshness& one : report->models)
    rows.push_back(
        {one.model, one.state, age_text(one.window), one.age ? age_text(*one.age) : "", shown(one.succeeded, "")});
  print_table(rows, streams);
  return Exit::Done;
}

Exit show_cascade(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  const auto limit = static_cast<std::size_t>(std::max(1, std::atoi(args.text("limit", "50").c_str())));
  const auto events = ops::cascade_events(*workspace, args.text("asset"), limit);
  if (!events) return refuse(events.error(), workspace->loaded(), streams);
  if (args.flag("json")) {
    ordered_json decisions = ordered_json::array();
    for (const state::DispatchRecord& one : *events) decisions.push_back(ops::to_json(one));
    streams.out << ordered_json{{"decisions", decisions}}.dump(2) << "\n";
    return Exit::Done;
  }
  std::vector<std::vector<std::string>> rows{
      {"decided", "subscriber", "slice", "status", "reason", "run", "child run"}};
  for (const state::DispatchRecord& one : *events)
    rows.push_back(
        {short_time(one.decided), one.subscriber, one.slice, ops::status_of(one), one.reason, one.run, one.child});
  print_table(rows, streams);
  return Exit::Done;
}

Exit inputs_command(const Args& args, Streams& streams) {
  const auto run = args.text("run");
  if (!run) {
    streams.err << "error: which run?\nhint: weir inputs RUN; `weir status --json` names the run of each slice\n";
    return Exit::Misuse;
  }
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  const auto steps = ops::inputs(*workspace, *run);
  if (!steps) return refuse(steps.error(), workspace->loaded(), streams);
  if (args.flag("json")) {
    ordered_json all = ordered_json::array();
    for (const run::RecordedInputs& step : *steps) {
      ordered_json one{{"model", step.model}, {"status", step.status}};
      if (!step.partition.empty()) one["partition"] = step.partition;
      one["inputs"] = ordered_json::array();
      for (const auto& table : step.tables)
        one["inputs"].push_back({{"asset", table.asset.uri()}, {"snapshot_id", table.version}, {"at", clause(table)}});
      all.push_back(std::move(one));
    }
    streams.out << ordered_json{{"run", *run}, {"steps", all}}.dump(2) << "\n";
    return Exit::Done;
  }
  std::vector<std::vector<std::string>> rows{{"model", "slice", "status", "read"}};
  for (const run::RecordedInputs& step : *steps) {
    const std::string slice = step.partition.empty() ? "(whole table)" : step.partition;
    if (step.tables.empty()) rows.push_back({step.model, slice, step.status, "no table"});
    for (const auto& table : step.tables) rows.push_back({step.model, slice, step.status, clause(table)});
  }
  print_table(rows, streams);
  return Exit::Done;
}

}  // namespace weir::cli
