#include "run/observe.h"

#include <algorithm>
#include <filesystem>

#include "io/file_identity.h"
#include "io/files.h"
#include "project/delivery.h"
#include "text/lexer.h"

namespace weir::run {
namespace {

/// The oldest version per lake that some ledger row names: changes before it can't matter.
std::map<std::string, std::int64_t> oldest_versions(const plan::World& world) {
  std::map<std::string, std::int64_t> oldest;
  const auto note = [&oldest](const std::string& key, std::int64_t version) {
    constexpr std::string_view kScheme = "ducklake://";
    if (!key.starts_with(kScheme)) return;
    const std::string lake = key.substr(kScheme.size(), key.find('/', kScheme.size()) - kScheme.size());
    const auto [at, is_new] = oldest.emplace(lake, version);
    if (!is_new) at->second = std::min(at->second, version);
  };
  for (const auto& [slice, record] : world.slices) {
    for (const state::InputRecord& input : record.inputs)
      if (input.asset.starts_with("ducklake://")) note(input.asset, std::stoll(input.version));
    if (record.snapshot_id) note(record.asset, *record.snapshot_id);
  }
  return oldest;
}

Result<void> add_slices(state::Store& store, const std::string& environment, const std::set<std::string>* only,
                        plan::World& world) {
  WEIR_TRY(std::vector<state::SliceRecord> slices, store.slices(environment, std::nullopt));
  for (state::SliceRecord& slice : slices) {
    if (only != nullptr && !only->contains(slice.asset)) continue;
    auto key = std::make_pair(slice.asset, slice.slice);
    world.slices.emplace(std::move(key), std::move(slice));
  }
  return {};
}

}  // namespace

Result<plan::World> observe(const Project& project, const Graph& graph, const std::set<std::string>& selected,
                            lake::Lakes& lakes, state::Store& store, const env::Environment& environment) {
  plan::World world;
  WEIR_CHECK(add_slices(store, environment.name, nullptr, world));
  // What an environment shows of another's tables is in that one's ledger.
  std::map<std::string, std::set<std::string>> of_others;
  for (const Model& model : graph.models()) {
    if (!model.target || !selected.contains(model.path)) continue;
    const auto owned = environment.owned.find(model.target->key());
    if (owned != environment.owned.end() && owned->second.environment != environment.name)
      of_others[owned->second.environment].insert(owned->first);
  }
  for (const auto& [owner, assets] : of_others) WEIR_CHECK(add_slices(store, owner, &assets, world));
  for (const Model& model : graph.models()) {
    if (!selected.contains(model.path) || !model.files) continue;
    for (const std::string& file : *model.files)
      if (!world.files.contains(file)) world.files.emplace(file, io::file_identity(project.config.root, file));
  }
  for (const Model& model : graph.models()) {
    const bool has_one_file = model.plane == Plane::File && placeholders_of(model.file_path).empty();
    if (!has_one_file || !selected.contains(model.path)) continue;
    const std::string path = storage_path(project.config, model.file_path).value_or(model.file_path);
    const bool is_local = path.find("://") == std::string::npos;
    if (is_local && !io::exists((std::filesystem::path(project.config.root) / path).string()))
      world.gone.insert(model.target->key());
  }
  const auto oldest = oldest_versions(world);
  WEIR_TRY(duck::Connection connection, lakes.connect());
  for (const lake::Lake& lake : lakes.all()) {
    const auto since = oldest.find(text::lower(lake.name()));
    plan::World::LakeView view;
    view.since = since == oldest.end() ? 0 : since->second;
    WEIR_TRY(auto changes, lake.changes_after(connection, view.since));
    view.newest = changes.newest;
    view.changed = std::move(changes.tables);
    view.foreign = std::move(changes.foreign);
    view.made = std::move(changes.made);
    world.lakes.emplace(text::lower(lake.name()), std::move(view));
  }
  return world;
}

}  // namespace weir::run
