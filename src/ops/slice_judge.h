// What a recorded slice counts as, judged against the definition and the inputs as they are now.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "calendar/windows.h"
#include "graph/graph.h"
#include "lake/touched.h"
#include "ops/slice_inputs.h"
#include "plan/plan.h"

namespace weir::ops {

struct Judgement {
  /// As SliceStatus::status.
  std::string status;
  /// Why it is stale, in words.
  std::string reason;
  /// Of a slice of windows that is stale: those that are; nothing if all.
  std::optional<calendar::Windows> stale;
};

/// (asset key, slice) of slices that a run claimed -> "running" while it lives, "interrupted" once it died without
/// giving them back.
using ClaimedSlices = std::map<std::pair<std::string, std::string>, std::string>;

/// Looks at each changed input once. Threads: one at a time.
class SliceJudge {
 public:
  struct Known {
    const Graph& graph;
    const plan::World& world;
    const std::map<std::string, std::string>& fingerprints;
    const ClaimedSlices& claimed;
  };
  SliceJudge(lake::Lakes& lakes, Known known) : lakes_(lakes), known_(known) {}

  /// Requires: `record` is of the model's target. Errors: W6003 a lake cannot be read, W4001.
  Result<Judgement> judge(const Model& model, const state::SliceRecord& record);

 private:
  struct Reading {
    SliceInputs inputs;
    /// By key of an input that changed.
    std::map<std::string, lake::Touched> touched;
  };
  /// The stretches of wall time, or of real time where the input's column has a zone, in microseconds.
  using Span64 = std::pair<std::int64_t, std::int64_t>;

  Result<Reading*> reading_of(const Model& model);
  Result<const lake::Touched*> touched_in(Reading& reading, const Model& model, const state::InputRecord& input,
                                          const std::string& changing);
  /// True if an input's changes after `version` reach the slice; `stale` gathers the windows that they reach.
  Result<bool> reaches(const Model& model, const state::SliceRecord& record, const state::InputRecord& input,
                       const std::string& changing, calendar::Windows& stale);

  lake::Lakes& lakes_;
  Known known_;
  std::map<std::string, Reading> readings_;
};

}  // namespace weir::ops
