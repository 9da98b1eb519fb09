#include "ops/workspace.h"

#include "text/suggest.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "io/installation.h"
#include "metric/judge.h"

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
    return &*connection_;
  }

 private:
  std::optional<duck::Connection> connection_;
};

/// The errors, and the warnings that may explain them.
Diagnostics problems_of(const Diagnostics& all) {
  Diagnostics problems;
  for (const Diagnostic& found : all)
    if (found.severity != Severity::Hint) problems.push_back(found);
  return problems;
}

}  // namespace

Result<Workspace> Workspace::open(const std::string& folder) {
  WEIR_TRY(std::string root, find_project(folder));
  if (::chdir(root.c_str()) != 0)
    return fail(
        Diagnostic{.code = Code::W9010, .message = fmt::format("cannot enter {}: {}", root, std::strerror(errno))});
  return Workspace(std::move(root));
}

Result<const Config*> Workspace::config() {
  if (project_ != nullptr) return &project_->config;
  if (config_ == nullptr) {
    Diagnostics warnings;
    WEIR_TRY(Config config, load_config(root_, warnings));
    config_ = std::make_unique<Config>(std::move(config));
  }
  return config_.get();
}

Result<const Project*> Workspace::project() {
  if (project_ == nullptr) {
    LazyParser parser;
    WEIR_TRY(Project project, load_project(root_, parser));
    WEIR_CHECK(metric::judge(project, parser));
    project_ = std::make_unique<Project>(std::move(project));
  }
  return project_.get();
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
  if (graph_ == nullptr) {
    WEIR_TRY(Graph graph, Graph::link(project->models));
    graph_ = std::make_unique<Graph>(std::move(graph));
  }
  return graph_.get();
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

Result<lake::Lakes*> Workspace::lakes(bool write, bool confined) {
  if (lakes_ == nullptr || (write && !lakes_write_)) {
    WEIR_TRY(const Config* config, this->config());
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

Result<Asset> Workspace::asset_named(const std::string& name) {
  if (auto asset = parse_asset(name); asset && !asset->name.empty()) return *asset;
  WEIR_TRY(const Project* project, this->project());
  for (const Model& model : project->models) {
    if (!model.target) continue;
    const std::string& path = model.path;
    const bool is_path = path == name || (path.size() > name.size() && path.ends_with("/" + name));
    if (is_path) return *model.target;
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
