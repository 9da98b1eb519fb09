// The columns by which a history tells its versions apart.
#pragma once

#include <string_view>
#include <vector>

#include "duck/sql.h"
#include "project/model.h"

namespace weir {

struct ValidityColumns {
  std::string_view from;
  /// NULL while the version is open.
  std::string_view to;
  /// Empty where `to` alone says whether a version is open.
  std::string_view current;

  /// Their names and types, in the order of the table.
  std::vector<std::pair<std::string_view, std::string_view>> columns() const;
  bool contains(std::string_view name) const;  // without case
  /// The condition that a row is the open version of its key; `alias` of the table, or empty.
  duck::Sql is_open(std::string_view alias = {}) const;
};

/// `valid_from`, `valid_to` and `is_current` on the managed plane; `_valid_from` and `_valid_to` on the others, whose
/// strategy is called scd.
ValidityColumns validity_columns(Plane plane);

}  // namespace weir
