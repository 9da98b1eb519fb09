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

state::DeployedModel record_of(const state::DefinitionRecord& definition) {
  state::DeployedModel record{.model = definition.model, .file = definition.file};
  record.plane = definition.plane;
  record.strategy = definition.strategy;
  record.asset = definition.asset;
  record.fingerprint = definition.fingerprint;
  record.source = definition.source;
  return record;
}

/// What is deployed to one environment, brought to what it shows.
Result<std::vector<state::DeployedModel>> definitions_of(state::Store& store, const env::Environment& environment,
                                                         Definitions& found) {
  WEIR_TRY(std::vector<state::DeployedModel> records, store.deployed(environment.name));
  std::erase_if(records, [&](const state::DeployedModel& record) {
    return is_shown(record) && environment.shown_model(record.model) == nullptr;
  });
  if (!environment.shown) return records;
  std::map<std::string, state::DeployedModel*> by_path;
  for (state::DeployedModel& record : records) by_path.emplace(record.model, &record);
  std::vector<std::pair<std::string, std::string>> wanted;
  for (const state::ShownModel& one : environment.shown->models) {
    const auto record = by_path.find(one.model);
    if (record != by_path.end() && record->second->fingerprint == one.definition) continue;
    wanted.emplace_back(one.model, one.definition);
  }
  WEIR_TRY(const auto known, store.definitions(wanted));
  std::vector<state::DeployedModel> more;
  for (const auto& [path, fingerprint] : wanted) {
    state::DefinitionRecord made_of{.model = path, .fingerprint = fingerprint};
    for (const state::DefinitionRecord& one : known)
      if (one.model == path) made_of = one;
    if (const auto record = by_path.find(path); record == by_path.end()) {
      more.push_back(record_of(made_of));
    } else {
      record->second->fingerprint = fingerprint;
      if (!made_of.file.empty()) record->second->file = made_of.file;
    }
    found.shown.insert_or_assign(path, std::move(made_of));
  }
  std::move(more.begin(), more.end(), std::back_inserter(records));
  return records;
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
    WEIR_TRY(const env::Environment look, env::look(*store, level.name));
    if (is_own && look.shown) found.generation = look.shown->generation;
    Definitions own;
    WEIR_TRY(auto records, definitions_of(*store, look, own));
    WEIR_TRY(const auto taken_out, store->taken_out(level.name));
    for (state::DeployedModel& record : records) {
      // The nearest one's definition counts, also where it lies in another file.
      if (paths.contains(record.model) || (!record.asset.empty() && assets.contains(record.asset))) continue;
      if (const auto made_of = own.shown.find(record.model); made_of != own.shown.end()) found.shown.insert(*made_of);
      paths.insert(record.model);
      if (!record.asset.empty()) assets.insert(record.asset);
      if (!is_own) found.deferred.emplace(record.model, level.name);
      found.records.push_back(std::move(record));
    }
    // What it comes from may have these; it does not.
    paths.insert(taken_out.begin(), taken_out.end());
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
  for (const auto& [path, made_of] : definitions.shown)
    for (const auto& [file, source] : made_of.libraries) texts[file] = source;
  for (const state::DeployedModel& record : definitions.records) {
    const auto deferred = definitions.deferred.find(record.model);
    const OpenTexts& level = by_level[deferred == definitions.deferred.end() ? chain.front().name : deferred->second];
    const auto shown = definitions.shown.find(record.model);
    if (shown == definitions.shown.end())
      texts[record.file] = level.at(record.file);
    else if (!shown->second.file.empty())
      texts[record.file] = shown->second.source;
  }
  return texts;
}

}  // namespace weir::ops
