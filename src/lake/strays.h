// Files of a write that never became a version.
#pragma once

#include <cstdint>

#include "lake/lakes.h"

namespace weir::lake {

/// Removes what DuckLake wrote for `table` since `since` (seconds since the epoch) and no version knows: in the table's
/// folder, and, where its name is not plain, in folders of random names that no table or schema of the catalog has, as
/// each new table of such a name gets one. Requires: the lake's lock is held. Returns how many files went.
Result<std::int64_t> remove_strays(const Lake& lake, duck::Connection& connection, const TableState& table,
                                   std::int64_t since);

}  // namespace weir::lake
