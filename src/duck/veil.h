// Failures whose words may hold values of rows, told without them.
#pragma once

#include "duck/database.h"

namespace weir::duck {

/// The same without the engine's words where those may hold values of rows: what it says of a conversion, a range, a
/// constraint or an input that a function refused. The place stays.
Failure without_values(Failure failure);

}  // namespace weir::duck
