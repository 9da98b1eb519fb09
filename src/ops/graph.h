// The graph of a project as people look at it: `weir graph`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ops/workspace.h"

namespace weir::ops {

struct GraphNode {
  enum class Kind { Model, Source, File };
  Kind kind = Kind::Model;
  /// A model's path, an asset's URI, or "file:…".
  std::string id;
  /// Of models.
  const Model* model = nullptr;
};

struct GraphEdge {
  /// Producer and reader, by GraphNode::id.
  std::string from;
  std::string to;
  bool reads = false;
  /// A test of the reader looks at it.
  bool is_tested = false;
  /// The reader's header says `on`.
  bool is_on = false;
  /// The reader's header says that it runs after.
  bool is_after = false;
  /// `mute` keeps a write of `from` from starting `to`; the order of runs is not affected.
  bool is_muted = false;
  /// A write of `from` starts `to`.
  bool starts = false;
};

struct GraphReport {
  /// Producers first; sources stand before their first reader.
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;
};
/// The selected models, what they read that no model makes, and the edges between them. A selector may be a folder.
/// A broken model reads
/// nothing. Errors: an unknown selector.
Result<GraphReport> project_graph(Workspace& workspace, const std::vector<std::string>& select,
                                  const std::vector<std::string>& exclude);

/// The shape of docs/formats/graph.md.
nlohmann::ordered_json to_json(const GraphReport& report);

}  // namespace weir::ops
