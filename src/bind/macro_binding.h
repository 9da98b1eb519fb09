// Blame for what the engine refuses within a macro: it tells the place in the statement that made the macro, as if it
// were one of the query.
#pragma once

#include "bind/model_binding.h"

namespace weir::bind {

/// If what was refused in the model's own statement lies in the body of a macro that it calls, of a library or of its
/// own: says so there. `connection` is as connection_for makes it.
bool blame_macro(duck::Connection& connection, ModelBinding& binding);

}  // namespace weir::bind
