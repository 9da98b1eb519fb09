// What checking says of one bound model besides what binding does.
#pragma once

#include "bind/bound.h"

namespace weir::ops {

/// Columns that no lake could hold; nothing of a model whose columns are not known.
Diagnostics judge_stored_columns(const Model& model, const bind::BoundModel& bound);

/// A model that reads what it writes is allowed, and easily written by mistake.
Diagnostics note_self_reads(const Graph& graph, const Model& model);

/// Files are found by names and patterns: what is there may change beside the project.
bool reads_files(const Model& model);

}  // namespace weir::ops
