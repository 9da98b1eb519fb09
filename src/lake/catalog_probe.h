// Looks at a catalog database without DuckLake: whether a lake is there at all, and which format it has.
#pragma once

#include <string>

#include "base/result.h"
#include "project/config.h"

namespace weir::lake {

/// The only lake format of the pinned DuckLake.
inline constexpr std::string_view kLakeFormat = "1.0";

struct CatalogProbe {
  enum class Kind { Absent, Lake, NotALake, Unreachable } kind = Kind::Absent;
  /// The lake's format, when it is one.
  std::string format;
  /// Why it is not reachable.
  std::string reason;
};

CatalogProbe probe_catalog(const LakeConfig& lake);

/// True if there is something to attach. For SQLite a look at the file, for PostgreSQL a question to the server.
/// Errors: W6001 the server does not answer, or refuses.
Result<bool> is_present(const LakeConfig& lake);

}  // namespace weir::lake
