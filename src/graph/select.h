// Which models a command means: names, globs, tags, folders, what lies above and below them.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace weir {

struct Selection {
  /// A union; within one entry a comma intersects. Each part: [N]+ NAME +[N], where NAME is a path, a unique short
  /// name, a glob over paths
  /// (`*` stays within a folder, `**` does not), `tag:x`, `folder:x`, or `state:x`. Empty: everything.
  std::vector<std::string> select;
  std::vector<std::string> exclude;
  /// Start here; what lies above is left out.
  std::optional<std::string> from;
  /// End at these models or assets.
  std::vector<std::string> to;
  /// Answers `state:modified` and `state:failed`: paths of models, perhaps none. Asked only where a selector names one.
  std::function<Result<std::set<std::string>>(const std::string& state)> in_state = {};
};

/// Paths of the selected models. `warnings` receives ends that do not lie downstream of the start.
/// Errors: W2010 a name that no model has (with the nearest), W2011 a short name that several have (lists them), W2013
/// several roots lead to `--to`.
Result<std::set<std::string>> select(const Graph& graph, const Selection& selection, Diagnostics& warnings);

}  // namespace weir
