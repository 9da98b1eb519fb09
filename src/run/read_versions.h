// The versions that the steps of a run read tables at, where those are chosen and not the newest ones: `--pin` and
// `--as-of`. What the run builds itself is read as it builds it, in both.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "lake/lakes.h"
#include "state/store.h"

namespace weir::run {

struct ReadVersions {
  /// --pin: name of a lake in lower case -> version.
  std::map<std::string, std::int64_t> lakes;
  /// --as-of: the run whose inputs are read again, and for each of its models, by path and asset key, the version.
  std::string as_of;
  std::map<std::pair<std::string, std::string>, std::int64_t> tables;

  bool are_chosen() const { return !lakes.empty() || !as_of.empty(); }
};

/// The newest version of each lake.
Result<ReadVersions> newest_versions(lake::Lakes& lakes);

/// What a run recorded. Errors: W7007 no such run, W6601, W6602 a version that is gone from its lake.
Result<ReadVersions> versions_of_run(state::Store& store, lake::Lakes& lakes, const std::string& run);

/// What one step of a run read.
struct RecordedInputs {
  std::string model;
  std::string partition;
  std::string status;
  struct Table {
    Asset asset;
    std::int64_t version = 0;
  };
  std::vector<Table> tables;
};
/// In the order in which the steps began. Errors: W7007.
Result<std::vector<RecordedInputs>> inputs_of_run(state::Store& store, const std::string& run);

}  // namespace weir::run
