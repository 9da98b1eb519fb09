// What the ledger shall say of the slices of a table whose rows were put back: who vouches for the rows of then.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "duck/database.h"
#include "lake/commit.h"
#include "lake/lakes.h"
#include "lake/past.h"
#include "state/store.h"

namespace weir::ops {

struct RestoredSlice {
  /// Goes into the commit record and from there into the ledger. Without definition: no run vouches for its rows.
  lake::CommittedStep step;
  /// The version that held it had no rows of this slice: it counts as missing.
  bool is_missing = false;
};

/// Slices of the asset whose record in the ledger does not hold for the rows of `version`: written since, or by
/// somebody else, or gone with a table that was made anew. All others keep their records. `now` is the table as it is,
/// `made_now` the version that made it. Errors: W6003.
Result<std::vector<RestoredSlice>> restored_slices(duck::Connection& connection, const lake::Lake& lake,
                                                   const Asset& asset, const std::vector<state::SliceRecord>& ledger,
                                                   const lake::PastTable& past, std::int64_t version,
                                                   const lake::PastTable& now);

}  // namespace weir::ops
