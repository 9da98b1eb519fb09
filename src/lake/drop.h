// Taking the fork of a lake away, catalog and data.
#pragma once

#include <atomic>

#include "base/result.h"
#include "project/config.h"

namespace weir::lake {

/// Removes the catalog first, so that nobody finds a lake without its data, then the data. What carries another name
/// than a fork's is never touched. Removing what is gone is no error. Returns what is left for somebody else.
/// Errors: W5424 somebody holds it, W6005 a file cannot be removed, W6001 the server refuses.
Result<Diagnostics> drop_fork(const LakeConfig& fork, const std::atomic<bool>& stop);

}  // namespace weir::lake
