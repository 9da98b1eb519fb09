// Earlier versions of a lake: which there are, what a table was in one, and who wrote it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "duck/database.h"
#include "lake/lakes.h"
#include "project/asset.h"

namespace weir::lake {

/// Errors: W6601 the lake never had this version, W6602 it has expired.
Result<void> require_version(duck::Connection& connection, const Lake& lake, std::int64_t version);

/// The newest version that is strictly older than `time` (microseconds since the epoch, UTC). Errors: W6601 there is
/// none, W6602 it has expired or may have.
Result<std::int64_t> version_before(duck::Connection& connection, const Lake& lake, std::int64_t micros);

/// The newest version whose commit record names the run and the asset. Errors: W6605 none does.
Result<std::int64_t> version_of_run(duck::Connection& connection, const Lake& lake, const std::string& run,
                                    const Asset& asset);

/// A table as it was in one version.
struct PastTable {
  TableState state;
  /// The version that made it; a table that was made anew since is another one.
  std::int64_t made = 0;
};
/// Errors: W6603 there was no table of this name, or a view.
Result<PastTable> table_at(duck::Connection& connection, const Lake& lake, const Asset& asset, std::int64_t version);

/// The newest version in (`after`, `until`] that changed the rows or columns of the table with this id and carries no
/// commit record of weir; nothing if there is none.
Result<std::optional<std::int64_t>> foreign_change(duck::Connection& connection, const Lake& lake,
                                                   std::int64_t table_id, std::int64_t after, std::int64_t until);

/// Versions in (`after`, `until`] whose commit record names the asset, as output or as input, newest first, at most
/// `limit`; with their records alone.
Result<std::vector<VersionRecord>> commits_of(duck::Connection& connection, const Lake& lake, const Asset& asset,
                                              std::int64_t after, std::int64_t until, std::size_t limit);

}  // namespace weir::lake
