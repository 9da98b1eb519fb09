// The columns by which a history tells its versions apart.
#pragma once

#include <functional>
#include <string_view>
#include <utility>
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
  /// deletes=mark: true in the version that says that the key is gone. Empty otherwise.
  std::string_view deleted;
  /// valid_from=: later times at which the source reported the version again, in order; NULL if it did not. They are
  /// kept because a version that comes late may stand between two of them. Empty otherwise.
  std::string_view reported;

  /// Their names and types, in the order of the table.
  std::vector<std::pair<std::string_view, std::string_view>> columns() const;
  bool contains(std::string_view name) const;  // without case
  /// These columns for a table that may be older than the option deletes=mark, and then lacks its column.
  ValidityColumns of_table(const std::function<bool(std::string_view)>& has_column) const;
  /// The condition that a row is the open version of its key; `alias` of the table, or empty.
  duck::Sql is_open(std::string_view alias = {}) const;
  /// The condition that a row is what is true now: open, and no mark of a deleted key.
  duck::Sql is_live(std::string_view alias = {}) const;
};

/// The names that the model gives; else `valid_from`, `valid_to` and `is_current` on the managed plane, `_valid_from`
/// and `_valid_to` on the others, whose strategy is called scd. They point into `model`.
ValidityColumns validity_columns(const Model& model);

/// What deletes=mark and valid_from= keep besides, whatever the plane.
inline constexpr std::string_view kDeletedColumn = "is_deleted";
inline constexpr std::string_view kReportedColumn = "reported_at";
inline constexpr std::string_view kReportedType = "TIMESTAMP[]";

}  // namespace weir
