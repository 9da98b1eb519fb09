// Where the rows of each owned model lie in one environment. Placing rewrites the graph: an owned model's target
// becomes its physical table, and who reads it reads that table, so that everything after it (planning, building,
// publishing) knows tables only and no environments.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "env/environment.h"
#include "graph/graph.h"

namespace weir::env {

struct Placement {
  std::string fingerprint;
  /// The physical table or view. Nothing for an ephemeral model, which is put into its readers.
  std::optional<Asset> data;
  Asset view;
  /// False: another environment's rows, which this one may show but not write.
  bool may_write = true;
  /// Rows that a copy of this environment's own starts from.
  std::optional<Asset> seed;
  /// The environment shows this definition already.
  bool is_shown = false;
  /// The rows that it shows are those of this definition too, though that changed.
  bool is_reused = false;
};

struct Placed {
  std::shared_ptr<const Graph> graph;
  /// Owned and ephemeral models by path.
  std::map<std::string, Placement> owned;
};

struct PlaceRequest {
  const std::map<std::string, std::string>& fingerprints;
  const Environment& environment;
  /// Models that this command may build. Others are read as the environment shows them.
  const std::set<std::string>& selected;
  /// Models whose changed definition provably leaves their rows as they are: their table is kept.
  std::set<std::string> reused = {};
  /// Models whose rows accumulate keep, under a changed definition, the rows that they have.
  bool forward_only = false;
  /// Models that are to be built although another environment owns the table of their definition: they get one of
  /// their own.
  std::set<std::string> own = {};
};

bool is_owned(const Model& model);
/// A graph without owned and ephemeral models comes back as it is, and must outlive the result. Errors: none of its
/// own; what linking finds cannot be found anew.
Result<Placed> place(const Graph& graph, const PlaceRequest& request);

}  // namespace weir::env
