#include "lsp/scope.h"

#include <algorithm>

namespace weir::lsp {

using text::same_word;

Scope::Scope(const View& view, const Snapshot& snapshot)
    : snapshot_(snapshot), outline_(view.sql(), view.tokens()), names_(view, outline_, snapshot) {}

ScopeTable Scope::table(const ReadItem& item) const {
  ScopeTable found;
  if (item.block != kNone) {
    found.block = item.block;
    found.made = item.name_span;
    return found;
  }
  if (item.parts.size() == 1) {
    const auto named = named_queries(item.span.begin);
    const auto same = [&item](const auto& one) { return same_word(one.first, item.parts[0]); };
    if (const auto one = std::find_if(named.begin(), named.end(), same); one != named.end()) return one->second;
  }
  found.asset = names_.asset_of(item.parts);
  return found;
}

const std::vector<ScopeColumn>& Scope::asset_columns(const Asset& asset) const {
  const auto [at, is_new] = assets_.try_emplace(asset.key());
  if (!is_new) return at->second;
  const KnownAsset* known = snapshot_.asset(asset);
  if (known != nullptr && known->columns != nullptr)
    for (const duck::Column& column : *known->columns) at->second.push_back({column.name, column.type, asset, {}});
  return at->second;
}

std::vector<ScopeColumn> Scope::columns(const ReadItem& item) const {
  const ScopeTable found = table(item);
  std::vector<ScopeColumn> all;
  if (found.asset) all = asset_columns(*found.asset);
  if (found.block != kNone) all = output(found.block);
  for (std::size_t i = 0; i < item.columns.size() && i < all.size(); ++i) all[i].name = item.columns[i];
  return all;
}

const std::vector<ScopeColumn>& Scope::output(std::size_t block) const {
  const auto known = outputs_.find(block);
  if (known != outputs_.end()) return known->second;
  // While it is made it has none: a query that reads itself ends here. So does a chain that is longer than any stack.
  constexpr int kLongest = 500;
  outputs_[block] = {};
  if (depth_ >= kLongest) return outputs_[block];
  ++depth_;
  auto made = make_output(block);
  --depth_;
  return outputs_[block] = std::move(made);
}

std::vector<ScopeColumn> Scope::make_output(std::size_t block) const {
  std::vector<ScopeColumn> made;
  const auto& arms = outline_.blocks()[block].arms;
  if (arms.empty()) return made;
  const Arm& first = arms.front();
  if (first.block != kNone) return output(first.block);
  if (!first.has_select)
    for (const ReadItem& item : first.reads)
      for (ScopeColumn& column : columns(item)) made.push_back(std::move(column));
  for (const SelectItem& item : first.items) add_item(item, first, made);
  return made;
}

void Scope::add_item(const SelectItem& item, const Arm& arm, std::vector<ScopeColumn>& out) const {
  if (item.is_star) {
    for (const ReadItem& read : arm.reads) {
      if (!item.star_of.empty() && !same_word(item.star_of, read.name)) continue;
      for (ScopeColumn& column : columns(read))
        if (!item.excluded.contains(text::lower(column.name))) out.push_back(std::move(column));
    }
    return;
  }
  if (item.name.empty()) return;
  ScopeColumn made{item.name, "", std::nullopt, item.name_span};
  if (!item.parts.empty())
    for (const ReadItem& read : arm.reads) {
      if (item.parts.size() > 1 && !same_word(item.parts[item.parts.size() - 2], read.name)) continue;
      for (const ScopeColumn& column : columns(read))
        if (made.type.empty() && same_word(column.name, item.parts.back())) made.type = column.type;
    }
  out.push_back(std::move(made));
}

std::vector<const ReadItem*> Scope::visible(std::uint32_t at) const {
  std::vector<const ReadItem*> found;
  for (std::size_t block = outline_.block_at(at); block != kNone; block = outline_.blocks()[block].parent) {
    // A CTE sees nothing of the query that it is written in.
    const Arm* arm = outline_.arm_at(block, at);
    if (arm == nullptr) continue;
    for (const ReadItem& item : arm->reads) found.push_back(&item);
  }
  return found;
}

std::vector<std::pair<std::string, ScopeTable>> Scope::named_queries(std::uint32_t at) const {
  std::vector<std::pair<std::string, ScopeTable>> found;
  for (std::size_t block = outline_.block_at(at); block != kNone; block = outline_.blocks()[block].parent)
    for (const CommonTable& one : outline_.blocks()[block].tables) {
      if (one.span.begin >= at) break;
      if (at <= one.span.end && !one.is_recursive) continue;  // in its own body the name is a table's
      found.emplace_back(one.name, ScopeTable{std::nullopt, one.block, one.name_span});
    }
  for (const OutlinedStatement& one : outline_.statements()) {
    if (one.span.end >= at) break;
    if (!one.created.empty() && !one.is_macro)
      found.emplace_back(one.created, ScopeTable{std::nullopt, one.block, one.created_span});
  }
  return found;
}

std::optional<ScopeColumn> Scope::find(const std::vector<std::string>& parts, std::uint32_t at) const {
  if (parts.empty()) return std::nullopt;
  for (const ReadItem* item : visible(at)) {
    if (parts.size() > 1 && !same_word(parts[parts.size() - 2], item->name)) continue;
    for (const ScopeColumn& column : columns(*item))
      if (same_word(column.name, parts.back())) return column;
  }
  return std::nullopt;
}

std::size_t Scope::result() const {
  const auto& statements = outline_.statements();
  return statements.empty() ? kNone : statements.back().block;
}

}  // namespace weir::lsp
