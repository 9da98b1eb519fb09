// `weir check`: the whole project compiled without touching data.
#pragma once

#include <atomic>
#include <set>
#include <string>
#include <vector>

#include "bind/bound.h"
#include "ops/binding.h"
#include "ops/workspace.h"

namespace weir::ops {

struct CheckRequest {
  /// Look at no lake: sources have the columns that were captured last.
  bool offline = false;
  /// bind_project gives the lineage of columns, which check itself does not need.
  bool lineage = true;
};

struct Checked {
  /// Everything there is to say about the project, sorted: parsing, shape, references, the gate, the graph, what does
  /// not bind, contracts, and sources that the lakes do not have.
  Diagnostics diagnostics;
  /// Models without faults of their own that parsing finds.
  std::size_t models = 0;
  struct Blocked {
    std::string model;
    std::string by;
    /// The test that could not be looked at; empty: the model itself.
    std::string test;
  };
  /// Models that could not be looked at because of another's fault.
  std::vector<Blocked> blocked;
};

/// Errors: what prevents looking at all; what is wrong in the project is among the diagnostics.
Result<Checked> check(Workspace& workspace, const CheckRequest& request = {},
                      const std::atomic<bool>* cancelled = nullptr);

/// A warning for each read of a source that is in `missing` (by Asset::key()), with the nearest table of its schema.
Diagnostics warn_of_missing_sources(const Graph& graph, const Project& project, const bind::Bound& bound,
                                    const std::set<std::string>& missing);

/// The project as the engine understands it, files with errors left out. What is not in the cache is bound now.
/// `only` limits it to these models; those above them must be named too. Errors: as check; W2003 a cycle.
struct BoundGraph {
  /// The workspace's, of the models that are right themselves.
  const Graph& graph;
  bind::Bound bound;
  /// Keys of sources that the lakes do not have.
  std::set<std::string> missing_sources;
  /// What the lakes were asked for, and said; nothing offline.
  std::vector<Asset> sources = {};
  std::optional<SourceColumns> columns = {};
};
Result<BoundGraph> bind_project(Workspace& workspace, const CheckRequest& request = {},
                                const std::atomic<bool>* cancelled = nullptr,
                                const std::set<std::string>* only = nullptr);

}  // namespace weir::ops
