// How much a table holds, by the records of its files: what an estimate of work is made of.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "lake/lakes.h"

namespace weir::lake {

struct TableSize {
  /// Rows in the files, deleted ones included: they are read too.
  std::int64_t rows = 0;
  std::int64_t bytes = 0;
};

/// Every table of the lake that lives now, by Asset::key(). A lake that no run has made yet has none.
/// Errors: W6003 the lake cannot be read.
Result<std::map<std::string, TableSize>> table_sizes(duck::Connection& connection, const Lake& lake);

}  // namespace weir::lake
