// Restoring: what it takes to bring a table's rows back to those of an earlier version, as a change like any other.
// Only rows that differ are written, so untouched files stay and readers of the change feed see the real difference.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "duck/database.h"
#include "lake/past.h"
#include "project/model.h"
#include "publish/strategy.h"

namespace weir::publish {

struct RestoreRequest {
  const Model& model;
  const lake::Lake& lake;
  /// The table at the version that `clean`'s transaction reads.
  lake::TableState target;
  lake::PastTable past;
  /// The lake version whose rows come back.
  std::int64_t version = 0;
  /// Names the delta tables: unique in the instance.
  std::string prefix;
};

struct Restoration {
  /// Its images are the rows as they will be. Counts: inserted, deleted, and updated where a key pairs rows.
  Effect effect;
  /// Columns that the table has and that version had not: they stay, NULL.
  std::vector<std::string> added_since;
  /// Columns that it had and the table has no more: their values do not come back.
  std::vector<std::string> gone_since;
  bool is_retyped = false;
};

/// Works out the difference on a clean connection, inside a read transaction that sees `request.target`. Errors: W6607
/// values that a column no longer takes, W6612 the table is partitioned and was not, W6017 NULL for a NOT NULL column,
/// W6020 the engine failed.
Result<Restoration> prepare_restore(duck::Connection& clean, const RestoreRequest& request);

}  // namespace weir::publish
