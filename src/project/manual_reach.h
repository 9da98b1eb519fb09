// What a manual script reaches, read from its text: needed where it must stay within one environment.
#pragma once

#include <vector>

#include "base/diagnostic.h"
#include "project/asset.h"
#include "project/config.h"
#include "project/model.h"

namespace weir {

/// Judges what a script does that could not be kept within an environment other than prod.
/// Errors: as judge_gate(), which other models pass anyway; W5423 it writes a file.
Diagnostics judge_manual_reach(const Model& model, const Config& config);

/// A table or view of a lake that a script names as what it writes.
struct WrittenTable {
  Asset asset;
  /// By CREATE; otherwise it must be there.
  bool is_made = false;
  /// Only where it is not there.
  bool is_kept = false;
};

/// Each once, in the order of the script. Names that are made at run time are not among them.
std::vector<WrittenTable> written_tables(const Model& model, const Config& config);

}  // namespace weir
