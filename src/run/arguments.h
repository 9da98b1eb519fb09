// Arguments of a run: checked against their declared types before anything runs.
#pragma once

#include <map>
#include <set>
#include <string>

#include "graph/graph.h"
#include "lake/lakes.h"
#include "project/config.h"

namespace weir::run {

using ArgumentValues = std::map<std::string, std::map<std::string, std::string>>;

/// Checks every value that a selected model would get by casting it to the argument's type, and turns `s3object` values
/// into paths of the configured storages. `notes` receives a warning for each argument that has neither value nor
/// default and is NULL therefore. Errors: W8005 a value that the type does not take (names argument, value and type).
Result<ArgumentValues> check_arguments(const Graph& graph, const std::set<std::string>& selected, const Config& config,
                                       lake::Lakes& lakes, ArgumentValues values, Diagnostics& notes);

}  // namespace weir::run
