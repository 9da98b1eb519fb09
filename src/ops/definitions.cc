#include "ops/definitions.h"

#include <algorithm>
#include <set>

#include "env/environment.h"

namespace weir::ops {
namespace {

/// The environment and those that it comes from, nearest first.
Result<std::vector<env::Settings>> chain_of(Workspace& workspace, const std::string& environment) {
  if (environment == env::kProd) return std::vector<env::Settings>{{.name = environment}};
  WEIR_TRY(const env::Registry registry, workspace.registry());
  return registry.chain(environment);
}

bool is_shown(const state::DeployedModel& record) {
  return record.plane == name_of(Plane::Virtual) || record.plane == name_of(Plane::View) ||
         record.plane == name_of(Plane::Ephemeral);
}

/// Brings a record of what was deployed to what is shown. False: the environment does not show the model.
bool take_shown(const env::Environment& environment, state::DeployedModel& record, Definitions& found) {
  if (!is_shown(record)) return true;
  const state::ShownModel* shown = environment.shown_model(record.model);
  if (shown == nullptr) return false;
  if (record.fingerprint == shown->definition) return true;
  record.fingerprint = shown->definition;
  const auto table = parse_asset(shown->data);
  const auto owned = table ? environment.owned.find(table->key()) : environment.owned.end();
  // A table that was kept under a changed definition carries the text of the one before.
  const bool is_built_so = owned != environment.owned.end() && owned->second.fingerprint == shown->fingerprint;
  found.shown_texts[record.model] = is_built_so ? owned->second.source : std::string();
  return true;
}

}  // namespace

std::string Definitions::digest() const {
  std::vector<std::pair<std::string, std::string>> digests;
  for (const state::DeployedModel& one : records) digests.emplace_back(one.model, one.digest + one.fingerprint);
  return state::digest_of(digests);
}

Result<Definitions> definitions_in(Workspace& workspace, const std::string& environment) {
  Definitions found;
  WEIR_TRY(state::Store * store, workspace.store_if_there());
  if (store == nullptr) return found;
  WEIR_TRY(const auto chain, chain_of(workspace, environment));
  std::set<std::string> paths;
  std::set<std::string> assets;
  for (const env::Settings& level : chain) {
    const bool is_own = &level == &chain.front();
    WEIR_TRY(auto deployed, store->deployed(level.name));
    WEIR_TRY(const env::Environment look, env::look(*store, level.name));
    if (is_own && look.shown) found.generation = look.shown->generation;
    for (state::DeployedModel& record : deployed) {
      // The nearest one's definition counts, also where it lies in another file.
      if (paths.contains(record.model) || (!record.asset.empty() && assets.contains(record.asset))) continue;
      if (!take_shown(look, record, found)) continue;
      paths.insert(record.model);
      if (!record.asset.empty()) assets.insert(record.asset);
      if (!is_own) found.deferred.emplace(record.model, level.name);
      found.records.push_back(std::move(record));
    }
  }
  std::sort(found.records.begin(), found.records.end(), [](const auto& a, const auto& b) { return a.model < b.model; });
  return found;
}

Result<OpenTexts> texts_of(Workspace& workspace, const std::string& environment, const Definitions& definitions) {
  OpenTexts texts;
  WEIR_TRY(state::Store * store, workspace.store_if_there());
  if (store == nullptr) return texts;
  WEIR_TRY(auto chain, chain_of(workspace, environment));
  std::map<std::string, OpenTexts> by_level;
  std::set<std::string> models;
  for (const env::Settings& level : chain) {
    WEIR_TRY(by_level[level.name], store->deployed_texts(level.name));
    WEIR_TRY(const auto libraries, store->libraries(level.name));
    for (const state::DeployedLibrary& library : libraries) texts.emplace(library.file, library.source);
  }
  for (const state::DeployedModel& record : definitions.records) {
    const auto deferred = definitions.deferred.find(record.model);
    const OpenTexts& level = by_level[deferred == definitions.deferred.end() ? chain.front().name : deferred->second];
    const auto shown = definitions.shown_texts.find(record.model);
    if (shown == definitions.shown_texts.end())
      texts[record.file] = level.at(record.file);
    else if (!shown->second.empty())
      texts[record.file] = shown->second;
  }
  return texts;
}

}  // namespace weir::ops
