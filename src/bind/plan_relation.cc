#include "bind/plan_relation.h"

#include <algorithm>

namespace weir::bind::plan {

void merge(Numbers& all, const Numbers& more) {
  if (more.empty()) return;
  if (all.empty() || all.back() < more.front()) {
    all.insert(all.end(), more.begin(), more.end());
    return;
  }
  Numbers both;
  both.reserve(all.size() + more.size());
  std::set_union(all.begin(), all.end(), more.begin(), more.end(), std::back_inserter(both));
  all = std::move(both);
}

void merge(Origin& all, const Origin& more, ValueKind floor) {
  for (const std::uint32_t value : more.values) {
    const std::uint32_t column = value >> 2;
    const std::uint32_t kind = std::max(value & 3U, static_cast<std::uint32_t>(floor));
    const auto at = std::lower_bound(all.values.begin(), all.values.end(), column << 2);
    if (at != all.values.end() && *at >> 2 == column)
      *at = std::max(*at, column << 2 | kind);
    else
      all.values.insert(at, column << 2 | kind);
  }
  merge(all.rows, more.rows);
}

void decide(Numbers& rows, const Origin& origin, RowRole role) {
  Numbers named;
  named.reserve(origin.values.size());
  for (const std::uint32_t value : origin.values) named.push_back((value & ~3U) | static_cast<std::uint32_t>(role));
  merge(rows, named);
  merge(rows, origin.rows);
}

OriginId Origins::add(Origin origin) {
  if (origin.values.empty() && origin.rows.empty()) return 0;
  all_.push_back(std::move(origin));
  return static_cast<OriginId>(all_.size() - 1);
}

std::uint32_t Origins::number_of(const std::string& table, const std::string& column) {
  const auto [at, is_new] = numbers_.emplace(TableColumn{table, column}, static_cast<std::uint32_t>(columns_.size()));
  if (is_new) columns_.push_back(&at->first);
  return at->second;
}

}  // namespace weir::bind::plan
