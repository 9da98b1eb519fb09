// Tables of an environment's own that start from the rows of another: copy on write, and new definitions that keep what
// accumulated under the old one.
#pragma once

#include <atomic>
#include <map>
#include <set>
#include <string>

#include "env/placement.h"
#include "lake/lakes.h"
#include "project/config.h"

namespace weir::run {

/// Copies the rows of each seed into the table that `models` are to write, in one commit, where that table is not there
/// yet: nobody reads it so far. Errors: W6020 the copy failed, and those of a lake.
Result<void> seed_tables(const Config& config, lake::Lakes& lakes,
                         const std::map<std::string, env::Placement>& placements, const std::set<std::string>& models,
                         const std::string& run, const std::string& environment, const std::atomic<bool>& stop);

}  // namespace weir::run
