#include "env/forks.h"

#include <fmt/format.h>

#include "env/environment.h"
#include "text/lexer.h"

namespace weir::env {
namespace {

Result<std::set<std::string>> tables_in(const lake::Lake& lake, duck::Connection& connection) {
  std::set<std::string> tables;
  WEIR_TRY(const auto relations, lake.relations(connection));
  for (const lake::Relation& one : relations)
    if (one.shows.empty()) tables.insert(Asset{AssetKind::Lake, lake.name(), one.schema, one.name}.key());
  return tables;
}

Asset in_lake(Asset asset, const std::string& lake) {
  asset.place = lake;
  return asset;
}

}  // namespace

Result<Forks> Forks::look(const Config& config, lake::Lakes& lakes, const std::string& environment) {
  Forks forks;
  if (environment == kProd) return forks;
  WEIR_TRY(duck::Connection connection, lakes.connect());
  for (const LakeConfig& lake : config.lakes) {
    if (lake.is_read_only) forks.read_only_.insert(lake.name);
    if (lake.fork_of.empty()) continue;
    Level level{.environment = lake.environment,
                .lake = text::lower(lake.fork_of),
                .fork = lake.name,
                .version = lake.version,
                .is_last = lake.environment == kProd,
                .tables = {}};
    if (lake.version) forks.pinned_.insert(level.lake);
    if (!level.is_last) {
      WEIR_TRY(level.tables, tables_in(lakes.lake(lake.name), connection));
    }
    if (!lake.is_read_only) {
      forks.written_[level.lake] = lake.name;
      if (lake.copies) forks.copying_.insert(lake.name);
    }
    forks.levels_.push_back(std::move(level));
  }
  // The default lake can be written for the sake of the tables that weir owns; not by other models, if it is forked.
  for (const auto& [lake, fork] : forks.written_) forks.read_only_.insert(config.lake(lake)->name);
  return forks;
}

std::vector<const Forks::Level*> Forks::levels_of(const Asset& asset) const {
  std::vector<const Level*> levels;
  if (asset.kind != AssetKind::Lake) return levels;
  const std::string lake = text::lower(asset.place);
  for (const Level& level : levels_)
    if (level.lake == lake) levels.push_back(&level);
  return levels;
}

Asset Forks::written(const Asset& asset) const {
  if (asset.kind != AssetKind::Lake) return asset;
  const auto fork = written_.find(text::lower(asset.place));
  return fork == written_.end() ? asset : in_lake(asset, fork->second);
}

Asset Forks::read(const Asset& asset, bool built) const {
  if (built) return written(asset);
  if (is_physical(asset)) return asset;
  for (const Level* level : levels_of(asset)) {
    Asset own = in_lake(asset, level->fork);
    if (level->is_last || level->tables.contains(own.key())) return own;
  }
  return asset;
}

Asset Forks::pinned(const Asset& asset) const {
  for (const Level* level : levels_of(asset))
    if (level->is_last) return in_lake(asset, level->fork);
  return asset;
}

bool Forks::copies(const Asset& asset) const { return copying_.contains(written(asset).place); }

std::string Forks::owner(const Asset& asset, bool built) const {
  const Asset place = read(asset, built);
  for (const Level& level : levels_)
    if (level.fork == place.place)
      return level.version ? fmt::format("{} at {}", level.environment, *level.version) : level.environment;
  return {};
}

}  // namespace weir::env
