// `weir doctor`: is everything there that a run needs?
#pragma once

#include <string>
#include <vector>

#include "ops/workspace.h"

namespace weir::ops {

struct Finding {
  std::string what;
  bool is_good = true;
  std::string found;
  /// What to do about it; empty when good.
  std::string advice;
};

/// Versions, extensions, lakes, state, clock, free disk, locks held, leftovers of dead runs. Never fails: what can't be
/// looked at is a finding.
std::vector<Finding> doctor(Workspace& workspace);

}  // namespace weir::ops
