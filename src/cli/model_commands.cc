// Commands about single models: show, test.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/unit_output.h"
#include "ops/show.h"
#include "ops/test.h"

namespace weir::cli {

Exit show_command(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  if (!args.text("model")) {
    streams.err << "error: weir show takes a model\nhint: `weir ls` lists them\n";
    return Exit::Misuse;
  }
  const auto shown = ops::show(*workspace, *args.text("model"), args.text("partition"), args.list("arg"));
  if (!shown) return refuse(shown.error(), workspace->loaded(), streams);
  const Model& model = *shown->model;
  std::vector<std::string> tests;
  for (const Test& test : model.tests) tests.push_back(test.name);
  if (args.flag("json")) {
    nlohmann::json object{{"model", model.path},
                          {"file", model.source->path},
                          {"plane", name_of(model.plane)},
                          {"strategy", name_of(model.strategy)},
                          {"key", model.key},
                          {"tests", tests},
                          {"reads", shown->reads},
                          {"definition", shown->fingerprint},
                          {"duplicates", name_of(model.duplicates)},
                          {"on_schema_change", name_of(model.on_schema_change)},
                          {"sql", shown->sql}};
    if (model.target) object["asset"] = model.target->uri();
    if (!shown->partition.empty()) object["partition"] = shown->partition;
    if (!shown->blocked_by.empty()) object["blocked_by"] = shown->blocked_by;
    streams.out << object.dump(2) << "\n";
    return Exit::Done;
  }
  if (!args.flag("sql")) {
    const auto line = [&streams](const std::string& name, const std::string& value) {
      if (!value.empty()) streams.out << paint(streams, Color::Bold, fmt::format("{:<12}", name)) << value << "\n";
    };
    line("model", model.path);
    line("file", model.source->path);
    line("asset", model.target ? model.target->uri() : "");
    line("plane", std::string(name_of(model.plane)));
    line("strategy", model.plane == Plane::Manual ? "" : std::string(name_of(model.strategy)));
    line("key", fmt::format("{}", fmt::join(model.key, ", ")));
    line("partitioned", model.partitioning
                            ? std::string(calendar::name_of(model.partitioning->kind)) + " " + model.partitioning->tz
                            : "");
    line("partition", shown->partition);
    line("reads", fmt::format("{}", fmt::join(shown->reads, ", ")));
    line("tests", fmt::format("{}", fmt::join(tests, ", ")));
    line("tags", fmt::format("{}", fmt::join(model.tags, ", ")));
    line("owner", model.owner);
    line("description", model.description);
    line("definition", shown->fingerprint);
    line("blocked by", shown->blocked_by);
    streams.out << "\n";
  }
  for (const std::string& statement : shown->sql) streams.out << statement << ";\n";
  return Exit::Done;
}

namespace {

Exit show_outcomes(ops::Workspace& workspace, const std::vector<std::string>& select, const Args& args,
                   Streams& streams) {
  const auto limit = static_cast<std::size_t>(std::max(1, std::atoi(args.text("limit", "20").c_str())));
  const auto outcomes = ops::test_history(workspace, select, args.list("exclude"), args.text("partition"), limit);
  if (!outcomes) return refuse(outcomes.error(), workspace.loaded(), streams);
  nlohmann::ordered_json shown = nlohmann::ordered_json::array();
  std::vector<std::vector<std::string>> rows{
      {"model", "partition", "test", "severity", "outcome", "violating", "time", "run"}};
  for (const state::TestRecord& one : *outcomes) {
    rows.push_back({one.model, one.slice, one.test, one.severity, one.status,
                    one.violating == 0 ? "" : grouped(one.violating), short_time(one.at), one.run});
    shown.push_back({{"model", one.model}, {"run", one.run}, {"time", one.at}});
    if (!one.slice.empty()) shown.back()["partition"] = one.slice;
    shown.back().update({{"test", one.test},
                         {"severity", one.severity},
                         {"status", one.status},
                         {"violating", one.violating},
                         {"ms", one.ms}});
  }
  if (args.flag("json"))
    streams.out << nlohmann::ordered_json{{"outcomes", shown}}.dump(2) << "\n";
  else
    print_table(rows, streams);
  return Exit::Done;
}

}  // namespace

Exit test_command(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  std::vector<std::string> select = args.list("selector");
  for (const std::string& more : args.list("select")) select.push_back(more);
  if (args.flag("unit")) return run_unit_tests(*workspace, select, args, streams);
  if (args.flag("history")) return show_outcomes(*workspace, select, args, streams);
  const auto tested = ops::test(*workspace, select, args.list("exclude"), args.text("partition"));
  if (!tested) return refuse(tested.error(), workspace->loaded(), streams);
  bool blocked = false;
  nlohmann::ordered_json models = nlohmann::ordered_json::array();
  for (const run::TestedTable& table : tested->tables) {
    nlohmann::ordered_json verdicts = nlohmann::ordered_json::array();
    const std::string label =
        table.partition.empty() ? table.model : fmt::format("{} [{}]", table.model, table.partition);
    if (!args.flag("json")) streams.out << label << (table.skipped.empty() ? "" : ": " + table.skipped) << "\n";
    for (const audit::Verdict& verdict : table.verdicts) {
      blocked = blocked || verdict.blocks();
      verdicts.push_back(run::to_json(verdict));
      if (args.flag("json")) continue;
      const bool passed = verdict.status == audit::Verdict::Status::Passed;
      streams.out << "  "
                  << (passed             ? paint(streams, Color::Good, "✓")
                      : verdict.blocks() ? paint(streams, Color::Bad, "✗")
                                         : paint(streams, Color::Warning, "!"))
                  << " " << verdict.test;
      if (!verdict.error.empty())
        streams.out << " — " << verdict.error;
      else if (!passed)
        streams.out << fmt::format(" — {} violating row(s)", verdict.violating);
      if (!passed && !verdict.blocks()) streams.out << fmt::format(", severity {}", run::name_of(verdict.severity));
      streams.out << "\n";
    }
    nlohmann::ordered_json one{{"model", table.model}, {"data_tests", verdicts}};
    if (!table.asset.empty()) one["asset"] = table.asset;
    if (!table.partition.empty()) one["partition"] = table.partition;
    if (!table.skipped.empty()) one["skipped"] = table.skipped;
    models.push_back(std::move(one));
  }
  if (args.flag("json")) streams.out << nlohmann::ordered_json{{"models", models}}.dump(2) << "\n";
  if (!tested->errors.empty()) {
    print(tested->errors, workspace->loaded(), streams);
    return exit_for(tested->errors);
  }
  return blocked ? Exit::Failed : Exit::Done;
}

}  // namespace weir::cli
