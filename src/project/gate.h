// What user SQL may reach, judged on the parsed tree. The bound plan is judged again at run time (build/gate.h), so that views and macros
// hide nothing; this gate speaks early and at the user's line.
#pragma once

#include "base/diagnostic.h"
#include "project/config.h"
#include "project/model.h"

namespace weir {

/// Errors: W0302 a function that acts on lakes, W0303 a table function that is not on the list, W0304 an ATTACH that is not allowed,
/// W0305 a name that weir keeps for itself, W0308 query() or query_table() whose text is not constant.
Diagnostics judge_gate(const Model& model, const Config& config);

}  // namespace weir
