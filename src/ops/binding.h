// What binding is told of the world outside the project: the columns that lakes and databases hold, and those that were
// captured after publishes.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "bind/binder.h"
#include "ops/workspace.h"

namespace weir::ops {

struct SourceColumns {
  bind::KnownSchemas schemas;
  /// Keys of those that are not there.
  std::set<std::string> missing;
};

/// The columns of `assets` now: tables of a lake by one question to its catalog, views and tables of databases by the
/// engine. Errors: a lake that cannot be read.
Result<SourceColumns> columns_in_lakes(Workspace& workspace, const std::vector<Asset>& assets);

/// The last captured columns of every asset; nothing if there is no state yet. Errors: W70xx.
Result<bind::KnownSchemas> captured_columns(Workspace& workspace);

}  // namespace weir::ops
