#include "ops/graph.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cascade/subscribers.h"
#include "graph/select.h"
#include "ops/list.h"

namespace weir::ops {
namespace {

/// Collects the edges into one model, in order of appearance.
class Reader {
 public:
  Reader(const Graph& graph, const Model& model)
      : graph_(graph), model_(model), feeds_(cascade::feeds_of(graph, model)) {
    for (const Reference& reference : model.references) at(reference.asset).reads = true;
    for (const Test& test : model.tests)
      if (test.reference) at(*test.reference).is_tested = true;
    for (const TestQuery& query : model.test_queries)
      for (const Reference& reference : query.references) at(reference.asset).is_tested = true;
    for (const Trigger& trigger : model.triggers)
      if (trigger.asset) at(*trigger.asset).is_on = true;
    for (const std::string& path : model.depends_on) at(path).is_after = true;
    for (const std::string& file : model.files.value_or(std::vector<std::string>{})) {
      at("file:" + file).reads = true;
      files_.insert("file:" + file);
    }
    for (GraphEdge& edge : edges_) decide_cascade(edge);
  }

  std::vector<GraphEdge> take() { return std::move(edges_); }
  bool is_file(const std::string& id) const { return files_.contains(id); }

 private:
  GraphEdge& at(const Asset& asset) {
    const Model* producer = graph_.producer(asset);
    GraphEdge& edge = at(producer == nullptr ? asset.uri() : producer->path);
    if (model_.mute_all || std::find(model_.muted.begin(), model_.muted.end(), asset) != model_.muted.end())
      edge.is_muted = true;
    return edge;
  }
  GraphEdge& at(const std::string& from) {
    const auto found =
        std::find_if(edges_.begin(), edges_.end(), [&from](const auto& one) { return one.from == from; });
    if (found != edges_.end()) return *found;
    edges_.push_back({.from = from, .to = model_.path});
    return edges_.back();
  }

  // `mute` speaks of reads only.
  void decide_cascade(GraphEdge& edge) const {
    edge.is_muted = edge.is_muted && edge.reads && !edge.is_on;
    edge.starts = std::any_of(feeds_.begin(), feeds_.end(),
                              [&edge](const cascade::Feed& feed) { return feed.from == edge.from; });
  }

  const Graph& graph_;
  const Model& model_;
  const std::vector<cascade::Feed> feeds_;
  std::vector<GraphEdge> edges_;
  std::set<std::string> files_;
};

/// A folder's name stands for the models in it, unless a model has the name.
std::string as_selector(const Graph& graph, const std::string& text) {
  const bool is_folder = std::any_of(graph.models().begin(), graph.models().end(),
                                     [&text](const Model& one) { return one.path.starts_with(text + "/"); });
  const bool is_model = std::any_of(graph.models().begin(), graph.models().end(), [&text](const Model& one) {
    return one.path == text || one.path.ends_with("/" + text);
  });
  return is_folder && !is_model ? "folder:" + text : text;
}

}  // namespace

Result<GraphReport> project_graph(Workspace& workspace, const std::vector<std::string>& select,
                                  const std::vector<std::string>& exclude) {
  WEIR_TRY(const Graph* graph, workspace.whole_graph());
  std::vector<std::string> selectors;
  for (const std::string& one : select) {
    std::string text = one;
    while (text.size() > 1 && text.ends_with('/')) text.pop_back();
    selectors.push_back(as_selector(*graph, text));
  }
  WEIR_TRY(const std::vector<const Model*> models, list(workspace, selectors, exclude));
  std::set<std::string> selected;
  for (const Model* model : models) selected.insert(model->path);
  GraphReport report;
  std::set<std::string> known;
  for (const Model* model : models) {
    Reader reader(*graph, *model);
    for (GraphEdge& edge : reader.take()) {
      const bool is_producer = std::any_of(graph->models().begin(), graph->models().end(),
                                           [&edge](const Model& one) { return one.path == edge.from; });
      if (is_producer && !selected.contains(edge.from)) continue;
      if (!is_producer && known.insert(edge.from).second)
        report.nodes.push_back(
            {reader.is_file(edge.from) ? GraphNode::Kind::File : GraphNode::Kind::Source, edge.from, nullptr});
      report.edges.push_back(std::move(edge));
    }
    report.nodes.push_back({GraphNode::Kind::Model, model->path, model});
  }
  return report;
}

nlohmann::ordered_json to_json(const GraphReport& report) {
  nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
  for (const GraphNode& node : report.nodes) {
    nlohmann::ordered_json one{{"id", node.id}};
    if (node.model == nullptr) {
      one["kind"] = node.kind == GraphNode::Kind::File ? "file" : "source";
    } else {
      one["kind"] = "model";
      one["file"] = node.model->source->path;
      one["plane"] = name_of(node.model->plane);
      if (node.model->target) one["asset"] = node.model->target->uri();
      one["tags"] = node.model->tags;
    }
    nodes.push_back(std::move(one));
  }
  nlohmann::ordered_json edges = nlohmann::ordered_json::array();
  for (const GraphEdge& edge : report.edges) {
    nlohmann::ordered_json because = nlohmann::ordered_json::array();
    for (const auto& [is_it, word] :
         {std::pair{edge.reads, "reads"}, {edge.is_on, "on"}, {edge.is_tested, "test"}, {edge.is_after, "after"}})
      if (is_it) because.push_back(word);
    edges.push_back({{"from", edge.from},
                     {"to", edge.to},
                     {"because", because},
                     {"starts", edge.starts},
                     {"muted", edge.is_muted},
                     {"self", edge.from == edge.to}});
  }
  return {{"nodes", nodes}, {"edges", edges}};
}

}  // namespace weir::ops
