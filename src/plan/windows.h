// Which windows of a model a run builds, by what the ledger holds (docs/decisions/windows.md).
#pragma once

#include "calendar/windows.h"
#include "plan/plan.h"

namespace weir::plan {

/// What the ledger vouches for of one model's windows.
struct Coverage {
  /// Windows that were published by this definition and that the table still holds.
  calendar::Windows written;
  /// Those that need not be computed again: they were over, and their lookback too, when they were.
  calendar::Windows settled;
  /// The slices behind it, the one that was written last first.
  std::vector<const state::SliceRecord*> records;
};

/// Requires: a model of windows with a target.
Result<Coverage> coverage_of(const Model& model, const std::string& fingerprint, const World& world);

/// The windows that are over at `at` and that nothing was written for since the first one that was: gaps. Before the
/// first build, none.
Result<calendar::Windows> gaps_of(const Model& model, const Coverage& coverage, calendar::Instant at);

/// Fills slice, basis and due of the step, and its action and reason where nothing is due. `range`: the windows that
/// are asked for; null: what is due. Errors: W0155, W0157 a range that is none.
Result<void> choose_windows(Step& step, const World& world, const Options& options, const SliceRange* range);

}  // namespace weir::plan
