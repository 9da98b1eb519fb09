#include "ops/environments.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/failpoint.h"
#include "io/installation.h"
#include "lake/catalog_probe.h"
#include "lake/drop.h"
#include "run/deferral.h"
#include "run/promote.h"
#include "run/recovery.h"
#include "text/lexer.h"
#include "text/suggest.h"

namespace weir::ops {
namespace {

Result<void> share(const Config& config, const std::string& given, env::Settings& settings) {
  const auto equals = given.find('=');
  const std::string name = given.substr(0, equals);
  const std::string mode = equals == std::string::npos ? std::string() : given.substr(equals + 1);
  Diagnostic problem{.code = Code::W5426, .hint = "--lake NAME=isolated or --lake NAME=shared"};
  const LakeConfig* lake = config.lake(name);
  if (lake == nullptr) {
    std::vector<std::string> names;
    for (const LakeConfig& one : config.lakes) names.push_back(one.name);
    const auto near = text::nearest(name, names);
    problem.message = fmt::format("--lake {}: there is no lake {}", given, name);
    if (near) problem.hint = "did you mean `" + *near + "`?";
    return fail(std::move(problem));
  }
  if (mode == "shared") {
    settings.shared.insert(text::lower(lake->name));
  } else if (mode != "isolated") {
    problem.message = fmt::format("--lake {}: a lake is isolated or shared", given);
    return fail(std::move(problem));
  }
  return {};
}

Result<bool> copies(const std::string& seed) {
  if (seed == "copy" || seed == "empty") return seed == "copy";
  return fail(Diagnostic{.code = Code::W5426,
                         .message = fmt::format("--seed {}: tables that grow start empty or from a copy", seed),
                         .hint = "--seed copy or --seed empty"});
}

Result<void> judge_known(const env::Registry& registry, const std::string& name) {
  const env::Settings* known = registry.find(name);
  if (known == nullptr || known->created.empty()) return {};
  return fail(Diagnostic{.code = Code::W5403,
                         .message = fmt::format("there is an environment {}", known->name),
                         .hint = "`weir env ls` lists them"});
}

/// Nothing may lie where the forks will: it would be read as the environment's own.
Result<void> judge_places(Workspace& workspace, const Config& config, const env::Settings& settings) {
  for (const LakeConfig& lake : config.lakes) {
    if (settings.shared.contains(text::lower(lake.name))) continue;
    WEIR_TRY(const LakeConfig fork, env::fork_of(config, lake, settings.name));
    WEIR_TRY(const bool is_taken, lake::is_present(fork));
    if (!is_taken) continue;
    // Another command may just have made the environment.
    WEIR_TRY(const env::Registry registry, workspace.registry());
    WEIR_CHECK(judge_known(registry, settings.name));
    return fail(Diagnostic{.code = Code::W5429,
                           .message = fmt::format("{} is there already, though no environment {} is known",
                                                  fork.catalog.shown, settings.name),
                           .hint = "weir env drop " + settings.name + " removes it"});
  }
  return {};
}

/// The versions of what the parents hold now.
Result<std::map<std::string, std::int64_t>> pins_of(Workspace& workspace, const env::Settings& settings) {
  WEIR_TRY(Workspace parent, Workspace::open(workspace.root(), settings.parent));
  WEIR_TRY(const Config* config, parent.config());
  WEIR_TRY(lake::Lakes * lakes, parent.lakes(false));
  WEIR_TRY(duck::Connection connection, lakes->connect());
  std::map<std::string, std::int64_t> pins;
  for (const std::string& name : env::lakes_to_pin(*config, settings.shared)) {
    WEIR_TRY(pins[text::lower(name)], lakes->lake(name).newest_version(connection));
  }
  return pins;
}

std::vector<ForkedLake> lakes_of(const Config& config, const env::Settings& settings) {
  std::vector<ForkedLake> lakes;
  for (const LakeConfig& lake : config.lakes) {
    if (!lake.fork_of.empty()) continue;
    ForkedLake one{.lake = lake.name, .fork = {}, .catalog = lake.catalog.shown, .data = lake.data};
    const bool is_forked = !settings.parent.empty() && !settings.shared.contains(text::lower(lake.name));
    if (is_forked) {
      // One that has no place was refused when the environment was made; the list goes on without it.
      if (auto fork = env::fork_of(config, lake, settings.name))
        one = {.lake = lake.name, .fork = fork->name, .catalog = fork->catalog.shown, .data = fork->data};
    }
    lakes.push_back(std::move(one));
  }
  return lakes;
}

/// What is known of the environment that is dropped: whatever became of its parent, and also of one whose forks are
/// there though no state knows it.
Result<env::Settings> settings_of(const Config& config, const env::Registry& registry, const std::string& name) {
  const env::Settings* known = registry.find(name);
  if (known != nullptr && known->name == name) return *known;
  if (known != nullptr) return fail(registry.chain(name).error());
  env::Settings lost{.name = name, .parent = std::string(env::kProd)};
  for (const LakeConfig& lake : config.lakes) {
    const auto fork = env::fork_of(config, lake, name);
    if (!env::judge_name(name) || !fork) continue;
    WEIR_TRY(const bool is_there, lake::is_present(*fork));
    if (is_there) return lost;
  }
  return fail(registry.chain(name).error());
}

/// Refuses while a run is going on in it, or others come from it.
Result<void> judge_use(Workspace& workspace, const env::Registry& registry, const std::string& name) {
  Diagnostics problems;
  for (const std::string& child : registry.children(name))
    problems.push_back({.code = Code::W5424,
                        .message = fmt::format("environment {} comes from {}", child, name),
                        .hint = "drop it first: weir env drop " + child});
  WEIR_TRY(state::Store * store, workspace.store());
  WEIR_TRY(const auto open, store->open_runs());
  for (const state::RunRecord& run : open)
    if (run.environment == name)
      problems.push_back({.code = Code::W5424,
                          .message = fmt::format("run {} of {} is going on", run.run, name),
                          .hint = "wait for its end, or stop it"});
  if (!problems.empty()) return fail(std::move(problems));
  return {};
}

/// Moves the environment to showing nothing.
Result<void> remove_views(Workspace& workspace, const env::Environment& environment, const std::string& command,
                          const std::atomic<bool>& stop) {
  if (!environment.shown || environment.shown->models.empty()) return {};
  WEIR_TRY(const Project* project, workspace.project());
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(true));
  WEIR_TRY(state::Store * store, workspace.store());
  const run::PromoteRequest promotion{.environment = environment, .models = {}, .run = "", .command = command};
  WEIR_TRY(const auto moved, run::promote(*project, *lakes, *store, promotion, stop));
  (void)moved;
  return {};
}

}  // namespace

