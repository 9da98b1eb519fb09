#include "ops/workspace.h"

#include "text/suggest.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "io/files.h"
#include "io/installation.h"
#include "lake/catalog_probe.h"
#include "metric/judge.h"
#include "plan/fingerprint.h"
#include "project/cache.h"
#include "text/lexer.h"

namespace weir::ops {
namespace {

/// DuckDB only when something has to be parsed.
class LazyParser : public ParserProvider {
 public:
  duck::Outcome<duck::Connection*> connection() override {
    if (connection_) return &*connection_;
    auto database = duck::Database::open({.threads = 1});
    if (!database) return tl::unexpected(database.error());
    auto connected = (*database)->connect();
    if (!connected) return tl::unexpected(connected.error());
    connection_.emplace(std::move(*connected));
    database_ = std::move(*database);
    return &*connection_;
  }
  std::optional<duck::Connection> another() override {
    auto connected = database_->connect();
    if (!connected) return std::nullopt;
    return std::move(*connected);
  }
  std::shared_ptr<duck::Database> database() const { return database_; }

 private:
  std::shared_ptr<duck::Database> database_;
  std::optional<duck::Connection> connection_;
};

/// The errors, and the warnings that may explain them.
Diagnostics problems_of(const Diagnostics& all) {
  Diagnostics problems;
  for (const Diagnostic& found : all)
    if (found.severity != Severity::Hint) problems.push_back(found);
  return problems;
}

constexpr std::size_t kAllGenerations = 1'000'000;

/// The version at which the environment reads the lake of the owned models' tables.
std::optional<std::int64_t> pinned_version(const Config& config) {
  const LakeConfig* pinned = config.lake(config.default_lake().name + "@" + std::string(env::kProd));
  return pinned == nullptr ? std::nullopt : pinned->version;
}

}  // namespace

Result<Workspace> Workspace::open(const std::string& folder, std::string environment) {
  WEIR_TRY(std::string root, find_project(folder));
  if (::chdir(root.c_str()) != 0)
    return fail(
        Diagnostic{.code = Code::W9010, .message = fmt::format("cannot enter {}: {}", root, std::strerror(errno))});
  return Workspace(std::move(root), std::move(environment));
}

Result<const Config*> Workspace::config() {
  if (project_ != nullptr) return &project_->config;
  if (config_ == nullptr) {
    Diagnostics warnings;
    WEIR_TRY(Config config, load_config(root_, warnings));
    config_ = std::make_unique<Config>(std::move(config));
    if (auto entered = enter(*config_); !entered) {
      config_.reset();
      return fail(std::move(entered).error());
    }
  }
  return config_.get();
}

Result<const Project*> Workspace::project() {
  if (project_ == nullptr) {
    LazyParser parser;
    WEIR_TRY(Project project, load_project(root_, parser));
    WEIR_CHECK(take(std::move(project)));
    parser_database_ = parser.database();
  }
  return project_.get();
}

std::shared_ptr<duck::Database> Workspace::parser_database() { return std::move(parser_database_); }

Result<void> Workspace::use_texts(const OpenTexts& texts) {
  LazyParser parser;
  Diagnostics warnings;
  WEIR_TRY(const Config config, load_config(root_, warnings));
  ParseCache cache(root_ + "/.weir/cache/parsed");
  WEIR_TRY(Project project, load_texts(config, parser, texts, cache));
  parser_database_ = parser.database();
  return take(std::move(project));
}

Result<void> Workspace::take(Project project) {
  LazyParser parser;
  WEIR_CHECK(metric::judge(project, parser));
  // Models name the lakes of weir.yaml, so the forks come when they are read.
  if (environment_ != env::kProd) {
    WEIR_TRY(const Config* config, this->config());
    project.config.lakes = config->lakes;
  }
  graph_ = std::make_unique<Graph>(link_sound_models(project));
  project_ = std::make_unique<Project>(std::move(project));
  return {};
}

std::unique_ptr<ParserProvider> Workspace::lazy_parser() { return std::make_unique<LazyParser>(); }

Result<duck::Connection> Workspace::parser() {
  LazyParser parser;
  auto connection = parser.connection();
  if (!connection)
    return fail(
        Diagnostic{.code = Code::W4001, .message = "DuckDB's parser cannot be started: " + connection.error().message});
  return std::move(**connection);
}

Result<const Graph*> Workspace::graph() {
  WEIR_TRY(const Project* project, this->project());
  if (has_errors(project->diagnostics)) return fail(problems_of(project->diagnostics));
  return graph_.get();
}

Result<const Graph*> Workspace::sound_graph() {
  WEIR_TRY(const Project* project, this->project());
  (void)project;
  return graph_.get();
}

Result<const Graph*> Workspace::whole_graph() {
  WEIR_TRY(const Graph* sound, sound_graph());
  if (project_->broken_models.empty()) return sound;
  if (whole_graph_ == nullptr) whole_graph_ = std::make_unique<Graph>(link_all_models(*project_));
  return whole_graph_.get();
}

Result<const std::map<std::string, Fault>*> Workspace::blocked() {
  WEIR_TRY(const Project* project, this->project());
  if (!blocked_) blocked_ = blocked_models(*project);
  return &*blocked_;
}

Result<state::Store*> Workspace::store() {
  if (store_ == nullptr) {
    WEIR_TRY(const Config* config, this->config());
    const DatabaseLocation& location = config->state;
    WEIR_TRY(store_,
             state::open_store(location.kind == DatabaseLocation::Kind::Postgres, location.target, location.shown));
  }
  return store_.get();
}

Result<state::Store*> Workspace::store_if_there() {
  WEIR_TRY(const Config* config, this->config());
  if (config->state.kind != DatabaseLocation::Kind::Postgres && !io::exists(config->state.target)) return nullptr;
  return store();
}

Result<env::Registry> Workspace::registry() {
  WEIR_TRY(const Config* config, this->config());
  WEIR_TRY(state::Store * store, store_if_there());
  return env::Registry::read(*config, store);
}

/// Finds the environment, and puts its forks among the lakes. Requires: config_ is set.
Result<void> Workspace::enter(Config& config) {
  if (environment_ == env::kProd) return {};
  WEIR_TRY(const env::Registry registry, this->registry());
  WEIR_TRY(chain_, registry.chain(environment_));
  environment_ = chain_.front().name;
  return env::add_forks(config, chain_);
}

Result<std::vector<env::Settings>> Workspace::chain() {
  WEIR_TRY(const Config* config, this->config());
  (void)config;
  if (chain_.empty()) chain_.push_back({.name = environment_});
  return chain_;
}

/// An environment that weir.yaml declares is recorded when something is written to it.
Result<void> Workspace::note_first_use() {
  if (chain_.empty() || chain_.front().parent.empty() || !chain_.front().created.empty()) return {};
  WEIR_TRY(state::Store * store, this->store());
  for (env::Settings& one : chain_) {
    if (one.parent.empty() || !one.created.empty()) continue;
    one.created = state::now_text();
    auto made = store->create_environment({one.name, one.parent, env::settings_text(one), one.created});
    // Another command may have been first.
    if (!made && made.error().front().code != Code::W5403) return made;
  }
  return {};
}

/// A lake that was there once and is not any more would read as empty, or be made anew.
Result<void> Workspace::judge_parents() {
  if (environment_ == env::kProd) return {};
  WEIR_TRY(const Config* config, this->config());
  WEIR_TRY(state::Store * store, store_if_there());
  if (store == nullptr) return {};
  for (const LakeConfig& lake : config->lakes) {
    WEIR_TRY(const std::int64_t known, store->reconciled_version(lake.name));
    if (known == 0) continue;
    WEIR_TRY(const bool is_there, lake::is_present(lake));
    if (is_there) continue;
    return fail(Diagnostic{.code = Code::W5421,
                           .message = fmt::format("environment {} reads lake {}, whose catalog {} is gone",
                                                  environment_, lake.name, lake.catalog.shown),
                           .hint = "bring it back; `weir env drop " + environment_ + "` gives up the environment"});
  }
  return {};
}

Result<lake::Lakes*> Workspace::lakes(bool write, bool confined) {
  if (lakes_ == nullptr || (write && !lakes_write_)) {
    WEIR_TRY(const Config* config, this->config());
    WEIR_CHECK(judge_parents());
    if (write) WEIR_CHECK(note_first_use());
    lakes_.reset();
    lake::Lakes::Options options{.extension_folder = io::extension_folder(), .write = write, .confined = confined};
    if (write) {
      WEIR_TRY(const Project* project, this->project());
      for (const Model& model : project->models)
        if (model.plane == Plane::Table && model.target) options.outlets.insert(model.target->place);
    }
    WEIR_TRY(lakes_, lake::Lakes::open(*config, options));
    lakes_write_ = write;
  }
  return lakes_.get();
}

Result<void> Workspace::look_around() {
  if (forks_) return {};
  WEIR_TRY(const Config* config, this->config());
  WEIR_TRY(lake::Lakes * lakes, this->lakes(lakes_write_));
  WEIR_TRY(env::Forks forks, env::Forks::look(*config, *lakes, environment_));
  forks_ = std::move(forks);
  WEIR_TRY(state::Store * store, store_if_there());
  if (store == nullptr) return {};
  WEIR_TRY(const auto chain, this->chain());
  const std::optional<std::int64_t> pin = pinned_version(*config);
  // The nearest environment's view hides those of the others.
  for (const env::Settings& level : chain) {
    const bool is_own = level.name == environment_;
    const bool is_pinned = pin && !is_own;
    WEIR_TRY(const auto generations, store->promotions(level.name, is_pinned ? kAllGenerations : 1));
    for (const state::PromotionRecord& generation : generations) {
      if (is_pinned && generation.lake_version.value_or(0) > *pin) continue;
      for (const state::ShownModel& one : generation.models) {
        auto view = parse_asset(one.view);
        auto data = parse_asset(one.data);
        if (!view || !data) continue;
        Asset relation = *view;
        const std::string prefix = level.parent.empty() ? std::string() : level.name + "__";
        if (relation.schema.starts_with(prefix)) relation.schema.erase(0, prefix.size());
        if (is_pinned) {
          view = forks_->pinned(*view);
          data = forks_->pinned(*data);
        }
        views_.emplace(relation.key(), std::pair(std::move(*view), std::move(*data)));
      }
      break;
    }
  }
  return {};
}

Result<Asset> Workspace::located(const Asset& asset) {
  if (environment_ == env::kProd) return asset;
  WEIR_CHECK(look_around());
  if (const auto view = views_.find(asset.key()); view != views_.end()) return view->second.first;
  return forks_->read(asset);
}

Result<Asset> Workspace::rows_of(const Asset& asset) {
  WEIR_CHECK(look_around());
  if (const auto view = views_.find(asset.key()); view != views_.end()) return view->second.second;
  return forks_->read(asset);
}

Result<std::string> Workspace::owner_of(const Asset& place) {
  WEIR_CHECK(look_around());
  WEIR_TRY(const Config* config, this->config());
  for (const env::Settings& level : chain_)
    if (!level.parent.empty() && place.schema.starts_with(level.name + "__")) return level.name;
  if (const LakeConfig* lake = config->lake(place.place); lake != nullptr && !lake->environment.empty())
    return lake->environment;
  return std::string(env::kProd);
}

Result<std::map<std::string, std::string>> Workspace::fingerprints(const Graph& graph,
                                                                   const std::set<std::string>& built) {
  if (environment_ == env::kProd) return plan::fingerprints(graph);
  WEIR_CHECK(look_around());
  return plan::fingerprints(graph, env::own_data(graph, built, *forks_));
}

Result<const env::Placed*> Workspace::placed() {
  if (placed_ != nullptr) return placed_.get();
  WEIR_TRY(const Graph* graph, sound_graph());
  WEIR_CHECK(look_around());
  WEIR_TRY(state::Store * store, this->store());
  WEIR_TRY(const env::Environment environment, env::look(*store, environment_, *graph));
  WEIR_TRY(const auto fingerprints, this->fingerprints(*graph));
  const auto definitions = plan::fingerprints(*graph);
  WEIR_TRY(env::Placed placed, env::place(*graph, {.fingerprints = fingerprints,
                                                   .definitions = definitions,
                                                   .environment = environment,
                                                   .selected = {},
                                                   .forks = &*forks_,
                                                   .only_reads = true}));
  placed_ = std::make_unique<env::Placed>(std::move(placed));
  return placed_.get();
}

Result<Asset> Workspace::asset_named(const std::string& name) {
  if (auto asset = parse_asset(name); asset && !asset->name.empty()) return *asset;
  WEIR_TRY(const Project* project, this->project());
  for (const auto* models : {&project->models, &project->broken_models})
    for (const Model& model : *models) {
      const std::string& path = model.path;
      const bool is_path = path == name || (path.size() > name.size() && path.ends_with("/" + name));
      if (is_path && model.target) return *model.target;
    }
  Asset asset;
  asset.place = project->config.default_lake().name;
  const auto dot = name.find('.');
  asset.schema = dot == std::string::npos ? "main" : name.substr(0, dot);
  asset.name = dot == std::string::npos ? name : name.substr(dot + 1);
  return asset;
}

std::string Workspace::hint_for(const std::string& name) {
  std::vector<std::string> known;
  if (const auto project = this->project()) {
    for (const Model& model : (*project)->models) {
      known.push_back(model.path);
      known.push_back(model.path.substr(model.path.rfind('/') + 1));
      if (model.target)
        known.push_back(model.target->schema == "main" ? model.target->name
                                                       : model.target->schema + "." + model.target->name);
    }
  }
  const auto near = text::nearest(name, known);
  return near ? "did you mean `" + *near + "`?" : "`weir ls` lists the models";
}

}  // namespace weir::ops
