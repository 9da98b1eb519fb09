// What every command that writes slices holds while it works: its row in the state store, and the slices that it
// claimed.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "lake/lakes.h"
#include "project/project.h"
#include "run/report.h"
#include "state/store.h"

namespace weir::run {

/// The run's row in the state store: open while the run lives, closed however it ends.
class OpenRun {
 public:
  OpenRun(state::Store& store, const std::atomic<bool>& stop, state::RunRecord row)
      : store_(store), stop_(stop), row_(std::move(row)) {}
  OpenRun(const OpenRun&) = delete;
  OpenRun& operator=(const OpenRun&) = delete;
  /// A run that could not go to its end. What cannot be written here the next command recovers.
  ~OpenRun();
  Result<void> open() { return store_.put_run(row_); }
  /// `verified`: models that it found fresh.
  Result<void> close(std::string status, std::string result_json, std::vector<std::string> verified = {});

 private:
  state::Store& store_;
  const std::atomic<bool>& stop_;
  state::RunRecord row_;
};

/// What a row holds in place of a result while a run is open that puts rows back instead of building them: if it dies,
/// its slices are what they were, and none has failed.
inline constexpr const char* kLeavesSlices = R"({"leaves_slices":true})";

struct ClaimRequest {
  std::vector<state::Lease> wanted;
  /// Fail when another run holds a slice, instead of waiting for it.
  bool no_wait = false;
};
struct ClaimedSlices {
  std::vector<state::Lease> leases;
  bool waited = false;
};
/// Claims all slices; waits, with a message, while another live run holds one. What a dead one left is recovered first.
/// Errors: W6101 with `no_wait`, W7010 stopped while waiting.
Result<ClaimedSlices> claim_slices(const Project& project, lake::Lakes& lakes, state::Store& store,
                                   const ClaimRequest& request, Listener& listener, const std::atomic<bool>& stop);

}  // namespace weir::run
