// Queries of tests, bound over the table that their model makes, as the model itself is bound over its inputs.
#pragma once

#include <functional>

#include "bind/known_assets.h"
#include "bind/model_binding.h"

namespace weir::bind {

/// Binds the queries of a model's tests and adds what is wrong with them to `binding.found`, at its place in the test's
/// file or in the header. A test that reads what is not known is noted in `binding.bound.blocked_tests`.
/// Errors: as those of a model, W2130 a column that the model does not return, W2132 a `where`; warnings for a test
/// that does not block. `engine` gives the stand-ins: shared, or (true) an instance of the model's own.
/// Requires: the model is bound.
Result<void> bind_test_queries(ModelBinding& binding, KnownAssets& known,
                               const std::function<Result<StandIns*>(bool own)>& engine);

}  // namespace weir::bind
