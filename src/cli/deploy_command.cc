// weir deploy
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/output.h"
#include "ops/deploy.h"
#include "text/render.h"

namespace weir::cli {
namespace {

text::SourceText sources_of(const ops::Workspace& workspace) {
  return [&workspace](std::string_view path) -> std::optional<std::string_view> {
    const Source* found = workspace.loaded() == nullptr ? nullptr : workspace.loaded()->source(path);
    if (found == nullptr) return std::nullopt;
    return found->text;
  };
}

void print_changes(const state::DeploymentChanges& changes, Streams& streams) {
  for (const std::string& path : changes.added) streams.out << paint(streams, Color::Good, "+") << " " << path << "\n";
  for (const std::string& path : changes.changed)
    streams.out << paint(streams, Color::Warning, "~") << " " << path << "\n";
  for (const auto& [before, now] : changes.renamed)
    streams.out << paint(streams, Color::Warning, "→") << " " << before << " → " << now << "\n";
  for (const std::string& path : changes.removed) streams.out << paint(streams, Color::Bad, "-") << " " << path << "\n";
  for (const std::string& path : changes.libraries)
    streams.out << paint(streams, Color::Warning, "~") << " " << path << " (macros)\n";
}

nlohmann::ordered_json json_of(const ops::Deployed& deployed, const ops::Workspace& workspace, const Args& args) {
  nlohmann::ordered_json renamed = nlohmann::ordered_json::array();
  for (const auto& [before, now] : deployed.changes.renamed) renamed.push_back({{"from", before}, {"to", now}});
  nlohmann::ordered_json object{{"environment", args.text("env", "prod")},
                                {"dry_run", args.flag("dry-run")},
                                {"models", deployed.models},
                                {"metrics", deployed.metrics},
                                {"added", deployed.changes.added},
                                {"changed", deployed.changes.changed},
                                {"renamed", std::move(renamed)},
                                {"removed", deployed.changes.removed},
                                {"libraries", deployed.changes.libraries},
                                {"unchanged", deployed.changes.unchanged},
                                {"diagnostics", text::render_json(deployed.warnings, sources_of(workspace))}};
  if (!deployed.deployment.empty()) object["deployment"] = deployed.deployment;
  return object;
}

}  // namespace

Exit deploy_command(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  ops::DeployRequest request{.environment = args.text("env", "prod"), .is_dry_run = args.flag("dry-run")};
  request.command = args.line;
  const auto deployed = ops::deploy(*workspace, request);
  if (!deployed) return refuse(deployed.error(), workspace->loaded(), streams);
  if (args.flag("json")) {
    streams.out << json_of(*deployed, *workspace, args).dump(2) << "\n";
    return Exit::Done;
  }
  print_changes(deployed->changes, streams);
  if (!args.flag("quiet")) {
    const std::string what =
        fmt::format("{}, {}", counted(deployed->models, "model"), counted(deployed->metrics, "metric"));
    if (deployed->changes.empty())
      streams.err << fmt::format("nothing differs from what {} has: {}\n", request.environment, what);
    else
      streams.err << fmt::format("{} {}: {}\n", request.is_dry_run ? "would deploy to" : "deployed to",
                                 request.environment, what);
  }
  print(deployed->warnings, workspace->loaded(), streams);
  return Exit::Done;
}

}  // namespace weir::cli
