#include "bind/known_assets.h"

#include <algorithm>

#include "project/contract.h"
#include "text/lexer.h"

namespace weir::bind {
namespace {

/// What a lake makes of a type (a sum of integers is stored as a decimal, never as 128 bits).
std::string stored_type(const std::string& type) {
  if (type == "HUGEINT" || type == "UHUGEINT") return "DECIMAL(38,0)";
  return type;
}

}  // namespace

bool has_column(const Columns& columns, std::string_view name) {
  return std::any_of(columns.begin(), columns.end(),
                     [name](const duck::Column& one) { return text::same_word(one.name, name); });
}

std::vector<Asset> readable_assets(const Model& model) {
  std::vector<Asset> assets = outputs_of(model);
  if (!model.relation.name.empty() &&
      std::none_of(assets.begin(), assets.end(), [&model](const Asset& one) { return one == model.relation; }))
    assets.push_back(model.relation);
  return assets;
}

SharedColumns table_of(const Model& model, const std::vector<BoundColumn>& columns) {
  auto made = std::make_shared<Columns>();
  made->reserve(columns.size() + 1);
  for (const BoundColumn& column : columns) made->push_back({column.name, stored_type(column.type)});
  add_kept_columns(model, *made);
  return made;
}

SharedColumns KnownAssets::columns_to_read(const Asset& asset, bool is_own) {
  if (SharedColumns known = columns(asset); known != nullptr) return known;
  const KnownSchema* found = source(asset);
  if (found == nullptr && (is_own || graph_.producer(asset) == nullptr)) found = captured(asset);
  if (found == nullptr) return nullptr;
  auto made = std::make_shared<Columns>(found->columns);
  if (!is_own) set(asset.key(), made);
  return made;
}

SharedColumns KnownAssets::columns(const Asset& asset) const {
  const auto known = columns_.find(asset.key());
  return known == columns_.end() ? nullptr : known->second;
}

void KnownAssets::set_output(const Model& model, const std::vector<BoundColumn>& columns) {
  const SharedColumns made = table_of(model, columns);
  for (const Asset& asset : readable_assets(model)) columns_[asset.key()] = made;
}

std::optional<KnownSchema> KnownAssets::set_captured(const Model& model) {
  if (!model.target) return std::nullopt;
  const KnownSchema* last = captured(*model.target);
  if (last == nullptr) last = source(*model.target);
  if (last == nullptr) return std::nullopt;
  auto made = std::make_shared<Columns>(last->columns);
  add_kept_columns(model, *made);
  for (const Asset& asset : readable_assets(model)) columns_[asset.key()] = made;
  return *last;
}

const KnownSchema* KnownAssets::captured(const Asset& asset) {
  if (!captured_) captured_ = surroundings_.captured ? surroundings_.captured() : KnownSchemas();
  if (const auto found = captured_->find(asset.key()); found != captured_->end()) return &found->second;
  const Model* producer = graph_.producer(asset);
  if (producer == nullptr || !producer->target || *producer->target == asset || !producer->is_history()) return nullptr;
  const auto base = captured_->find(producer->target->key());
  return base == captured_->end() ? nullptr : &base->second;
}

Asset KnownAssets::history_of(const Asset& asset) const {
  const Model* producer = graph_.producer(asset);
  return producer != nullptr && producer->is_history() && producer->target ? *producer->target : asset;
}

const KnownSchema* KnownAssets::source(const Asset& asset) const {
  const auto found = surroundings_.sources.find(asset.key());
  return found == surroundings_.sources.end() ? nullptr : &found->second;
}

}  // namespace weir::bind
