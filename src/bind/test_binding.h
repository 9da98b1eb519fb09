// A model's tests, lineage lines and keys judged against the columns that its query returns.
#pragma once

#include <functional>

#include "bind/known_assets.h"
#include "bind/model_binding.h"

namespace weir::bind {

/// What a declaration of the header names that is not there.
/// Errors: W2130 a column, W2131 a value, W2132 a predicate, W6011 a key. Warnings: W2111, W2112, W2113.
/// `connection` is asked for when a predicate or value must be judged by the engine.
duck::Outcome<void> bind_declarations(ModelBinding& binding, KnownAssets& known,
                                      const std::function<duck::Connection*()>& connection);

/// Puts the sources that `column` lines declare before those that the query shows. A script has only the former.
/// Hints: W2140 the two differ, W2141 no such output.
void add_declared_lineage(ModelBinding& binding, const KnownAssets& known);

}  // namespace weir::bind
