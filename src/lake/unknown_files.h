// Data files in a lake's folder that no version ever had, on a file system, where they can be told one by one.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "lake/lakes.h"

namespace weir::lake {

/// True where weir cannot list and remove files itself.
bool is_on_object_storage(const Lake& lake);

/// Removes, or counts, Parquet files that the catalog does not know and that were written before `before`
/// (microseconds since the epoch). Stages of the runs in `live_runs` stay. Requires: the lake's lock is held.
Result<std::int64_t> remove_unknown(duck::Connection& connection, const Lake& lake, std::int64_t before,
                                    const std::set<std::string>& live_runs, bool dry_run);

}  // namespace weir::lake
