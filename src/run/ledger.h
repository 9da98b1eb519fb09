// The ledger's row of a slice, and the step of a commit record that says the same: each can be made from the other.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "lake/commit.h"
#include "state/store.h"

namespace weir::run {

/// What a commit did for a slice, for the ledger. `version` is the commit's.
state::SliceRecord slice_of(const lake::CommitRecord& commit, const lake::CommittedStep& step, std::int64_t version,
                            std::string time);

/// What the ledger knows of a slice, for a commit that brings the same rows; without strategy and counts.
lake::CommittedStep step_of(const state::SliceRecord& record);

/// `time`, or a moment after the newest row of the asset where the clock went back since. Texts of state::now_text().
std::string later_than(const std::map<std::pair<std::string, std::string>, state::SliceRecord>& slices,
                       const std::string& asset, std::string time);

}  // namespace weir::run
