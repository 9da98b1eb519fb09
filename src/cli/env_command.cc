// weir env create | ls | show | drop
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "ops/environments.h"

namespace weir::cli {
namespace {

nlohmann::ordered_json to_json(const std::vector<ops::ForkedLake>& lakes) {
  auto list = nlohmann::ordered_json::array();
  for (const ops::ForkedLake& lake : lakes) {
    nlohmann::ordered_json one{{"lake", lake.lake}, {"mode", lake.fork.empty() ? "shared" : "isolated"}};
    if (!lake.fork.empty()) one["fork"] = lake.fork;
    one["catalog"] = lake.catalog;
    one["data"] = lake.data;
    list.push_back(std::move(one));
  }
  return list;
}

nlohmann::ordered_json to_json(const ops::EnvironmentEntry& entry) {
  const env::Settings& settings = entry.settings;
  nlohmann::ordered_json object{{"environment", settings.name}};
  object["from"] = settings.parent.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(settings.parent);
  object["created"] = settings.created.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(settings.created);
  object["generation"] = entry.generation ? nlohmann::ordered_json(*entry.generation) : nlohmann::ordered_json();
  object["lakes"] = to_json(entry.lakes);
  return object;
}

std::string forks_of(const ops::EnvironmentEntry& entry) {
  std::string text;
  for (const ops::ForkedLake& lake : entry.lakes)
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", lake.lake, lake.fork.empty() ? " shared" : " isolated");
  return entry.settings.parent.empty() ? "its own" : text;
}

}  // namespace

Exit env_create_command(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  const auto made = ops::create_environment(
      *workspace,
      {.name = args.text("name", ""), .from = args.text("from", std::string(env::kProd)), .lakes = args.list("lake")});
  if (!made) return refuse(made.error(), workspace->loaded(), streams);
  if (args.flag("json")) {
    streams.out << nlohmann::ordered_json{{"environment", made->name}, {"from", made->parent}}.dump(2) << "\n";
    return Exit::Done;
  }
  if (!args.flag("quiet"))
    streams.out << fmt::format("made {} from {}\nnow: weir run --env {}\n", made->name, made->parent, made->name);
  return Exit::Done;
}

Exit env_ls_command(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  const auto all = ops::environments(*workspace);
  if (!all) return refuse(all.error(), workspace->loaded(), streams);
  if (args.flag("json")) {
    auto list = nlohmann::ordered_json::array();
    for (const ops::EnvironmentEntry& entry : *all) list.push_back(to_json(entry));
    streams.out << nlohmann::ordered_json{{"environments", list}}.dump(2) << "\n";
    return Exit::Done;
  }
  std::vector<std::vector<std::string>> rows{{"environment", "from", "generation", "lakes", "created"}};
  for (const ops::EnvironmentEntry& entry : *all)
    rows.push_back({entry.settings.name, entry.settings.parent.empty() ? "-" : entry.settings.parent,
                    entry.generation ? std::to_string(*entry.generation) : "-", forks_of(entry),
                    entry.settings.created.empty() ? (entry.settings.parent.empty() ? "built in" : "declared")
                                                   : short_time(entry.settings.created)});
  print_table(rows, streams);
  return Exit::Done;
}

Exit env_show_command(const Args& args, Streams& streams) {
  auto workspace =
      ops::Workspace::open(args.text("directory", "."), args.text("name", args.text("env", std::string(env::kProd))));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  const auto view = ops::environment(*workspace);
  if (!view) return refuse(view.error(), workspace->loaded(), streams);
  if (args.flag("json")) {
    nlohmann::ordered_json object = to_json(view->entry);
    auto list = nlohmann::ordered_json::array();
    for (const ops::EnvironmentAsset& one : view->assets) {
      nlohmann::ordered_json asset{{"model", one.model}, {"state", one.state}, {"asset", one.asset}};
      if (!one.environment.empty()) asset["environment"] = one.environment;
      list.push_back(std::move(asset));
    }
    object["assets"] = std::move(list);
    streams.out << object.dump(2) << "\n";
    return Exit::Done;
  }
  std::vector<std::vector<std::string>> rows{{"model", "state", "read from"}};
  for (const ops::EnvironmentAsset& one : view->assets)
    rows.push_back({one.model, one.state == "deferred" ? fmt::format("deferred ({})", one.environment) : one.state,
                    one.state == "missing" ? "-" : one.asset});
  print_table(rows, streams);
  return Exit::Done;
}

Exit env_drop_command(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  Progress progress(streams, args.flag("quiet"), false);
  const bool is_dry_run = args.flag("dry-run");
  const auto dropped = ops::drop_environment(
      *workspace,
      {.name = args.text("name", ""), .force = args.flag("force"), .is_dry_run = is_dry_run, .command = args.line},
      progress, stop_requested());
  progress.clear();
  if (!dropped) return refuse(dropped.error(), workspace->loaded(), streams);
  print(dropped->notes, workspace->loaded(), streams);
  if (args.flag("json")) {
    streams.out << nlohmann::ordered_json{{"environment", dropped->name},
                                          {"dry_run", is_dry_run},
                                          {"views", dropped->views},
                                          {"lakes", to_json(dropped->lakes)},
                                          {"tables_for_gc", dropped->tables}}
                       .dump(2)
                << "\n";
    return Exit::Done;
  }
  for (const std::string& view : dropped->views) streams.out << "view " << view << "\n";
  for (const ops::ForkedLake& lake : dropped->lakes)
    streams.out << fmt::format("lake {}: {} and {}\n", lake.fork, lake.catalog, lake.data);
  if (!args.flag("quiet"))
    streams.out << fmt::format("{} {}; {} left to weir gc\n", is_dry_run ? "would drop" : "dropped", dropped->name,
                               counted(dropped->tables, "table"));
  return Exit::Done;
}

}  // namespace weir::cli