Result<env::Settings> create_environment(Workspace& workspace, const CreateRequest& request,
                                         const std::atomic<bool>& stop) {
  WEIR_CHECK(env::judge_name(request.name));
  WEIR_TRY(const Config* config, workspace.config());
  WEIR_TRY(const env::Registry registry, workspace.registry());
  WEIR_CHECK(judge_known(registry, request.name));
  WEIR_TRY(const auto chain, registry.chain(request.from));
  env::Settings settings{.name = request.name, .parent = chain.front().name};
  for (const std::string& lake : request.lakes) WEIR_CHECK(share(*config, lake, settings));
  WEIR_TRY(settings.copies, copies(request.seed));
  WEIR_CHECK(judge_places(workspace, *config, settings));
  if (request.pin_parent) {
    WEIR_TRY(settings.pins, pins_of(workspace, settings));
  }
  WEIR_TRY(state::Store * store, workspace.store());
  settings.created = state::now_text();
  WEIR_CHECK(
      store->create_environment({settings.name, settings.parent, env::settings_text(settings), settings.created}));
  WEIR_TRY(Workspace inside, Workspace::open(workspace.root(), settings.name));
  WEIR_TRY(const Config* own, inside.config());
  WEIR_TRY(lake::Lakes * lakes, inside.lakes(true));
  WEIR_CHECK(run::refresh_deferrals(*own, *lakes, settings.name, stop));
  // From now on the forks are known to be there.
  WEIR_TRY(duck::Connection connection, lakes->connect());
  for (const LakeConfig& fork : own->lakes) {
    if (fork.environment != settings.name) continue;
    WEIR_TRY(const std::int64_t version, lakes->lake(fork.name).newest_version(connection));
    if (version > 0) WEIR_CHECK(store->set_reconciled_version(fork.name, version));
  }
  return settings;
}

Result<std::vector<EnvironmentEntry>> environments(Workspace& workspace) {
  WEIR_TRY(const Config* config, workspace.config());
  WEIR_TRY(const env::Registry registry, workspace.registry());
  WEIR_TRY(state::Store * store, workspace.store_if_there());
  std::vector<state::PromotionRecord> newest;
  if (store != nullptr) {
    WEIR_TRY(newest, store->newest_promotions());
  }
  std::vector<EnvironmentEntry> all;
  for (const env::Settings& settings : registry.all()) {
    EnvironmentEntry entry{.settings = settings, .generation = std::nullopt, .lakes = lakes_of(*config, settings)};
    for (const state::PromotionRecord& promotion : newest)
      if (promotion.environment == settings.name) entry.generation = promotion.generation;
    all.push_back(std::move(entry));
  }
  return all;
}

