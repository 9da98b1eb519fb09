// `weir test --unit`: what a model's query returns for given rows, computed in memory; no lake is read or written.
#pragma once

#include <string>
#include <vector>

#include "ops/workspace.h"
#include "trial/trial.h"

namespace weir::ops {

/// Runs the unit tests of the selected models, all of them without selectors; sorted by file. A test whose file is
/// wrong is an outcome of its own, with status Error. Errors: an unknown selector.
Result<std::vector<trial::Outcome>> unit_test(Workspace& workspace, const std::vector<std::string>& select,
                                              const std::vector<std::string>& exclude);

/// What is wrong with the unit tests of a project by themselves: their files and the names of their models.
Result<Diagnostics> check_unit_tests(Workspace& workspace);

}  // namespace weir::ops
