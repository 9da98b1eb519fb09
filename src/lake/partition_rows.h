// Rows of one partition, told by the records of its files.
#pragma once

#include <optional>
#include <string>

#include "lake/lakes.h"

namespace weir::lake {

/// Rows of a partition of weir's at a version; nothing where the records do not tell (rows kept in the catalog, merged
/// files, files that are not partitioned so, none at all). Errors: W6003 the lake cannot be read.
Result<std::optional<std::int64_t>> partition_rows(duck::Connection& connection, const Lake& lake,
                                                   const TableState& table, const std::string& partition,
                                                   std::int64_t at);

}  // namespace weir::lake
