// DuckDB's own functions, as completion offers them.
#pragma once

#include "duck/database.h"
#include "lsp/snapshot.h"

namespace weir::lsp {

/// Those that queries may call (parse/functions.h says which); null if the engine does not tell.
std::shared_ptr<const KnownFunctions> functions_of(duck::Connection& connection);

}  // namespace weir::lsp
