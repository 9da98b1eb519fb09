// weir lineage, weir impact: where columns come from and what a change of one reaches.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/commands.h"
#include "cli/drawing.h"
#include "cli/output.h"
#include "io/clock.h"
#include "ops/lineage.h"
#include "ops/lineage_json.h"
#include "ops/list.h"
#include "state/store.h"

namespace weir::cli {
namespace {

std::string shown(const bind::AssetColumn& column) { return column.asset + "." + column.column; }

std::string words_of(const ops::LineageStep& step) {
  std::string words(name_of(step.kind));
  if (step.is_declared) words = "declared";
  if (step.is_overruled) words += ", overruled by the declared sources";
  return words;
}

/// One direction as a tree below one column. A column met before is not unfolded again.
class Tree {
 public:
  Tree(const std::vector<ops::LineageStep>& steps, bool is_up, Streams& streams) : is_up_(is_up), streams_(streams) {
    for (const ops::LineageStep& step : steps) next_[bind::key_of(is_up ? step.to : step.from)].push_back(&step);
  }

  void print(const bind::AssetColumn& root) {
    struct Open {
      const ops::LineageStep* step;
      std::size_t depth;
    };
    std::vector<Open> open;
    const auto push = [&](const bind::AssetColumn& column, std::size_t depth) {
      if (!unfolded_.insert(bind::key_of(column)).second) return false;
      const auto& steps = next_[bind::key_of(column)];
      for (auto step = steps.rbegin(); step != steps.rend(); ++step) open.push_back({*step, depth});
      return true;
    };
    push(root, 1);
    while (!open.empty()) {
      const auto [step, depth] = open.back();
      open.pop_back();
      const bind::AssetColumn& column = is_up_ ? step->from : step->to;
      const bool is_more = !next_[bind::key_of(column)].empty() && !step->is_overruled;
      const bool is_unfolded = !is_more || push(column, depth + 1);
      streams_.out << fmt::format("{}{} {}  {}{}\n", std::string(depth * 2, ' '), is_up_ ? "←" : "→", shown(column),
                                  paint(streams_, Color::Dim, words_of(*step)), is_unfolded ? "" : " (as above)");
    }
  }

 private:
  bool is_up_;
  Streams& streams_;
  std::map<std::string, std::vector<const ops::LineageStep*>> next_;
  std::set<std::string> unfolded_;
};

void print_gaps(const std::vector<ops::LineageGap>& gaps, Streams& streams) {
  if (gaps.empty()) return;
  streams.out << "not known\n";
  for (const ops::LineageGap& gap : gaps) streams.out << fmt::format("  {}: {}\n", gap.model, gap.why);
}

void print_rows(const std::vector<ops::LineageRow>& rows, Streams& streams) {
  std::vector<std::string> models;
  for (const ops::LineageRow& row : rows)
    if (std::find(models.begin(), models.end(), row.model) == models.end()) models.push_back(row.model);
  for (const std::string& model : models) {
    streams.out << "rows of " << model << "\n";
    for (const bind::RowRole role :
         {bind::RowRole::Where, bind::RowRole::Join, bind::RowRole::Group, bind::RowRole::Order})
      for (const ops::LineageRow& row : rows)
        if (row.model == model && row.role == role)
          streams.out << fmt::format("  {:<5}  {}\n", name_of(role), shown(row.from));
  }
}

void print_text(const ops::LineageReport& report, bool up, bool down, Streams& streams) {
  streams.out << report.asset << (report.model.empty() ? "" : "  " + report.model) << "\n";
  Tree above(report.up, true, streams);
  Tree below(report.down, false, streams);
  for (const ops::LineageColumn& column : report.columns) {
    streams.out << paint(streams, Color::Bold, column.name) << (column.type.empty() ? "" : "  " + column.type) << "\n";
    if (up) above.print({report.asset, column.name});
    if (down) below.print({report.asset, column.name});
  }
  print_rows(report.rows, streams);
  print_gaps(report.gaps, streams);
}

Drawing drawing_of(const ops::LineageReport& report) {
  Drawing drawing;
  std::set<std::string> known;
  const auto add = [&](const bind::AssetColumn& column) {
    const std::string id = shown(column);
    if (known.insert(id).second) drawing.boxes.push_back({id, column.column, column.asset, Drawing::Box::Shape::Plain});
    return id;
  };
  for (const ops::LineageColumn& column : report.columns) add({report.asset, column.name});
  std::set<std::pair<std::string, std::string>> drawn;
  for (const auto* steps : {&report.up, &report.down})
    for (const ops::LineageStep& step : *steps) {
      const std::string from = add(step.from);
      const std::string to = add(step.to);
      if (drawn.emplace(from, to).second)
        drawing.arrows.push_back(
            {from, to, step.kind == bind::ValueKind::Copy ? "" : words_of(step), step.is_overruled});
    }
  for (const ops::LineageRow& row : report.rows) {
    const std::string from = add(row.from);
    const std::string rows = row.asset + " rows";
    if (known.insert(rows).second) drawing.boxes.push_back({rows, "(rows)", row.asset, Drawing::Box::Shape::Source});
    drawing.arrows.push_back({from, rows, std::string(name_of(row.role)), true});
  }
  return drawing;
}

std::string text_of(const ops::ImpactReport::Rows& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.columns.size(); ++i)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name_of(rows.roles[i]), shown(rows.columns[i]));
  return rows.through.empty() ? text : "through " + rows.through;
}

