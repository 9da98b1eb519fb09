// The macros that render a time as the identity of its partition, made first in every time-partitioned managed model.
#pragma once

#include <vector>

#include "duck/sql.h"
#include "project/model.h"

namespace weir {

/// `wm_partition(ts)` renders `ts` as given; `weir_partition(ts)` first brings a TIMESTAMPTZ to the model's zone. Both
/// take DATE and every TIMESTAMP type and refuse text. Nothing for models that are not partitioned by time, and for
/// manual scripts.
std::vector<duck::Sql> partition_macros(const Model& model);

}  // namespace weir
