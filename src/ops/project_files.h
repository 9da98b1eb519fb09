// Making files for the user: a new project, a new data test.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ops/workspace.h"

namespace weir::ops {

/// Writes weir.yaml, .gitignore, a first model and a custom-test folder into `folder`; never overwrites. Returns the
/// files made. Errors: W8012 a file is in the way, W9011 not writable.
Result<std::vector<std::string>> init(const std::string& folder);

/// Writes a custom data test for a model and returns its path with the header line to paste into the model.
/// Errors: W2010 no such model, W8012 the file exists.
struct NewTest {
  std::string file;
  std::string line;
};
Result<NewTest> init_data_test(Workspace& workspace, const std::string& name, const std::string& model);

}  // namespace weir::ops
