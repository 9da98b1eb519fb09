#include "cascade/subscribers.h"

#include <algorithm>

namespace weir::cascade {
namespace {

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

bool has_rows(const Model& model) { return model.plane != Plane::View && model.plane != Plane::Ephemeral; }

std::int64_t seconds(const std::string& duration) { return calendar::parse_duration(duration).value_or(0); }

void add(std::vector<Feed>& feeds, Feed feed) {
  const auto known = std::find_if(feeds.begin(), feeds.end(), [&](const Feed& one) { return one.from == feed.from; });
  if (known == feeds.end()) {
    feeds.push_back(std::move(feed));
  } else {
    known->debounce = std::max(known->debounce, feed.debounce);
  }
}

bool is_read_edge(const Model& model, const Model& producer, const Asset& asset) {
  const bool is_muted = model.mute_all || std::find(model.muted.begin(), model.muted.end(), asset) != model.muted.end();
  return producer.is_pipeline && model.is_pipeline && !is_muted && folder_of(producer.path) == folder_of(model.path);
}

bool joins_by_partition(const Graph& graph, const Subscriber& subscriber) {
  const calendar::Partitioning* first = nullptr;
  for (const Feed& feed : subscriber.feeds) {
    if (!feed.is_partitioned) continue;
    const calendar::Partitioning& one = *graph.models()[graph.index_of(feed.from)].partitioning;
    if (first == nullptr) first = &one;
    if (one.kind != first->kind || one.tz != first->tz || one.format != first->format) return false;
  }
  return first != nullptr;
}

bool would_start_itself(const Graph& graph, const Model& model) {
  const auto is_own = [&](const Asset& asset) {
    const Model* producer = graph.producer(asset);
    return producer != nullptr && producer->path == model.path;
  };
  for (const Trigger& trigger : model.triggers)
    if (trigger.asset && is_own(*trigger.asset)) return true;
  // What a manual script writes stands among its references too.
  if (model.plane == Plane::Manual) return false;
  return std::any_of(model.references.begin(), model.references.end(), [&](const Reference& reference) {
    return is_own(reference.asset) && is_read_edge(model, model, reference.asset);
  });
}

/// Feeds by model, with those of views in place of the views.
class Feeds {
 public:
  explicit Feeds(const Graph& graph) : graph_(graph) {
    // Producers come first, so a view's own feeds are known.
    for (const Model& model : graph.models()) {
      std::vector<Feed> all;
      for (Feed& feed : feeds_of(graph, model)) {
        const Model* producer = feed.is_made ? &graph.models()[graph.index_of(feed.from)] : nullptr;
        if (producer == nullptr || has_rows(*producer)) {
          add(all, std::move(feed));
          continue;
        }
        for (Feed through : by_model_[feed.from]) {
          through.debounce = std::max(through.debounce, feed.debounce);
          add(all, std::move(through));
        }
      }
      by_model_[model.path] = std::move(all);
    }
  }
  std::vector<Feed> take(const std::string& path) { return std::move(by_model_[path]); }

 private:
  const Graph& graph_;
  std::map<std::string, std::vector<Feed>> by_model_;
};

}  // namespace

std::vector<Feed> feeds_of(const Graph& graph, const Model& model) {
  std::vector<Feed> feeds;
  const std::int64_t debounce = seconds(model.debounce);
  for (const Trigger& trigger : model.triggers) {
    if (!trigger.asset) continue;
    const Model* producer = graph.producer(*trigger.asset);
    if (producer != nullptr && producer->path == model.path) continue;
    const std::int64_t own = seconds(trigger.debounce);
    add(feeds, {.from = producer == nullptr ? trigger.asset->uri() : producer->path,
                .is_made = producer != nullptr,
                .is_partitioned = producer != nullptr && producer->partitioning.has_value(),
                .debounce = own > 0 ? own : debounce});
  }
  const std::size_t explicit_ones = feeds.size();
  for (const Reference& reference : model.references) {
    const Model* producer = graph.producer(reference.asset);
    if (producer == nullptr || producer->path == model.path || !is_read_edge(model, *producer, reference.asset))
      continue;
    // `on` says more of the same input: its own debounce counts.
    const auto end = feeds.begin() + static_cast<std::ptrdiff_t>(explicit_ones);
    if (std::any_of(feeds.begin(), end, [&](const Feed& one) { return one.from == producer->path; })) continue;
    add(feeds, {.from = producer->path, .is_partitioned = producer->partitioning.has_value(), .debounce = debounce});
  }
  return feeds;
}

Edges edges_of(const Graph& graph) {
  Edges edges;
  Feeds feeds(graph);
  for (const Model& model : graph.models()) {
    if (model.partitioning) edges.partitionings.emplace(model.path, *model.partitioning);
    if (!has_rows(model)) continue;
    Subscriber one{.path = model.path,
                   .partitioning = model.partitioning,
                   .joins = model.trigger_all,
                   .feeds = feeds.take(model.path),
                   .retries = model.retry_count,
                   .retry_delay = seconds(model.retry_delay)};
    one.feeds_itself = would_start_itself(graph, model);
    if (one.feeds.empty() && !one.feeds_itself) continue;
    one.joins_by_partition = one.joins && !one.partitioning && joins_by_partition(graph, one);
    edges.subscribers.push_back(std::move(one));
  }
  return edges;
}

}  // namespace weir::cascade
