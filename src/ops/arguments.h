// `--arg` and `--upload`: the values of a run's arguments as they were typed.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "project/project.h"
#include "run/arguments.h"

namespace weir::ops {

/// Values by model (empty: for all of them) and argument. `arguments` are "name=value" for all models or
/// "model:name=value" for one. `uploads` give a file to an argument of type s3object: "model:name=file", or
/// "model=file" where the model has one such argument; a file is an absolute path or an s3:// URI, and an argument of
/// the same name comes before it. Errors: W8003 neither of these, no such argument, no such file; and as find_model().
Result<run::ArgumentValues> arguments_of(const Project& project, const std::vector<std::string>& arguments,
                                         const std::vector<std::string>& uploads);

/// Paths of the models that `uploads` give a file to. Errors: as above.
Result<std::set<std::string>> fed_by(const Project& project, const std::vector<std::string>& uploads);

}  // namespace weir::ops
