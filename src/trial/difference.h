// How the rows of a unit test differ from those that it expects.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace weir::trial {

/// Values as text, in the order of the compared columns; nothing is NULL.
using UnitCells = std::vector<std::optional<std::string>>;

struct RowDifference {
  enum class Kind { Missing, Unexpected, Changed };
  Kind kind = Kind::Missing;
  /// Empty for an unexpected row.
  UnitCells expected;
  /// Empty for a missing one.
  UnitCells actual;
  /// Counted from 1, where the order matters; 0 where it does not.
  std::size_t position = 0;
};

/// Nothing if both are the same: as bags, or row by row where `is_ordered`. A missing and an unexpected row of the same
/// key are one changed row; without `key` (positions of columns) those that agree in at least half of their cells.
std::vector<RowDifference> compare_rows(const std::vector<UnitCells>& expected, const std::vector<UnitCells>& actual,
                                        const std::vector<std::size_t>& key, bool is_ordered);

}  // namespace weir::trial
