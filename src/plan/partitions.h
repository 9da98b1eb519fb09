// Which partitions of a model a backfill builds: those of a range or of a list, by what the ledger holds of them.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace weir::plan {

/// What a slice counts as by the ledger and the lake. Whether its inputs changed is another question.
enum class Standing { Missing, Failed, Outdated, Materialized };

/// `record`: what the ledger says of the slice, if anything. Requires: a model with a target.
Standing standing_of(const state::SliceRecord* record, const Model& model, const std::string& fingerprint,
                     const World& world);

struct ChosenPartition {
  std::string value;
  /// Why it is built, in words.
  std::string why;
};

struct PartitionChoice {
  /// In the order of the calendar, or of the list.
  std::vector<ChosenPartition> chosen;
  /// Partitions of the range that are left as they are.
  std::size_t kept = 0;
  /// Partitions of the range that have not begun.
  std::size_t to_come = 0;
};

/// Requires: a partitioned model with a target.
/// Errors: W0153, W0154, W0155 a range that is none, W0159 an empty value, W8024 nothing that could be built lies in
/// it, W8025 a range of dynamic partitions.
Result<PartitionChoice> choose_partitions(const Model& model, const std::string& fingerprint, const World& world,
                                          const SliceRange& range, calendar::Instant at);

/// The partition of `reader` that holds partition `value` of `producer`: the same one where both have the same kind,
/// the bucket around it where the reader's kind is coarser. `why` says why there is none.
struct Counterpart {
  std::string value;
  std::string why;
};
Counterpart counterpart_of(const calendar::Partitioning& reader, const calendar::Partitioning& producer,
                           const std::string& value);

/// Partitions of a reader that follow from windows.
struct Counterparts {
  std::vector<std::string> values;
  /// Why there are none.
  std::string why;
};
/// Those that overlap the windows `slice` of the model `producer`. Requires: the producer is written by windows.
Result<Counterparts> counterparts_of(const calendar::Partitioning& reader, const Model& producer,
                                     const std::string& slice);

/// The slices of one model that a plan builds.
struct SliceGroup {
  const Step* first = nullptr;
  std::vector<std::string> slices;
  /// One after another.
  bool in_order = false;
  /// Why they are not computed by one query, whatever that is; empty where its text decides.
  std::string why_not_at_once;
};
/// In the plan's order.
std::vector<SliceGroup> slice_groups(const Plan& plan);

/// True if a statement of the model reads what the model writes.
bool reads_itself(const Model& model);

/// Why the slices of a model must be built one after another, in their order; empty where they may be built side by
/// side.
std::string reason_for_order(const Model& model);

}  // namespace weir::plan
