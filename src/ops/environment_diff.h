// `weir env diff`: what two environments have of each model.
#pragma once

#include <string>
#include <vector>

#include "ops/changes.h"

namespace weir::ops {

struct EnvironmentDiff {
  /// What one of them has of a model.
  struct Side {
    /// The environment that the definition comes from; empty: it has none.
    std::string environment;
    std::string fingerprint;
    /// Where its rows lie; empty: nowhere.
    std::string rows;
  };
  struct Model {
    std::string path;
    /// From the first environment's definition to the second one's.
    plan::ChangeKind kind = plan::ChangeKind::Unchanged;
    plan::ChangeCategory category = plan::ChangeCategory::None;
    std::string reason;
    Side before;
    Side after;

    bool has_other_definition() const { return kind != plan::ChangeKind::Unchanged; }
    bool has_other_rows() const { return before.rows != after.rows; }
  };
  /// Those that differ, in the order of the second one's graph; then those that only the first one has.
  std::vector<Model> models;
  std::int64_t same = 0;
  Diagnostics warnings;
};

/// Errors: W5401, W2230 one of them has no definitions, W5507 their text is not known, and as changes_in().
Result<EnvironmentDiff> diff_environments(const std::string& folder, const std::string& before,
                                          const std::string& after);

}  // namespace weir::ops
