// Tables of an environment's own that start from the rows of another: copy on write, new definitions that keep what
// accumulated under the old one, and in a fork tables that grow.
#pragma once

#include <atomic>
#include <set>
#include <string>
#include <vector>

#include "env/placement.h"
#include "lake/lakes.h"
#include "state/store.h"

namespace weir::run {

/// One table to start from the rows of another.
struct Seed {
  const Model* model = nullptr;
  Asset from;
  Asset to;
  /// Of the commit that copied it.
  std::int64_t version = 0;
};

/// What the models that are built start from.
std::vector<Seed> seeds_of(const env::Placed& placed, const std::set<std::string>& built);

/// Copies the rows of each seed into the table that its model is to write, with columns, partitioning, order and
/// comments as they are, and in a fork with what the ledger knows of the slices; in one commit a lake. A table that is
/// there stays as it is, and one whose seed is not starts empty. Returns the seeds that were copied. Errors: W6020 the
/// copy failed, and those of a lake.
Result<std::vector<Seed>> seed_tables(lake::Lakes& lakes, state::Store& store, const std::vector<Seed>& seeds,
                                      const std::string& run, const std::string& environment,
                                      const std::atomic<bool>& stop);

/// Removes copies from forks that nothing was built upon, so that the parents' tables can be read again.
Result<void> remove_unused(lake::Lakes& lakes, const std::vector<Seed>& seeds, const std::string& run,
                           const std::string& environment, const std::atomic<bool>& stop);

}  // namespace weir::run
