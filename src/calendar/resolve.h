// Which partition a run writes: decided once, before anything is computed, and fixed for the run and all that it
// triggers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "calendar/partition.h"

namespace weir::calendar {

/// What the caller of a run said, strongest first.
struct PartitionRequest {
  /// `--partition V`: checked against the kind, otherwise taken as it is.
  std::optional<std::string> value;
  /// `--at TIME`, or the time at which a schedule fired.
  std::optional<Instant> at;
  /// The clock, when nothing else says.
  Instant now;
  /// The payload that a dynamic kind takes its value from: a JSON text.
  std::optional<std::string> payload;
};

struct PartitionChoice {
  /// The identity; empty when `skipped` says why there is none.
  std::string value;
  /// Its place in time; none for dynamic.
  std::optional<Slot> slot;
  /// Why the run has nothing to write ("before start=2026-06-01"); empty otherwise.
  std::string skipped;
};

/// Requires: `partitioning` is valid.
/// Errors: W0153, W0154 the value is no partition; W0158 a key path of a form that is not supported; W0159 a dynamic
/// kind without a value, an empty value, or a payload whose leaf is missing or is no text, number or truth value.
Result<PartitionChoice> choose_partition(const Partitioning& partitioning, const PartitionRequest& request);

/// The value at `path` ($.a.b, the leading `$` and `.` optional) of a JSON text. Errors: W0158, W0159.
Result<std::string> value_in_payload(std::string_view path, std::string_view payload);

}  // namespace weir::calendar
