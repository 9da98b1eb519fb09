// What the windows of a model count as, in stretches.
#pragma once

#include <vector>

#include "ops/data.h"
#include "ops/slice_judge.h"

namespace weir::ops {

/// The windows between `from` and `to` (both included), or from the first one that was written on; those of one status
/// that lie side by side as one, with the newer of their records. Errors: those of the judge, W0155, W0157.
Result<std::vector<SliceStatus>> window_status(const Model& model, const std::string& fingerprint,
                                               const plan::World& world, const std::optional<std::string>& from,
                                               const std::optional<std::string>& to, const ClaimedSlices& claimed,
                                               SliceJudge& judge);

}  // namespace weir::ops
