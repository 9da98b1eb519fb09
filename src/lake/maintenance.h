// Care of a lake: DuckLake's own functions, each under weir's rules. Merging and rewriting make a version that changes
// no row; expiring and removing files take away what nothing needs. Every function wants the lake's lock held, and each
// is a transaction of its own: removing files cannot be rolled back, so it never shares one (docs/measurements.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "duck/database.h"
#include "lake/commit.h"
#include "lake/lakes.h"

namespace weir::lake {

/// Microseconds since the epoch, by the clock that the lake's versions and files carry.
using Micros = std::int64_t;

enum class Compaction {
  /// Joins small files of one partition into larger ones. Earlier versions read the same rows from the new file.
  Merge,
  /// Writes files of which a fifth or more is deleted anew, without those rows.
  Rewrite
};

struct Compacted {
  std::int64_t tables = 0;
  std::int64_t files_before = 0;
  std::int64_t files_after = 0;
  /// The version that it made, if there was anything to do.
  std::optional<std::int64_t> version;
};
/// The commit carries `record`, which names no step. Errors: W6620 DuckLake failed; W6007, W6008 those of the commit.
Result<Compacted> compact(duck::Connection& writer, const Lake& lake, Compaction compaction, const CommitRecord& record,
                          const std::string& author);

/// What compact() would find, by the files' records. Errors: W6003.
Result<Compacted> compactable(duck::Connection& connection, const Lake& lake, Compaction compaction);

/// Versions that must stay whatever their age, each with the reason in words.
using NeededVersions = std::map<std::int64_t, std::string>;

/// Of the lake itself: the newest version, and for every table and view the newest one that changed it, and that
/// somebody else did, because from these follows what a step that read it must know. Errors: W6003.
Result<NeededVersions> versions_that_tell(duck::Connection& connection, const Lake& lake);

/// The version that was the newest at `time`, and all later ones, for whoever began to read then. Errors: W6003.
Result<NeededVersions> versions_since(duck::Connection& connection, const Lake& lake, Micros time,
                                      const std::string& reason);

struct Expiry {
  std::vector<std::int64_t> expired;
  /// Versions older than the border that stay, counted by reason.
  std::map<std::string, std::int64_t> kept;
};
/// Versions older than `before` that are not needed. Errors: W6003.
Result<Expiry> expirable(duck::Connection& connection, const Lake& lake, Micros before, const NeededVersions& needed);

/// Ends those versions; files that no other version has become removable. Errors: W6620.
Result<void> expire(duck::Connection& writer, const Lake& lake, const std::vector<std::int64_t>& versions);

/// Removes files that no version has since before `before`, or lists them. Errors: W6620.
Result<std::int64_t> remove_old_files(duck::Connection& connection, const Lake& lake, Micros before, bool dry_run);

/// Removes data files that no version ever had, written before `before`: left by writers that died. Never one that
/// belongs to a run of `live_runs`, whatever its age. On object storage, where files are only known by their time,
/// those runs must have begun after `before`. Errors: W6620, W6005.
Result<std::int64_t> remove_unknown_files(duck::Connection& connection, const Lake& lake, Micros before,
                                          const std::set<std::string>& live_runs, bool dry_run);

}  // namespace weir::lake
