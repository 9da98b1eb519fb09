// Observing: what the lakes, the files and the ledger hold now, at one version per lake.
#pragma once

#include <set>
#include <string>

#include "env/environment.h"
#include "graph/graph.h"
#include "lake/lakes.h"
#include "plan/plan.h"
#include "project/project.h"
#include "state/store.h"

namespace weir::run {

/// Looks at what the selected models read and write. Writes nothing.
Result<plan::World> observe(const Project& project, const Graph& graph, const std::set<std::string>& selected,
                            lake::Lakes& lakes, state::Store& store, const env::Environment& environment);

}  // namespace weir::run
