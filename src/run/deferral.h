// Deferrals: in its forks an environment has a view on every table that it has not built itself, in the nearest
// environment that it comes from and that has one. weir's own readers go to those tables directly; the views are for
// manual scripts, and for other programs that open a fork.
#pragma once

#include <atomic>
#include <string>

#include "lake/lakes.h"
#include "project/config.h"

namespace weir::run {

/// Brings the views in line with what the parents have now, in one commit a fork; none where nothing changed. Nothing
/// to do in prod. Errors: W6020 a view cannot be made, and those of a lake.
Result<void> refresh_deferrals(const Config& config, lake::Lakes& lakes, const std::string& environment,
                               const std::atomic<bool>& stop);

}  // namespace weir::run
