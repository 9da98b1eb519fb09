// When models are due, and how old their results are.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "calendar/partition.h"
#include "ops/workspace.h"

namespace weir::ops {

/// A model with a schedule, as of one instant.
struct Due {
  std::string model;
  std::string cron;  // as declared; empty: `every`
  std::string every;
  std::string tz;  // of cron
  /// Its last due time up to then, and the next one.
  std::optional<calendar::Instant> last;
  std::optional<calendar::Instant> next;
  /// When the last run began that succeeded with it, among those up to then; nothing if none did.
  std::optional<calendar::Instant> ran;
  /// No run began since the last due time and succeeded.
  bool is_due = false;
};

struct DueReport {
  calendar::Instant at;
  std::vector<Due> models;
};

/// The scheduled models of the project at an instant (nothing: now), in the graph's order. Reads no table of a lake.
/// Errors: W0157 a text that is no instant.
Result<DueReport> due(Workspace& workspace, const std::optional<std::string>& at);

/// A model that says how old its result may become.
struct Freshness {
  std::string model;
  std::chrono::seconds window{0};
  /// When its last successful step ended: with a new result, or an unchanged one.
  std::optional<calendar::Instant> succeeded;
  std::optional<std::chrono::seconds> age;
  /// green (within the window), amber (older), never.
  std::string state;
};

struct FreshnessReport {
  calendar::Instant at;
  std::vector<Freshness> models;
};

/// Of the model that produces `asset`, or of all that declare `freshness`. Errors: W2012 no model produces it.
Result<FreshnessReport> freshness(Workspace& workspace, const std::optional<std::string>& asset);

}  // namespace weir::ops
