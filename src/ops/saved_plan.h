// A plan as a file: what `weir plan -o` and `--json` write, docs/formats/plan.md. It holds what the plan was made from,
// so that whoever executes it can tell that the world is still the same.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>

#include "ops/plan.h"

namespace weir::ops {

nlohmann::ordered_json json_of(const PlanReport& report);
/// For a pull request: a summary, a table of what changes with reasons.
std::string markdown_of(const PlanReport& report);

struct SavedPlan {
  PlanRequest request;
  std::string created;
  PlanBasis basis;
  /// Fingerprint of each planned model, by path; empty for one that is gone.
  std::map<std::string, std::string> fingerprints;
};

/// Errors: W9010 no such file, W5501 it is no plan, W5502 one of another version.
Result<SavedPlan> read_plan(const std::string& file);

/// Compares the world with the one that the plan was made from.
/// Errors, all at once: W5503 files, W5504 the environment, W5505 tables that the plan reads or writes.
Result<void> expect_unmoved(Workspace& workspace, const SavedPlan& saved);

}  // namespace weir::ops
