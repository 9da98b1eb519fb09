// Steps that a run leaves out because files have errors: one wrong file stops its own model and what needs it, and the
// report says so, while all others run.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "run/report.h"

namespace weir::run {

/// Before anything has happened.
StepReport first_report(const Model& model);

/// Of a model whose own file has these errors; never empty.
StepReport refused_step(const Model& model, Diagnostics errors);
/// Of a model that cannot be run without `by`: a model or a file.
StepReport blocked_step(const Model& model, const std::string& by);

/// Takes models with errors, and those that need them, out of the selection. Returns what to report of them.
std::vector<StepReport> hold_up(const Graph& graph, const std::map<std::string, Diagnostics>& errors,
                                std::set<std::string>& selected);

}  // namespace weir::run
