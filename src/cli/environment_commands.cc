// Commands on what environments show: rollback, gc.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "ops/collect.h"
#include "ops/rollback.h"

namespace weir::cli {
namespace {

Exit list_generations(ops::Workspace& workspace, const std::string& environment, const Args& args, Streams& streams) {
  const auto all = ops::generations(workspace, environment, 50);
  if (!all) return refuse(all.error(), workspace.loaded(), streams);
  nlohmann::json list = nlohmann::json::array();
  std::vector<std::vector<std::string>> rows{{"generation", "time", "models", "run", "command"}};
  for (const state::PromotionRecord& one : *all) {
    nlohmann::json object{
        {"generation", one.generation}, {"time", one.time}, {"run", one.run}, {"command", one.command}};
    object["snapshot_id"] = one.lake_version ? nlohmann::json(*one.lake_version) : nlohmann::json();
    object["models"] = nlohmann::json::array();
    for (const state::ShownModel& model : one.models)
      object["models"].push_back(
          {{"model", model.model}, {"definition", model.fingerprint}, {"table", model.data}, {"view", model.view}});
    list.push_back(std::move(object));
    const char* mark = &one == &all->front() ? " (shown)" : "";
    rows.push_back({std::to_string(one.generation) + mark, short_time(one.time), std::to_string(one.models.size()),
                    one.run, one.command});
  }
  if (args.flag("json")) {
    streams.out << nlohmann::json{{"environment", environment}, {"generations", list}}.dump(2) << "\n";
    return Exit::Done;
  }
  print_table(rows, streams);
  return Exit::Done;
}

}  // namespace

Exit rollback_command(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  ops::RollbackRequest request;
  request.environment = args.text("env", "prod");
  request.is_dry_run = args.flag("dry-run");
  request.command = args.line;
  if (const auto to = args.text("to")) request.to = std::atoll(to->c_str());
  if (args.flag("list")) return list_generations(*workspace, request.environment, args, streams);
  Progress progress(streams, args.flag("quiet"), false);
  const auto done = ops::rollback(*workspace, request, progress, stop_requested());
  if (!done) return refuse(done.error(), workspace->loaded(), streams);
  if (args.flag("json")) {
    nlohmann::json object{{"environment", request.environment},
                          {"from", done->from},
                          {"to", done->to},
                          {"generation", done->made ? nlohmann::json(*done->made) : nlohmann::json()},
                          {"moves", nlohmann::json::array()}};
    for (const auto& move : done->moves)
      object["moves"].push_back({{"model", move.model}, {"before", move.before}, {"after", move.after}});
    streams.out << object.dump(2) << "\n";
    return Exit::Done;
  }
  for (const auto& move : done->moves)
    streams.out << fmt::format("{}: {} → {}\n", move.model, move.before.empty() ? "not shown" : move.before,
                               move.after.empty() ? "not shown" : move.after);
  if (done->moves.empty()) streams.out << "nothing differs\n";
  if (done->made)
    streams.err << fmt::format("{} shows generation {} again, as generation {}\n", request.environment, done->to,
                               *done->made);
  return Exit::Done;
}

Exit gc_command(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  ops::CollectRequest request;
  request.is_dry_run = args.flag("dry-run");
  if (const auto keep = args.text("keep"))
    request.keep = static_cast<std::size_t>(std::max(0LL, std::atoll(keep->c_str())));
  request.grace = args.text("grace", request.grace);
  Progress progress(streams, args.flag("quiet"), false);
  const auto done = ops::collect(*workspace, request, progress, stop_requested());
  if (!done) return refuse(done.error(), workspace->loaded(), streams);
  if (args.flag("json")) {
    nlohmann::json object{{"removed", nlohmann::json::array()}, {"kept", done->kept}, {"dry_run", request.is_dry_run}};
    for (const auto& table : done->removed)
      object["removed"].push_back({{"table", table.uri}, {"model", table.model}, {"why", table.why}});
    streams.out << object.dump(2) << "\n";
    return Exit::Done;
  }
  for (const auto& table : done->removed) streams.out << fmt::format("{}  {}\n", table.uri, table.why);
  streams.err << fmt::format("{} {}, {} kept\n", counted(static_cast<std::int64_t>(done->removed.size()), "table"),
                             request.is_dry_run ? "would go" : "removed", done->kept);
  return Exit::Done;
}

}  // namespace weir::cli
