// weir graph: models, sources and the edges between them.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/drawing.h"
#include "cli/output.h"
#include "ops/graph.h"

namespace weir::cli {
namespace {

std::string because(const ops::GraphEdge& edge) {
  std::string words;
  for (const auto& [is_it, word] :
       {std::pair{edge.reads, "reads"}, {edge.is_on, "on"}, {edge.is_tested, "test"}, {edge.is_after, "after"}})
    if (is_it) words += (words.empty() ? "" : ", ") + std::string(word);
  if (edge.is_muted) words += ", muted";
  return words;
}

Drawing drawing_of(const ops::GraphReport& report) {
  Drawing drawing;
  for (const ops::GraphNode& node : report.nodes) {
    Drawing::Box box{node.id, node.id, {}, Drawing::Box::Shape::Plain};
    if (node.kind == ops::GraphNode::Kind::Source) box.shape = Drawing::Box::Shape::Source;
    if (node.kind == ops::GraphNode::Kind::File) {
      box.shape = Drawing::Box::Shape::File;
      box.label = node.id.substr(std::string_view("file:").size());
    }
    if (node.model != nullptr) {
      const auto slash = node.id.rfind('/');
      if (slash != std::string::npos) {
        box.group = node.id.substr(0, slash);
        box.label = node.id.substr(slash + 1);
      }
    }
    drawing.boxes.push_back(std::move(box));
  }
  for (const ops::GraphEdge& edge : report.edges) {
    // A plain read needs no word.
    const std::string words = because(edge);
    drawing.arrows.push_back({edge.from, edge.to, words == "reads" ? "" : words, edge.is_muted || !edge.reads});
  }
  return drawing;
}

void print_text(const ops::GraphReport& report, Streams& streams) {
  for (const ops::GraphNode& node : report.nodes) {
    if (node.model == nullptr) continue;
    streams.out << paint(streams, Color::Bold, node.id)
                << (node.model->target ? "  " + paint(streams, Color::Dim, node.model->target->uri()) : "") << "\n";
    for (const ops::GraphEdge& edge : report.edges)
      if (edge.to == node.id)
        streams.out << fmt::format("  ← {}  {}{}\n", edge.from == edge.to ? "itself" : edge.from, because(edge),
                                   edge.starts ? ", starts it" : "");
  }
}

}  // namespace

Exit graph_command(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  std::vector<std::string> select = args.list("selector");
  for (const std::string& more : args.list("select")) select.push_back(more);
  const auto report = ops::project_graph(*workspace, select, args.list("exclude"));
  if (!report) return refuse(report.error(), workspace->loaded(), streams);
  const std::string format = args.flag("json") ? "json" : args.text("format", "text");
  if (format == "json") {
    streams.out << to_json(*report).dump(2) << "\n";
  } else if (format == "dot") {
    streams.out << to_dot(drawing_of(*report));
  } else if (format == "mermaid") {
    streams.out << to_mermaid(drawing_of(*report));
  } else if (format == "svg") {
    const auto svg = to_svg(drawing_of(*report));
    if (!svg) return refuse(svg.error(), nullptr, streams);
    streams.out << *svg;
  } else if (format == "text") {
    print_text(*report, streams);
  } else {
    streams.err << "error: there is no format " << format << "\nhint: text, json, dot, mermaid or svg\n";
    return Exit::Misuse;
  }
  return Exit::Done;
}

}  // namespace weir::cli
