// The columns of a lake's tables, asked of the catalog's own database in one query and without DuckDB: opening a lake
// for it would cost more than checking a thousand unchanged models.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "duck/database.h"
#include "project/asset.h"
#include "project/config.h"

namespace weir::lake {

struct CatalogColumns {
  /// By Asset::key(); tables that live now, all columns in physical order.
  std::map<std::string, std::vector<duck::Column>> tables;
  /// Views that live now: their columns are known to DuckDB alone.
  std::set<std::string> views;
};

/// Of the wanted assets of one lake. A lake that no run has made yet has none.
/// Errors: W6001 the catalog cannot be reached, W6003 it cannot be read.
Result<CatalogColumns> catalog_columns(const LakeConfig& lake, const std::vector<Asset>& wanted);

}  // namespace weir::lake
