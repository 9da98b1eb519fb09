// Whether a partitioned model says what its partition is: one whose query is the same for all of them writes every row
// into each.
#pragma once

#include "base/diagnostic.h"
#include "project/model.h"

namespace weir {

/// Requires: references were resolved. W0229 the query never uses the partition (a warning), W0214 a token that is
/// nearly one and stays as it is.
Diagnostics judge_partition_use(const Model& model);

}  // namespace weir
