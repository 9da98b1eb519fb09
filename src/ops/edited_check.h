// A few files that were edited since a clean check, looked at with what they read and without the rest of the project.
#pragma once

#include "ops/seen_project.h"
#include "project/project.h"

namespace weir::ops {

/// True if nothing is to be said of the edited models, and all that others see of them is as before: so a check of the
/// whole project would find nothing either. False says nothing: the whole project has to be checked.
/// `sources`: columns of what no model makes, as the lakes have them now, the same as `seen` knows.
bool edits_are_clean(const std::string& root, const SeenProject& seen, const OpenTexts& edited,
                     const bind::KnownSchemas& sources);

}  // namespace weir::ops
