// What the definitions were made of that an environment shows: kept with its generations, so that an earlier one can be
// compared and promoted when the files are others.
#pragma once

#include <vector>

#include "env/environment.h"
#include "run/session.h"

namespace weir::run {

/// Remembers the texts of those of `shown` that the environment did not show before. Errors: W70xx.
Result<void> remember(Session& session, const env::Environment& environment,
                      const std::vector<state::ShownModel>& shown);

}  // namespace weir::run
