// `weir maintain`: merges, rewrites, expires and removes, and says how much of each.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "ops/maintain.h"

namespace weir::cli {
namespace {

nlohmann::ordered_json json_of(const lake::Compacted& done) {
  nlohmann::ordered_json json{
      {"tables", done.tables}, {"files_before", done.files_before}, {"files_after", done.files_after}};
  if (done.version) json["snapshot_id"] = *done.version;
  return json;
}

nlohmann::ordered_json json_of(const ops::MaintainedLake& lake) {
  nlohmann::ordered_json json{{"lake", lake.lake}};
  json["retention"] = lake.retention ? nlohmann::ordered_json(*lake.retention) : nlohmann::ordered_json();
  json["expired"] = lake.expiry.expired;
  json["kept"] = lake.expiry.kept;
  json["merged"] = json_of(lake.merged);
  json["rewritten"] = json_of(lake.rewritten);
  json["old_files"] = lake.old_files;
  json["unknown_files"] = lake.unknown_files;
  return json;
}

std::string words_of(const lake::Compacted& done, bool dry_run) {
  if (done.files_before == 0) return "nothing to do";
  return fmt::format("{}{} of {} into {}", dry_run ? "about " : "", counted(done.files_before, "file"),
                     counted(done.tables, "table"),
                     dry_run ? fmt::format("about {}", done.files_after) : std::to_string(done.files_after));
}

void print_lake(const ops::MaintainedLake& lake, bool dry_run, Streams& streams) {
  const char* would = dry_run ? "would be " : "";
  streams.out << fmt::format("lake {}\n", lake.lake);
  if (lake.retention) {
    streams.out << fmt::format("  versions   {}expired: {}\n", would,
                               grouped(static_cast<std::int64_t>(lake.expiry.expired.size())));
    for (const auto& [reason, count] : lake.expiry.kept)
      streams.out << fmt::format("             older than {} and kept: {} ({})\n", *lake.retention, grouped(count),
                                 reason);
  } else {
    streams.out << "  versions   all kept: `retention:` is not set\n";
  }
  streams.out << fmt::format("  merged     {}\n", words_of(lake.merged, dry_run));
  streams.out << fmt::format("  rewritten  {}\n", words_of(lake.rewritten, dry_run));
  streams.out << fmt::format("  removed    {}{} that no version has any more, {} that none ever had\n", would,
                             counted(lake.old_files, "file"), grouped(lake.unknown_files));
}

}  // namespace

Exit maintain_command(const Args& args, Streams& streams) {
  std::atomic<bool>& stop = stop_requested();
  const ops::MaintainRequest request{
      .lake = args.text("lake"), .grace = args.text("grace"), .dry_run = args.flag("dry-run")};
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  Progress progress(streams, args.flag("quiet"), false);
  const auto done = ops::maintain(*workspace, request, progress, stop);
  progress.clear();
  if (!done) {
    const Exit exit = refuse(done.error(), workspace->loaded(), streams);
    return stop.load() ? Exit::Interrupted : exit;
  }
  if (args.flag("json")) {
    nlohmann::ordered_json lakes = nlohmann::ordered_json::array();
    for (const ops::MaintainedLake& lake : *done) lakes.push_back(json_of(lake));
    streams.out << nlohmann::ordered_json{{"lakes", lakes}}.dump(2) << "\n";
    return Exit::Done;
  }
  for (const ops::MaintainedLake& lake : *done) print_lake(lake, request.dry_run, streams);
  return Exit::Done;
}

}  // namespace weir::cli
