#include "cli/drawing.h"

#include <fmt/format.h>

#include <map>

#include "io/process.h"

namespace weir::cli {
namespace {

/// A string of the DOT language.
std::string quoted(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    all += c == '\n' ? ' ' : c;
  }
  return all + "\"";
}

/// Mermaid takes any text as a label if quotes and brackets of its own are written as character codes.
std::string escaped(const std::string& text) {
  std::string all;
  for (const char c : text) {
    if (c == '"')
      all += "#quot;";
    else if (c == '<')
      all += "#lt;";
    else if (c == '>')
      all += "#gt;";
    else if (c == '#')
      all += "#35;";
    else if (c == '&')
      all += "#amp;";
    else
      all += c == '\n' ? ' ' : c;
  }
  return all;
}

/// Group -> boxes, in order of appearance.
std::vector<std::pair<std::string, std::vector<const Drawing::Box*>>> groups_of(const Drawing& drawing) {
  std::vector<std::pair<std::string, std::vector<const Drawing::Box*>>> groups;
  std::map<std::string, std::size_t> known;
  for (const Drawing::Box& box : drawing.boxes) {
    const auto [at, is_new] = known.emplace(box.group, groups.size());
    if (is_new) groups.push_back({box.group, {}});
    groups[at->second].second.push_back(&box);
  }
  return groups;
}

}  // namespace

std::string to_dot(const Drawing& drawing) {
  std::string text =
      "digraph weir {\n  rankdir=LR;\n  node [shape=box, fontname=\"Helvetica\", fontsize=11];\n"
      "  edge [fontname=\"Helvetica\", fontsize=9];\n";
  int number = 0;
  for (const auto& [group, boxes] : groups_of(drawing)) {
    const std::string indent = group.empty() ? "  " : "    ";
    if (!group.empty()) text += fmt::format("  subgraph cluster_{} {{\n    label={};\n", number++, quoted(group));
    for (const Drawing::Box* box : boxes) {
      const char* style = box->shape == Drawing::Box::Shape::Source ? ", style=rounded"
                          : box->shape == Drawing::Box::Shape::File ? ", shape=note"
                                                                    : "";
      text += fmt::format("{}{} [label={}{}];\n", indent, quoted(box->id), quoted(box->label), style);
    }
    if (!group.empty()) text += "  }\n";
  }
  for (const Drawing::Arrow& arrow : drawing.arrows) {
    std::string look = arrow.label.empty() ? "" : "label=" + quoted(arrow.label);
    if (arrow.is_dashed) look += look.empty() ? "style=dashed" : ", style=dashed";
    text += fmt::format("  {} -> {}{};\n", quoted(arrow.from), quoted(arrow.to), look.empty() ? "" : " [" + look + "]");
  }
  return text + "}\n";
}

std::string to_mermaid(const Drawing& drawing) {
  std::string text = "flowchart LR\n";
  std::map<std::string, std::string> ids;
  int group_number = 0;
  for (const auto& [group, boxes] : groups_of(drawing)) {
    if (!group.empty()) text += fmt::format("  subgraph g{}[\"{}\"]\n", group_number++, escaped(group));
    for (const Drawing::Box* box : boxes) {
      const std::string id = "n" + std::to_string(ids.size());
      ids.emplace(box->id, id);
      const bool is_plain = box->shape == Drawing::Box::Shape::Plain;
      text += fmt::format("  {}{}{}\"{}\"{}\n", group.empty() ? "" : "  ", id, is_plain ? "[" : "(",
                          escaped(box->label), is_plain ? "]" : ")");
    }
    if (!group.empty()) text += "  end\n";
  }
  for (const Drawing::Arrow& arrow : drawing.arrows)
    text += fmt::format("  {} {}{} {}\n", ids[arrow.from], arrow.is_dashed ? "-.->" : "-->",
                        arrow.label.empty() ? "" : "|\"" + escaped(arrow.label) + "\"|", ids[arrow.to]);
  return text;
}

Result<std::string> to_svg(const Drawing& drawing) {
  const auto program = io::find_program("dot");
  if (!program)
    return fail(Diagnostic{.code = Code::W8020,
                           .message = "--format svg needs graphviz, and its program `dot` is not on the PATH",
                           .hint = "install graphviz, or take --format dot or mermaid"});
  const auto done = io::run_program({*program, "-Tsvg"}, to_dot(drawing));
  if (!done || done->code != 0 || done->out.empty())
    return fail(Diagnostic{.code = Code::W8020,
                           .message = "graphviz failed: " + (done ? done->err : std::string("it does not start")),
                           .hint = "take --format dot and look at it with another program"});
  return done->out;
}

}  // namespace weir::cli
