// weir plan
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/output.h"
#include "io/files.h"
#include "ops/saved_plan.h"

namespace weir::cli {
namespace {

std::string size_in_words(const ops::PlannedModel& planned) {
  if (!planned.estimate) return "";
  const ops::Estimate& estimate = *planned.estimate;
  std::string words = counted(estimate.rows, "row") + ", " + bytes_text(estimate.bytes);
  if (estimate.unknown > 0) words += fmt::format(" and {}", counted(estimate.unknown, "unknown input"));
  return words;
}

void print_models(const ops::PlanReport& report, Streams& streams) {
  std::vector<std::vector<std::string>> rows{{"", "model", "category", "action", "reads", "why"}};
  for (const ops::PlannedModel& planned : report.models) {
    const plan::ModelChange& change = planned.change;
    if (change.kind == plan::ChangeKind::Unchanged && planned.action == ops::PlanAction::Nothing) continue;
    std::string why = change.reason;
    if (!planned.note.empty()) why += "; " + planned.note;
    rows.push_back({sign_of(change.kind), change.path, std::string(plan::name_of(change.category)),
                    std::string(ops::name_of(planned.action)), size_in_words(planned), why});
  }
  if (rows.size() > 1) print_table(rows, streams);
}

void print_summary(const ops::PlanReport& report, Streams& streams) {
  const auto add = [&](std::string& text, ops::PlanAction action, std::string_view what) {
    if (const auto number = report.count(action); number > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number, what);
  };
  std::string text;
  add(text, ops::PlanAction::Build, "to build");
  add(text, ops::PlanAction::Reuse, "reused");
  add(text, ops::PlanAction::Deliver, "to deliver");
  add(text, ops::PlanAction::Gated, "gated");
  add(text, ops::PlanAction::Demote, "gone");
  if (text.empty()) text = "nothing to do";
  streams.err << report.request.environment << ": " << text;
  if (const auto breaking = report.count(plan::ChangeCategory::Breaking); breaking > 0)
    streams.err << fmt::format("; {}, which {} --force", counted(breaking, "breaking change"),
                               breaking == 1 ? "needs" : "need");
  streams.err << "\n";
}

}  // namespace

std::string sign_of(plan::ChangeKind kind) {
  switch (kind) {
    case plan::ChangeKind::Added:
      return "+";
    case plan::ChangeKind::Removed:
      return "-";
    case plan::ChangeKind::Modified:
      return "~";
    case plan::ChangeKind::Indirect:
    case plan::ChangeKind::Unchanged:
      break;
  }
  return "·";
}

Exit plan_command(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  return show_changes(*workspace, args, streams);
}

Exit show_changes(ops::Workspace& workspace, const Args& args, Streams& streams) {
  ops::PlanRequest request{.environment = workspace.environment()};
  request.select = args.list("selector");
  for (const std::string& more : args.list("select")) request.select.push_back(more);
  request.exclude = args.list("exclude");
  request.forward_only = args.flag("forward-only");
  const auto report = ops::plan(workspace, request);
  if (!report) return refuse(report.error(), workspace.loaded(), streams);
  const auto file = args.text("output");
  if (file)
    if (const auto written = io::write_file(*file, ops::json_of(*report).dump(2) + "\n"); !written)
      return refuse(written.error(), workspace.loaded(), streams);
  if (args.flag("json"))
    streams.out << ops::json_of(*report).dump(2) << "\n";
  else if (args.flag("markdown"))
    streams.out << ops::markdown_of(*report);
  else
    print_models(*report, streams);
  print(report->warnings, workspace.loaded(), streams);
  if (!args.flag("quiet") && !args.flag("json") && !args.flag("markdown")) print_summary(*report, streams);
  if (file && !args.flag("quiet")) streams.err << "saved as " << *file << "\n";
  return Exit::Done;
}

}  // namespace weir::cli
