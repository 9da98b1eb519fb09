// Why a query does not bind: which of its names are wrong, all of them where possible, and whose fault each is.
#pragma once

#include "bind/known_assets.h"
#include "bind/model_binding.h"

namespace weir::bind {

/// Explains `binding.refusal` and adds what it finds to `binding.found`: contract warnings for columns that an asset
/// lacks, errors for what is wrong in the query itself. `connection` has run the setup before the refused statement.
/// Errors: the connection failed as a whole.
duck::Outcome<void> diagnose(duck::Connection& connection, ModelBinding& binding, KnownAssets& known);

}  // namespace weir::bind
