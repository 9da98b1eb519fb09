// `weir backfill` and `weir restate`: which slices are meant, and what is to be said before they are built. The run
// itself is one of ops/run.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ops/run.h"

namespace weir::ops {

struct BackfillRequest {
  /// Options, arguments and `--at` of the run.
  RunRequest run;
  std::string model;
  std::optional<std::string> from;
  std::optional<std::string> to;
  /// Of a dynamic kind, or single partitions of time.
  std::vector<std::string> partitions;
  /// A query whose one column holds them.
  std::optional<std::string> from_query;
  bool all = false;
  bool outdated = false;
  bool stale = false;
  bool downstream = false;
};

/// The run that is meant. Errors: W8025 no slices are named, or in two ways; an unknown model; those of the query, a
/// NULL in its result, more columns than one.
Result<RunRequest> run_of(Workspace& workspace, const BackfillRequest& request);

/// How the slices of one model are built.
struct Route {
  std::string model;
  std::size_t slices = 0;
  enum class Way { OneQuery, SideBySide, OneByOne, Windows } way = Way::OneQuery;
  /// Why not in a better way; empty for the best.
  std::string why;
};
std::string_view name_of(Route::Way way);
/// Of each model that the plan builds slices of.
Result<std::vector<Route>> routes_of(Workspace& workspace, const DryRun& dry);
/// "sales: 90 partitions by one query", and why not.
std::string text_of(const Route& route);

/// How many slices are to be built: each window counts, and a whole table as one.
Result<std::size_t> slices_of(const DryRun& dry);

/// What somebody should agree to before it is run; empty: nothing.
Result<std::vector<std::string>> concerns_of(const DryRun& dry);

}  // namespace weir::ops
