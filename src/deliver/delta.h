// What a delivery changes in its target, worked out against the rows that the target holds: by key, never by row
// number, because PostgreSQL's row numbers cannot be kept and mean nothing across partitions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "publish/strategy.h"

namespace weir::deliver {

/// New values of rows that stay: for each key (k0, k1, …) the values v0, v1, … of `columns`.
struct Change {
  duck::TableName rows;
  std::vector<std::string> columns;
};

struct Delta {
  /// Counts, after-image, columns, warnings and scratch tables as for a table of a lake; its statements are empty.
  publish::Effect effect;
  /// The table is made first, with the effect's columns.
  bool makes_table = false;
  std::vector<lake::ColumnState> added;
  std::vector<lake::ColumnState> widened;
  /// The key's columns as the target spells them.
  std::vector<std::string> key;
  /// Changes concern only rows where this column is NULL (the open versions of a history).
  std::optional<std::string> open_column;

  // In this order:
  bool empties = false;
  /// Keys (k0, k1, …) whose rows go.
  std::optional<duck::TableName> gone;
  std::vector<Change> changes;
  /// A SELECT of `fresh_columns`: rows that come.
  std::optional<duck::Sql> fresh;
  std::vector<std::string> fresh_columns;
};

/// Works out the delta on a clean connection, in a transaction of its own: its scratch tables are seen by others
/// afterwards. Requires: no transaction is open, `request.attached`, and nobody else writes to the target meanwhile.
/// `kept_as` gives the type in which the target keeps a column of weir's own. Errors: as publish::prepare.
Result<Delta> work_out(duck::Connection& clean, const publish::PrepareRequest& request,
                       const std::function<std::string(std::string_view)>& kept_as);

}  // namespace weir::deliver
