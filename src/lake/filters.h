// Conditions on records of DuckLake's metadata tables.
#pragma once

#include <cstdint>

#include "duck/sql.h"

namespace weir::lake {

/// Records of `alias` that live at the version.
duck::Sql live_at(const char* alias, std::int64_t version);

/// Views of `alias` (of ducklake_view) that show a parent's rows in a fork: they name the parent by its reserved
/// attachment, which users' SQL cannot, so that no view of theirs is taken for one.
duck::Sql is_deferral(const char* alias);

}  // namespace weir::lake
