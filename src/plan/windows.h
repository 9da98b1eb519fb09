// Which windows of a model a run builds, by what the ledger holds (docs/decisions/windows.md).
#pragma once

#include "calendar/windows.h"
#include "plan/plan.h"

namespace weir::plan {

/// What the ledger vouches for of one model's windows.
struct Coverage {
  /// Windows that were published by this definition and that the table still holds.
  calendar::Windows written;
  /// Those that need not be computed again: they were over, and their lookback too, when they were, and nothing failed
  /// since.
  calendar::Windows settled;
  /// Those that the table holds as an earlier definition wrote them.
  calendar::Windows outdated;
  /// Those whose last computation failed; what was written before stays.
  calendar::Windows failed;
  /// The slices behind it, the one that was written last first.
  std::vector<const state::SliceRecord*> records;
};

/// Requires: a model of windows with a target.
Result<Coverage> coverage_of(const Model& model, const std::string& fingerprint, const World& world);

/// The windows that are over at `at` and that nothing was written for since the first one that was: gaps. Before the
/// first build, none.
Result<calendar::Windows> gaps_of(const Model& model, const Coverage& coverage, calendar::Instant at);

/// The steps that build the model's windows: `proto` with slice, basis and due; with an action and a reason where
/// nothing is due. One step takes all windows, unless their bounds stand in the query or `options.one_by_one`: then
/// each has its own. `range`: the windows that are asked for; null: what is due. Errors: W0155, W0157 a range that is
/// none, W8024 one that has not begun.
Result<std::vector<Step>> choose_windows(const Step& proto, const World& world, const Options& options,
                                         const SliceRange* range);

/// Why windows of one model are steps of their own, where they are.
std::string reason_for_single_windows(const Model& model);

}  // namespace weir::plan
