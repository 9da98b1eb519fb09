// The tables of the state store, as numbered steps that are never edited once released.
#pragma once

#include "base/result.h"

namespace weir::state {

class Session;

/// The number of the last step this program knows.
int newest_schema_version();

/// Brings the store to the newest version, in one transaction; two processes may do so at once.
/// Errors: W7002 the store was made by a newer weir.
Result<void> migrate(Session& session);

}  // namespace weir::state
