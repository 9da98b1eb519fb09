#include "trial/difference.h"

#include <algorithm>
#include <map>

namespace weir::trial {
namespace {

using Kind = RowDifference::Kind;

/// Beyond this many pairs rows are not matched by likeness: the answer would be long in coming, and nobody would read
/// it.
constexpr std::size_t kMostPairs = 1'000'000;

std::vector<RowDifference> compare_in_order(const std::vector<UnitCells>& expected,
                                            const std::vector<UnitCells>& actual) {
  std::vector<RowDifference> found;
  for (std::size_t i = 0; i < std::max(expected.size(), actual.size()); ++i) {
    if (i >= actual.size())
      found.push_back({Kind::Missing, expected[i], {}, i + 1});
    else if (i >= expected.size())
      found.push_back({Kind::Unexpected, {}, actual[i], i + 1});
    else if (expected[i] != actual[i])
      found.push_back({Kind::Changed, expected[i], actual[i], i + 1});
  }
  return found;
}

std::size_t agreeing(const UnitCells& a, const UnitCells& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) count += a[i] == b[i] ? 1 : 0;
  return count;
}

bool has_same_key(const UnitCells& a, const UnitCells& b, const std::vector<std::size_t>& key) {
  return std::all_of(key.begin(), key.end(), [&](std::size_t column) { return a[column] == b[column]; });
}

/// The row of `unexpected` that a missing one most likely has become.
std::optional<std::size_t> partner_of(const UnitCells& missing, const std::vector<UnitCells>& unexpected,
                                      const std::vector<bool>& taken, const std::vector<std::size_t>& key) {
  std::optional<std::size_t> best;
  std::size_t most = 0;
  for (std::size_t i = 0; i < unexpected.size(); ++i) {
    if (taken[i]) continue;
    if (!key.empty()) {
      if (has_same_key(missing, unexpected[i], key)) return i;
      continue;
    }
    const std::size_t same = agreeing(missing, unexpected[i]);
    if (same <= most || same * 2 < missing.size()) continue;
    most = same;
    best = i;
  }
  return best;
}

}  // namespace

std::vector<RowDifference> compare_rows(const std::vector<UnitCells>& expected, const std::vector<UnitCells>& actual,
                                        const std::vector<std::size_t>& key, bool is_ordered) {
  if (is_ordered) return compare_in_order(expected, actual);
  std::map<UnitCells, std::size_t> left;
  for (const UnitCells& row : actual) ++left[row];
  std::vector<UnitCells> missing;
  for (const UnitCells& row : expected) {
    const auto found = left.find(row);
    if (found == left.end() || found->second == 0)
      missing.push_back(row);
    else
      --found->second;
  }
  std::vector<UnitCells> unexpected;
  for (const UnitCells& row : actual) {
    std::size_t& count = left[row];
    if (count == 0) continue;
    --count;
    unexpected.push_back(row);
  }
  std::vector<bool> taken(unexpected.size());
  std::vector<RowDifference> found;
  const bool may_match = missing.size() * unexpected.size() <= kMostPairs;
  for (const UnitCells& row : missing) {
    const auto partner = may_match ? partner_of(row, unexpected, taken, key) : std::nullopt;
    if (!partner) {
      found.push_back({Kind::Missing, row, {}, 0});
      continue;
    }
    taken[*partner] = true;
    found.push_back({Kind::Changed, row, unexpected[*partner], 0});
  }
  for (std::size_t i = 0; i < unexpected.size(); ++i)
    if (!taken[i]) found.push_back({Kind::Unexpected, {}, unexpected[i], 0});
  std::stable_sort(found.begin(), found.end(),
                   [](const RowDifference& a, const RowDifference& b) { return a.kind < b.kind; });
  return found;
}

}  // namespace weir::trial
