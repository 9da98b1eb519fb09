// Selectors as every command takes them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/select.h"
#include "ops/workspace.h"

namespace weir::ops {

/// A selection whose `state:` parts ask the state store: `modified` models have another definition than the one that is
/// deployed, or none is; `failed` ones have a slice whose last write failed. Requires: the workspace outlives it.
Selection selection_of(Workspace& workspace, std::vector<std::string> select, std::vector<std::string> exclude);

/// What a selection means where some files of the project have errors.
struct Chosen {
  /// Models that can be run.
  std::set<std::string> sound;
  /// Selected, and held up: by path.
  std::map<std::string, Fault> blocked;
  /// Errors of the files that hold them up.
  Diagnostics errors;
  /// Where `--from` or `--to` was given.
  std::optional<PathBetween> path = {};
};
/// Selects among all models, the broken ones too, so that none is lost without a word. Errors: what select()
/// says; errors that belong to no model, as of a file that cannot be named.
Result<Chosen> choose(Workspace& workspace, const Selection& selection, Diagnostics& warnings);
/// Where all that was chosen is held up: the errors, and W2005 for each model that is right itself.
Result<void> refuse_if_all_blocked(const Chosen& chosen, const Project& project);

}  // namespace weir::ops
