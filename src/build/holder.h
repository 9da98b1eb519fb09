// What holds the rows in the end: each kind of place keeps other types.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "build/types.h"

namespace weir::build {

enum class Holder { Lake, Postgres, Sqlite, DuckDb, File };

/// "a lake", "PostgreSQL", …
std::string_view name_of(Holder holder);

/// The type in which a new column keeps values of `type`, exactly as far as the type alone can tell (values that a cast
/// alters are found when they are computed); nothing if there is none. Pure. Requires: another holder than a lake.
std::optional<Type> kept_as(Holder holder, const Type& type);

/// True where a column can take another type in place.
inline bool widens(Holder holder) { return holder != Holder::Sqlite; }

}  // namespace weir::build
