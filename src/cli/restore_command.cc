// `weir restore`: shows the difference, asks, and puts the rows of an earlier version back.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "ops/restore.h"

namespace weir::cli {
namespace {

ops::RestoreRequest request_of(const Args& args) {
  ops::RestoreRequest request{.asset = args.text("asset", "")};
  if (const auto version = args.text("version")) request.version = std::atoll(version->c_str());
  request.run = args.text("run");
  request.before = args.text("before");
  request.environment = args.text("env", "prod");
  request.force = args.flag("force");
  request.no_wait = args.flag("no-wait");
  request.command = args.line;
  return request;
}

std::string difference_of(const publish::Counts& counts) {
  std::string text = fmt::format("+{} -{}", grouped(counts.inserted.value_or(0)), grouped(counts.deleted.value_or(0)));
  if (counts.updated) text += fmt::format(" ~{}", grouped(*counts.updated));
  return text;
}

nlohmann::ordered_json json_of(const ops::RestoreReport& report) {
  nlohmann::ordered_json json{{"asset", report.asset},
                              {"model", report.model},
                              {"version", report.version},
                              {"time", report.time},
                              {"table_version", report.table_version},
                              {"unchanged", report.is_unchanged},
                              {"added", report.counts.inserted.value_or(0)},
                              {"removed", report.counts.deleted.value_or(0)}};
  if (report.counts.updated) json["changed"] = *report.counts.updated;
  json["rows"] = report.rows;
  json["columns_added_since"] = report.added_since;
  json["columns_gone_since"] = report.gone_since;
  json["slices"] = {{"vouched", report.vouched}, {"outdated", report.outdated}, {"missing", report.missing}};
  if (!report.run.empty()) json["run"] = report.run;
  if (report.snapshot_id) json["snapshot_id"] = *report.snapshot_id;
  json["data_tests"] = nlohmann::ordered_json::array();
  for (const audit::Verdict& verdict : report.tests) json["data_tests"].push_back(run::to_json(verdict));
  json["notes"] = nlohmann::ordered_json::array();
  for (const Diagnostic& note : report.notes)
    json["notes"].push_back({{"code", name_of(note.code)}, {"message", note.message}});
  return json;
}

std::string slice_words(const std::vector<std::string>& slices, const char* what) {
  if (slices.empty()) return {};
  if (slices.size() == 1 && slices.front().empty()) return fmt::format("it counts as {}", what);
  constexpr std::size_t kShown = 5;
  const std::size_t shown = std::min(slices.size(), kShown);
  return fmt::format("{} {} as {}: {}{}", counted(static_cast<std::int64_t>(slices.size()), "slice"),
                     slices.size() == 1 ? "counts" : "count", what,
                     fmt::join(slices.begin(), slices.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                     shown < slices.size() ? " …" : "");
}

/// What restoring would do, or did.
void print_report(const ops::RestoreReport& report, Streams& streams) {
  if (report.is_unchanged) {
    streams.out << fmt::format("= {}  unchanged: it holds the rows of version {}\n", report.model, report.version);
    return;
  }
  const std::string version = report.snapshot_id ? fmt::format("  v{}", *report.snapshot_id) : "";
  streams.out << fmt::format("{} {}  {} the rows of version {} of {}: {} ({}){}\n",
                             report.snapshot_id ? paint(streams, Color::Good, "✓") : "~", report.model,
                             report.snapshot_id ? "restored to" : "would be restored to", report.version,
                             short_time(report.time), counted(report.rows, "row"), difference_of(report.counts),
                             version);
  for (const std::string& words : {slice_words(report.outdated, "outdated"), slice_words(report.missing, "missing")})
    if (!words.empty()) streams.out << "  " << words << "\n";
  if (!report.snapshot_id) return;
  if (report.tests.empty())
    streams.out << "  the model has no tests, so none was asked\n";
  else
    streams.out << fmt::format("  {} asked of the restored rows\n",
                               counted(static_cast<std::int64_t>(report.tests.size()), "test"));
}

/// Shows the difference and lets a user at a terminal decide. The table's version that was agreed to, or the exit code.
struct Answer {
  std::optional<Exit> exit;
  std::optional<std::int64_t> agreed;
};
Answer ask(ops::Workspace& workspace, const Args& args, const ops::RestoreRequest& request, Streams& streams) {
  const auto preview = ops::preview_restore(workspace, request);
  if (!preview) return {refuse(preview.error(), workspace.loaded(), streams), std::nullopt};
  if (args.flag("dry-run") || preview->is_unchanged) {
    print(preview->notes, workspace.loaded(), streams);
    if (args.flag("json"))
      streams.out << json_of(*preview).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    else
      print_report(*preview, streams);
    return {Exit::Done, std::nullopt};
  }
  print(preview->notes, workspace.loaded(), streams);
  Streams to_terminal{.out = streams.err, .err = streams.err};
  print_report(*preview, to_terminal);
  if (::isatty(STDIN_FILENO) == 0) {
    streams.err << "error: restoring replaces the rows that readers see\nhint: add --yes to say that this is meant\n";
    return {Exit::Misuse, std::nullopt};
  }
  streams.err << "Restore? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "yes" || answer == "Y") return {std::nullopt, preview->table_version};
  return {Exit::Misuse, std::nullopt};
}

}  // namespace

Exit restore_command(const Args& args, Streams& streams) {
  std::atomic<bool>& stop = stop_requested();
  if (!args.text("asset")) {
    streams.err << "error: weir restore takes an asset\nhint: weir restore orders --version 12\n";
    return Exit::Misuse;
  }
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  ops::RestoreRequest request = request_of(args);
  if (!args.flag("yes") || args.flag("dry-run")) {
    const Answer answer = ask(*workspace, args, request, streams);
    if (answer.exit) return *answer.exit;
    request.agreed = answer.agreed;
  }
  Progress progress(streams, args.flag("quiet"), false);
  const auto report = ops::restore(*workspace, request, progress, stop);
  progress.clear();
  if (!report) {
    const Exit exit = refuse(report.error(), workspace->loaded(), streams);
    return stop.load() ? Exit::Interrupted : exit;
  }
  print(report->notes, workspace->loaded(), streams);
  if (args.flag("json"))
    streams.out << json_of(*report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  else
    print_report(*report, streams);
  return Exit::Done;
}

}  // namespace weir::cli