namespace {

/// Keys of what lies in the lakes, by their names.
Result<std::set<std::string>> that_exist(Workspace& workspace,
                                         const std::map<std::string, std::vector<Asset>>& places) {
  std::set<std::string> there;
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(false));
  WEIR_TRY(duck::Connection connection, lakes->connect());
  for (const auto& [name, assets] : places) {
    const lake::Lake& lake = lakes->lake(name);
    WEIR_TRY(const std::int64_t version, lake.newest_version(connection));
    WEIR_TRY(const auto states, lake.observe(connection, assets, version));
    for (const auto& [key, state] : states)
      if (state.exists) there.insert(key);
  }
  return there;
}

/// A lake that is read at one version has the name that it has in weir.yaml.
void show_pin(const Config& config, EnvironmentAsset& one) {
  Asset place = *parse_asset(one.asset);
  const LakeConfig* lake = config.lake(place.place);
  if (lake == nullptr || !lake->version) return;
  one.version = lake->version;
  if (lake->environment == env::kProd) place.place = lake->fork_of;
  one.asset = place.uri();
}

}  // namespace

Result<EnvironmentView> environment(Workspace& workspace) {
  EnvironmentView view;
  WEIR_TRY(const Graph* graph, workspace.graph());
  WEIR_TRY(auto all, environments(workspace));
  const std::string& name = workspace.environment();
  for (EnvironmentEntry& entry : all)
    if (entry.settings.name == name) view.entry = std::move(entry);
  std::map<std::string, std::vector<Asset>> places;
  for (const Model& model : graph->models()) {
    if (!model.target || model.target->kind != AssetKind::Lake) continue;
    WEIR_TRY(Asset place, workspace.located(*model.target));
    WEIR_TRY(const Asset rows, workspace.rows_of(*model.target));
    WEIR_TRY(std::string owner, workspace.owner_of(place));
    view.assets.push_back({model.path, place.uri(), rows.uri(), "missing", std::move(owner)});
    places[place.place].push_back(std::move(place));
  }
  WEIR_TRY(const std::set<std::string> there, that_exist(workspace, places));
  for (EnvironmentAsset& one : view.assets) {
    if (there.contains(parse_asset(one.asset)->key()))
      one.state = one.environment == name ? "own" : "deferred";
    else
      one.environment.clear();
  }
  WEIR_TRY(const Config* config, workspace.config());
  for (EnvironmentAsset& one : view.assets) show_pin(*config, one);
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(false));
  for (const lake::Lake& lake : lakes->all())
    if (name != env::kProd && lake.exists()) view.attach.push_back(lake::attach_statement(lake));
  return view;
}

Result<Dropped> drop_environment(Workspace& workspace, const DropRequest& request, run::Listener& listener,
                                 const std::atomic<bool>& stop) {
  WEIR_TRY(const Config* config, workspace.config());
  WEIR_TRY(const env::Registry registry, workspace.registry());
  WEIR_TRY(const env::Settings settings, settings_of(*config, registry, request.name));
  const bool is_prod = settings.parent.empty();
  if (is_prod && !request.force)
    return fail(Diagnostic{.code = Code::W5425,
                           .message = "dropping prod takes away all its views",
                           .hint = "--force says that this is meant; tables stay"});
  WEIR_TRY(state::Store * store, workspace.store());
  if (!request.is_dry_run) {
    WEIR_TRY(const Project* project, workspace.project());
    WEIR_TRY(lake::Lakes * lakes, workspace.lakes(true));
    WEIR_CHECK(run::recover(*project, *lakes, *store, listener, stop));
  }
  if (!is_prod) WEIR_CHECK(judge_use(workspace, registry, settings.name));
  Dropped dropped{.name = settings.name};
  WEIR_TRY(const env::Environment environment, env::look(*store, settings.name));
  if (environment.shown)
    for (const state::ShownModel& one : environment.shown->models)
      if (!one.data.empty()) dropped.views.push_back(one.view);
  for (const auto& [key, table] : environment.owned)
    if (table.environment == settings.name) ++dropped.tables;
  for (ForkedLake& lake : lakes_of(*config, settings))
    if (!lake.fork.empty()) dropped.lakes.push_back(std::move(lake));
  if (request.is_dry_run) return dropped;
  WEIR_CHECK(remove_views(workspace, environment, request.command, stop));
  failpoint("drop_views_removed");
  std::vector<std::string> names;
  for (const ForkedLake& one : dropped.lakes) {
    WEIR_TRY(const LakeConfig fork, env::fork_of(*config, *config->lake(one.lake), settings.name));
    WEIR_TRY(auto notes,
             lake::drop_fork(fork, *config,
                             {.extensions = io::extension_folder(), .leaves_objects = request.force, .stop = stop}));
    dropped.notes.insert(dropped.notes.end(), notes.begin(), notes.end());
    names.push_back(fork.name);
  }
  failpoint("drop_forks_removed");
  WEIR_CHECK(store->drop_environment(settings.name, names));
  return dropped;
}

}  // namespace weir::ops
