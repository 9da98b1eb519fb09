// `weir test`
#pragma once

#include "ops/workspace.h"
#include "run/test_tables.h"

namespace weir::ops {

struct Tested {
  /// Models that errors in files hold up are among them, and are not tested.
  std::vector<run::TestedTable> tables;
  /// The errors of those files.
  Diagnostics errors;
};
/// Runs the data tests of the selected models' published tables. Errors: an unknown selector.
Result<Tested> test(Workspace& workspace, const std::vector<std::string>& select,
                    const std::vector<std::string>& exclude, const std::optional<std::string>& partition);

/// Outcomes of the data tests of the selected models, by runs and by test(), newest first. `partition`: of it alone.
/// Errors: an unknown selector.
Result<std::vector<state::TestRecord>> test_history(Workspace& workspace, const std::vector<std::string>& select,
                                                    const std::vector<std::string>& exclude,
                                                    const std::optional<std::string>& partition, std::size_t limit);

}  // namespace weir::ops
