// Queries put into the queries that read them: ephemeral models always, views where no table holds their rows.
#pragma once

#include <string>

#include "project/model.h"
#include "project/render.h"

namespace weir::run {

/// The result query of `model` in parentheses, its references as `where` says.
std::string inlined(const Model& model, const WhereToRead& where);

}  // namespace weir::run