void print_text(const ops::ImpactReport& report, Streams& streams) {
  streams.out << report.asset << "." << report.column << "\n";
  if (report.values.empty() && report.rows.empty() && report.gaps.empty())
    streams.out << "nothing in the project reads it\n";
  if (!report.values.empty()) streams.out << "values\n";
  for (const auto& value : report.values)
    streams.out << fmt::format("  {}  {}, {}\n", shown(value.column), name_of(value.kind),
                               counted(static_cast<std::int64_t>(value.distance), "step"));
  if (!report.rows.empty()) streams.out << "rows\n";
  for (const auto& rows : report.rows) streams.out << fmt::format("  {}  {}\n", rows.model, text_of(rows));
  if (!report.mentions.empty()) streams.out << "mentioned by\n";
  for (const auto& mention : report.mentions)
    streams.out << fmt::format("  {}  {} ({})\n", mention.model, mention.what, mention.column);
  print_gaps(report.gaps, streams);
}

/// Prints in the format asked for; Misuse for one that there is not.
Exit print_lineage(const ops::LineageReport& report, const ops::LineageRequest& request, const std::string& format,
                   const std::string& project, Streams& streams) {
  if (format == "text") {
    print_text(report, request.up, request.down, streams);
  } else if (format == "json") {
    streams.out << to_json(report).dump(2) << "\n";
  } else if (format == "dot") {
    streams.out << to_dot(drawing_of(report));
  } else if (format == "mermaid") {
    streams.out << to_mermaid(drawing_of(report));
  } else if (format == "openlineage") {
    // One event a line, as OpenLineage's file transport reads them.
    for (const auto& event : to_openlineage(report, project, state::now_text(), ops::version()))
      streams.out << event.dump() << "\n";
  } else {
    streams.err << "error: there is no format " << format << "\nhint: text, json, dot, mermaid or openlineage\n";
    return Exit::Misuse;
  }
  return Exit::Done;
}

}  // namespace

Exit lineage_command(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  if (!args.text("column")) {
    streams.err << "error: weir lineage takes a model or one of its columns\nhint: `weir ls` lists the models\n";
    return Exit::Misuse;
  }
  ops::LineageRequest request{.what = *args.text("column")};
  request.down = args.flag("down");
  request.up = args.flag("up") || !request.down;
  request.offline = args.flag("offline");
  const std::string format = args.flag("json") ? "json" : args.text("format", "text");
  if (format == "openlineage") request.up = true;
  if (const auto depth = args.text("depth")) request.depth = std::stoul(*depth);
  const auto report = ops::lineage(*workspace, request);
  if (!report) return refuse(report.error(), workspace->loaded(), streams);
  const auto config = workspace->config();
  if (!config) return refuse(config.error(), nullptr, streams);
  return print_lineage(*report, request, format, (*config)->name, streams);
}

Exit impact_command(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  if (!args.text("column")) {
    streams.err << "error: weir impact takes a column: MODEL.COLUMN or URI.COLUMN\n"
                   "hint: `weir lineage MODEL` lists a model's columns\n";
    return Exit::Misuse;
  }
  const auto report = ops::impact(*workspace, *args.text("column"), args.flag("offline"));
  if (!report) return refuse(report.error(), workspace->loaded(), streams);
  if (args.flag("json"))
    streams.out << to_json(*report).dump(2) << "\n";
  else
    print_text(*report, streams);
  return Exit::Done;
}

}  // namespace weir::cli
