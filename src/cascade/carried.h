// The partition that a cascade carries from run to run, and the slice that it means for a subscriber.
#pragma once

#include <optional>
#include <string>

#include "calendar/partition.h"

namespace weir::cascade {

/// What a run hands on to those that it starts. Fixed when the first run of the cascade resolved it.
struct Carried {
  /// The partition that was written, of this kind; nothing where no run of the chain was partitioned.
  std::optional<calendar::Partitioning> of;
  /// Its identity; without `of` the value that the user gave (`--partition`), or nothing.
  std::string value;
  /// The instant that stands for now, for subscribers that no partition reaches.
  calendar::Instant at;
};

/// The slice of a subscriber, or why it has none.
struct SliceChoice {
  /// "" for a subscriber without partitions.
  std::string slice;
  /// In words; empty if there is a slice.
  std::string skipped;
};

/// Same kind and zone: as it is. Coarser: the bucket that contains it. Otherwise, and outside of the subscriber's start
/// and end: none. Without a partition to carry, the one that the user gave or that the instant falls into.
SliceChoice slice_for(const std::optional<calendar::Partitioning>& subscriber, const Carried& carried);

}  // namespace weir::cascade
