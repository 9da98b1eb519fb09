// Who runs when something was written: the edges of cascades, from the models.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace weir::cascade {

/// What starts a model when it arrives.
struct Feed {
  /// Path of the model that makes it; the URI of an asset that no model makes.
  std::string from;
  bool is_made = true;
  /// Its writes are of single partitions.
  bool is_partitioned = false;
  /// Seconds to wait for a newer arrival; 0: none.
  std::int64_t debounce = 0;
};

/// A model that writes of others start.
struct Subscriber {
  std::string path;
  std::optional<calendar::Partitioning> partitioning;
  /// `trigger all`.
  bool joins = false;
  std::vector<Feed> feeds;
  /// Its own write would start it.
  bool feeds_itself = false;
  int retries = 0;
  std::int64_t retry_delay = 0;  // seconds
  /// Of a join without partitions of its own: its inputs' partitions are of one kind, so that each is joined by itself.
  bool joins_by_partition = false;
};

/// What a write of starts the model: reads between `pipeline` models of one folder less what `mute` names, and `on`
/// from anywhere. Not the model itself; not through views.
std::vector<Feed> feeds_of(const Graph& graph, const Model& model);

struct Edges {
  /// All models that something starts, producers first. A view or an ephemeral model holds no rows: what is written
  /// into the tables that it reads is written for its readers.
  std::vector<Subscriber> subscribers;
  /// Of all models that have partitions.
  std::map<std::string, calendar::Partitioning> partitionings;
};
Edges edges_of(const Graph& graph);

}  // namespace weir::cascade
