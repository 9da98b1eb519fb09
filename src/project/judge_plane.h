// What the SQL of a model may be where its plane makes no table of its own.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "project/model.h"

namespace weir {

/// `ephemeral` holds the keys of relations that ephemeral models stand for. Requires: references are resolved.
/// Errors: W5410 an ephemeral model is one query; W5406 a view reads what a reader of the lake could not open; W5411 AT
/// on an ephemeral model.
Diagnostics judge_plane(const Model& model, const std::set<std::string>& ephemeral);

/// What views would read through ephemeral models. Requires: all references are resolved. Errors: W5406.
Diagnostics judge_views(const std::vector<Model>& models);

}  // namespace weir
