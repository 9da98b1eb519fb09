// weir env create | ls | show | diff | promote | drop
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "ops/environment_diff.h"
#include "ops/environments.h"
#include "ops/promotion.h"

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

nlohmann::ordered_json pins_json(const env::Settings& settings) {
  auto pins = nlohmann::ordered_json::object();
  for (const auto& [lake, version] : settings.pins) pins[lake] = version;
  return pins;
}

std::string seed_of(const env::Settings& settings) { return settings.copies ? "copy" : "empty"; }

nlohmann::ordered_json to_json(const ops::EnvironmentEntry& entry) {
  const env::Settings& settings = entry.settings;
  nlohmann::ordered_json object{{"environment", settings.name}};
  object["from"] = settings.parent.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(settings.parent);
  object["created"] = settings.created.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(settings.created);
  object["generation"] = entry.generation ? nlohmann::ordered_json(*entry.generation) : nlohmann::ordered_json();
  object["lakes"] = to_json(entry.lakes);
  object["pins"] = pins_json(settings);
  object["seed"] = seed_of(settings);
  return object;
}

nlohmann::ordered_json to_json(const ops::EnvironmentDiff::Side& side) {
  if (side.environment.empty()) return nullptr;
  nlohmann::ordered_json object{{"environment", side.environment}, {"fingerprint", side.fingerprint}};
  object["rows"] = side.rows.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(side.rows);
  return object;
}

nlohmann::ordered_json to_json(const ops::EnvironmentDiff& diff, const std::string& before, const std::string& after) {
  auto models = nlohmann::ordered_json::array();
  for (const ops::EnvironmentDiff::Model& one : diff.models)
    models.push_back({{"model", one.path},
                      {"change", plan::name_of(one.kind)},
                      {"category", plan::name_of(one.category)},
                      {"reason", one.reason},
                      {"other_rows", one.has_other_rows()},
                      {"before", to_json(one.before)},
                      {"after", to_json(one.after)}});
  return {{"before", before},
          {"after", after},
          {"equal", diff.models.empty()},
          {"same", diff.same},
          {"models", std::move(models)}};
}

/// Whose rows the second environment reads, where they are not the first one's.
std::string rows_in_words(const ops::EnvironmentDiff::Model& model) {
  if (!model.has_other_rows()) return "the same";
  return model.after.rows.empty() ? "none" : model.before.rows.empty() ? "new" : "others";
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
  const auto made = ops::create_environment(*workspace,
                                            {.name = args.text("name", ""),
                                             .from = args.text("from", std::string(env::kProd)),
                                             .lakes = args.list("lake"),
                                             .pin_parent = args.flag("pin-parent"),
                                             .seed = args.text("seed", "empty")},
                                            stop_requested());
  if (!made) return refuse(made.error(), workspace->loaded(), streams);
  if (args.flag("json")) {
    streams.out << nlohmann::ordered_json{{"environment", made->name},
                                          {"from", made->parent},
                                          {"pins", pins_json(*made)},
                                          {"seed", seed_of(*made)}}
                       .dump(2)
                << "\n";
    return Exit::Done;
  }
  if (args.flag("quiet")) return Exit::Done;
  streams.out << fmt::format("made {} from {}\n", made->name, made->parent);
  for (const auto& [lake, version] : made->pins) streams.out << fmt::format("reads {} at version {}\n", lake, version);
  streams.out << fmt::format("now: weir run --env {}\n", made->name);
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
      if (one.version) asset["version"] = *one.version;
      list.push_back(std::move(asset));
    }
    object["assets"] = std::move(list);
    object["attach"] = view->attach;
    streams.out << object.dump(2) << "\n";
    return Exit::Done;
  }
  if (args.flag("attach")) {
    for (const std::string& statement : view->attach) streams.out << statement << "\n";
    return Exit::Done;
  }
  std::vector<std::vector<std::string>> rows{{"model", "state", "read from"}};
  for (const ops::EnvironmentAsset& one : view->assets) {
    const std::string version = one.version ? fmt::format(" at version {}", *one.version) : std::string();
    rows.push_back({one.model,
                    one.state == "deferred" ? fmt::format("deferred ({}{})", one.environment, version) : one.state,
                    one.state == "missing" ? "-" : one.asset});
  }
  print_table(rows, streams);
  return Exit::Done;
}

Exit env_diff_command(const Args& args, Streams& streams) {
  const std::vector<std::string> names = args.list("environments");
  if (names.size() != 2) {
    streams.err << "error: weir env diff takes two environments\nhint: weir env diff prod dev\n";
    return Exit::Misuse;
  }
  const std::string& before = names[0];
  const std::string& after = names[1];
  const auto diff = ops::diff_environments(args.text("directory", "."), before, after);
  if (!diff) {
    // Exit code 1 says that a difference was found; whatever prevents comparing must not look like it.
    const Exit exit = refuse(diff.error(), nullptr, streams);
    return exit == Exit::Failed ? Exit::Misuse : exit;
  }
  print(diff->warnings, nullptr, streams);
  if (args.flag("json")) {
    streams.out << to_json(*diff, before, after).dump(2) << "\n";
    return diff->models.empty() ? Exit::Done : Exit::Failed;
  }
  std::vector<std::vector<std::string>> rows{{"", "model", "category", "rows", "why"}};
  for (const ops::EnvironmentDiff::Model& one : diff->models)
    rows.push_back(
        {sign_of(one.kind), one.path, std::string(plan::name_of(one.category)), rows_in_words(one), one.reason});
  if (rows.size() > 1) print_table(rows, streams);
  if (!args.flag("quiet"))
    streams.err << fmt::format("{} of {} in {} as in {}\n", diff->same,
                               counted(diff->same + std::ssize(diff->models), "model"), after, before);
  return diff->models.empty() ? Exit::Done : Exit::Failed;
}

Exit env_promote_command(const Args& args, Streams& streams) {
  const std::string from = args.text("name", "");
  const std::string to = args.text("to", "");
  if (from.empty() || to.empty() || from == to) {
    streams.err << "error: a promotion leads from one environment to another one\n"
                   "hint: weir env promote dev --to prod\n";
    return Exit::Misuse;
  }
  auto workspace = ops::Workspace::open(args.text("directory", "."), to);
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  if (const auto taken = ops::take_definitions(*workspace, from); !taken)
    return refuse(taken.error(), workspace->loaded(), streams);
  return args.flag("dry-run") ? show_changes(*workspace, args, streams) : apply_changes(*workspace, args, streams);
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
