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
  /// Models that get a file with `--upload`: the event that they wait for is there.
  std::set<std::string> fed = {};
  /// Answers `state:modified` and `state:failed`: paths of models, perhaps none. Asked only where a selector names one.
  std::function<Result<std::set<std::string>>(const std::string& state)> in_state = {};
};

/// What `--from` and `--to` came to: paths of models.
struct PathBetween {
  std::string start;
  std::vector<std::string> ends;
  /// Of the ends those that do not lie downstream of the start.
  std::vector<std::string> dropped_ends;
  /// Models met on the way that an event with input runs: neither run nor passed.
  std::vector<std::string> barriers;
};

/// Paths of the selected models. `warnings` receives ends that do not lie downstream of the start, `path` what `--from`
/// and `--to` came to where one of them is given. Models that `on kafka` and the like run are barriers between them,
/// unless one is the start or is fed.
/// Errors: W2010 a name that no model has (with the nearest), W2011 a short name that several have (lists them), W2013
/// `--to` alone where what is selected has several roots, or none that runs without an event.
Result<std::set<std::string>> select(const Graph& graph, const Selection& selection, Diagnostics& warnings,
                                     std::optional<PathBetween>* path = nullptr);

/// Of selectors, the models that they call by their own name, with what lies above or below it or not: paths.
std::set<std::string> models_called(const Graph& graph, const std::vector<std::string>& selectors);

}  // namespace weir
