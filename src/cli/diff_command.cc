// `weir diff`: how two assets, two versions of one, or two environments differ.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/output.h"
#include "ops/diff.h"

namespace weir::cli {
namespace {

using nlohmann::ordered_json;

/// Names joined by commas, some perhaps in double quotes: `id,"order id"`.
std::vector<std::string> names_in(const std::vector<std::string>& texts) {
  std::vector<std::string> names;
  for (const std::string& text : texts) {
    std::string name;
    bool quoted = false;
    for (std::size_t i = 0; i <= text.size(); ++i) {
      if (i == text.size() || (text[i] == ',' && !quoted)) {
        if (!name.empty()) names.push_back(name);
        name.clear();
      } else if (text[i] == '"') {
        // Doubled within quotes it is part of the name.
        const bool is_doubled = quoted && i + 1 < text.size() && text[i + 1] == '"';
        if (is_doubled) name += text[i++];
        if (!is_doubled) quoted = !quoted;
      } else if (quoted || text[i] != ' ') {
        name += text[i];
      }
    }
  }
  return names;
}

std::string label_of(const ops::DiffReport::Side& side) {
  return side.version ? fmt::format("{}@{}", side.asset, *side.version) : side.asset;
}

std::string_view name_of(ops::DiffReport::ColumnDelta::Kind kind) {
  switch (kind) {
    case ops::DiffReport::ColumnDelta::Kind::OnlyLeft:
      return "only left";
    case ops::DiffReport::ColumnDelta::Kind::OnlyRight:
      return "only right";
    case ops::DiffReport::ColumnDelta::Kind::Retyped:
      return "retyped";
  }
  return "";
}

/// Whole numbers and truth values as such, everything else as text, so that no digit is lost.
ordered_json json_of(const duck::Column& column, const std::optional<std::string>& cell) {
  if (!cell) return nullptr;
  const std::string& type = column.type;
  const bool is_plain = type == "BOOLEAN" || (type.ends_with("INT") && !type.ends_with("HUGEINT")) ||
                        type == "INTEGER" || type == "UINTEGER";
  if (!is_plain) return *cell;
  auto parsed = ordered_json::parse(*cell, nullptr, false);
  return parsed.is_discarded() ? ordered_json(*cell) : parsed;
}

ordered_json row_of(const std::vector<duck::Column>& columns, const ops::DiffCells& cells) {
  ordered_json row = ordered_json::object();
  for (std::size_t i = 0; i < columns.size(); ++i) row[columns[i].name] = json_of(columns[i], cells[i]);
  return row;
}

ordered_json rows_of(const std::vector<duck::Column>& columns, const std::vector<ops::DiffCells>& samples) {
  ordered_json rows = ordered_json::array();
  for (const ops::DiffCells& cells : samples) rows.push_back(row_of(columns, cells));
  return rows;
}

ordered_json side_of(const ops::DiffReport::Side& side) {
  ordered_json json{{"asset", side.asset}, {"rows", side.rows}};
  if (side.version) json["version"] = *side.version;
  return json;
}

ordered_json json_of(const ops::DiffReport& report) {
  ordered_json json{{"equal", report.is_equal()},     {"left", side_of(report.left)},
                    {"right", side_of(report.right)}, {"schema", ordered_json::array()},
                    {"only_left", report.only_left},  {"only_right", report.only_right}};
  for (const auto& delta : report.schema) {
    ordered_json one{{"column", delta.column}, {"change", name_of(delta.kind)}};
    if (!delta.left_type.empty()) one["left"] = delta.left_type;
    if (!delta.right_type.empty()) one["right"] = delta.right_type;
    json["schema"].push_back(std::move(one));
  }
  ordered_json samples{{"only_left", rows_of(report.columns, report.left_samples)},
                       {"only_right", rows_of(report.columns, report.right_samples)}};
  if (report.changed) {
    json["key"] = report.key;
    json["changed"] = *report.changed;
    json["changed_columns"] = ordered_json::object();
    for (const auto& [column, count] : report.changed_columns) json["changed_columns"][column] = count;
    samples["changed"] = ordered_json::array();
    for (const auto& change : report.changes) {
      ordered_json columns = ordered_json::array();
      for (std::size_t i = 0; i < report.columns.size(); ++i)
        if (change.differs[i]) columns.push_back(report.columns[i].name);
      samples["changed"].push_back({{"left", row_of(report.columns, change.left)},
                                    {"right", row_of(report.columns, change.right)},
                                    {"columns", std::move(columns)}});
    }
  }
  json["samples"] = std::move(samples);
  return json;
}

void print_samples(const std::string& title, const ops::DiffReport& report, const std::vector<ops::DiffCells>& samples,
                   std::int64_t all, Streams& streams) {
  if (samples.empty()) return;
  streams.out << fmt::format("\n{}{}:\n", title,
                             static_cast<std::int64_t>(samples.size()) < all
                                 ? fmt::format(", the first {} of {}", samples.size(), grouped(all))
                                 : std::string());
  std::vector<std::vector<std::string>> rows(1);
  for (const duck::Column& column : report.columns) rows.front().push_back(column.name);
  for (const ops::DiffCells& cells : samples) {
    auto& row = rows.emplace_back();
    for (const auto& cell : cells) row.push_back(cell.value_or("NULL"));
  }
  print_table(rows, streams);
}

/// Key, then `before → after` of each column that differs.
void print_changes(const ops::DiffReport& report, Streams& streams) {
  if (report.changes.empty()) return;
  streams.out << fmt::format("\nchanged rows{}:\n",
                             static_cast<std::int64_t>(report.changes.size()) < *report.changed
                                 ? fmt::format(", the first {} of {}", report.changes.size(), grouped(*report.changed))
                                 : std::string());
  std::vector<std::vector<std::string>> rows{report.key};
  rows.front().emplace_back("column");
  rows.front().emplace_back("left");
  rows.front().emplace_back("right");
  for (const auto& change : report.changes) {
    for (std::size_t i = 0; i < report.columns.size(); ++i) {
      if (!change.differs[i]) continue;
      auto& row = rows.emplace_back();
      for (const std::string& key : report.key)
        for (std::size_t k = 0; k < report.columns.size(); ++k)
          if (report.columns[k].name == key) row.push_back(change.left[k].value_or("NULL"));
      row.push_back(report.columns[i].name);
      row.push_back(change.left[i].value_or("NULL"));
      row.push_back(change.right[i].value_or("NULL"));
    }
  }
  print_table(rows, streams);
}

void print_report(const ops::DiffReport& report, Streams& streams) {
  streams.out << fmt::format("left   {}  {}\nright  {}  {}\n", label_of(report.left), counted(report.left.rows, "row"),
                             label_of(report.right), counted(report.right.rows, "row"));
  if (report.is_equal()) {
    streams.out << "equal\n";
    return;
  }
  if (!report.schema.empty()) {
    std::vector<std::vector<std::string>> rows{{"column", "change", "left", "right"}};
    for (const auto& delta : report.schema)
      rows.push_back({delta.column, std::string(name_of(delta.kind)), delta.left_type, delta.right_type});
    streams.out << "\n";
    print_table(rows, streams);
    streams.out << "\n";
  }
  streams.out << fmt::format("{} only left, {} only right", grouped(report.only_left), grouped(report.only_right));
  if (report.changed) streams.out << fmt::format(", {} changed", grouped(*report.changed));
  for (std::size_t i = 0; i < report.changed_columns.size(); ++i) {
    const auto& [column, count] = report.changed_columns[i];
    streams.out << fmt::format("{}{} {}", i == 0 ? " (" : ", ", column, grouped(count))
                << (i + 1 == report.changed_columns.size() ? ")" : "");
  }
  streams.out << "\n";
  print_samples("only left", report, report.left_samples, report.only_left, streams);
  print_samples("only right", report, report.right_samples, report.only_right, streams);
  print_changes(report, streams);
}

ordered_json json_of(const ops::EnvironmentRows& rows, const ops::DiffRequest& request) {
  ordered_json models = ordered_json::array();
  for (const ops::EnvironmentRows::Model& one : rows.models) {
    ordered_json json{{"model", one.path}, {"in_left", one.in_left}, {"in_right", one.in_right}};
    if (one.report) json.update(json_of(*one.report));
    models.push_back(std::move(json));
  }
  return {{"equal", rows.models.empty()},
          {"left", request.left},
          {"right", request.right},
          {"same", rows.same},
          {"models", std::move(models)}};
}

void print_rows(const ops::EnvironmentRows& rows, const ops::DiffRequest& request, Streams& streams) {
  for (const ops::EnvironmentRows::Model& one : rows.models) {
    streams.out << one.path << "\n";
    if (one.report)
      print_report(*one.report, streams);
    else
      streams.out << fmt::format("only in {}\n", one.in_left ? request.left : request.right);
    streams.out << "\n";
  }
  streams.out << fmt::format("{} of {} equal in {} and {}\n", rows.same,
                             counted(rows.same + static_cast<std::int64_t>(rows.models.size()), "model"), request.left,
                             request.right);
}

/// Exit code 1 says that a difference was found; whatever prevents comparing must not look like it.
Exit refuse_comparison(const Diagnostics& problems, const Project* project, Streams& streams) {
  const Exit exit = refuse(problems, project, streams);
  return exit == Exit::Failed ? Exit::Misuse : exit;
}

Exit diff_environments(const std::string& folder, const ops::DiffRequest& request, bool as_json, Streams& streams) {
  const auto rows = ops::diff_rows(folder, request);
  if (!rows) return refuse_comparison(rows.error(), nullptr, streams);
  print(rows->warnings, nullptr, streams);
  if (as_json)
    streams.out << json_of(*rows, request).dump(2, ' ', false, ordered_json::error_handler_t::replace) << "\n";
  else
    print_rows(*rows, request, streams);
  return rows->models.empty() ? Exit::Done : Exit::Failed;
}

}  // namespace

Exit diff_command(const Args& args, Streams& streams) {
  const std::vector<std::string> operands = args.list("assets");
  if (operands.size() != 2) {
    streams.err << "error: weir diff takes two assets or two environments\nhint: weir diff orders@12 orders\n";
    return Exit::Misuse;
  }
  const std::string folder = args.text("directory", ".");
  auto workspace = ops::Workspace::open(folder, args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  ops::DiffRequest request{.left = operands[0], .right = operands[1], .key = names_in(args.list("key"))};
  request.where = args.text("where", "");
  if (const auto limit = args.text("limit")) request.samples = std::atoll(limit->c_str());
  const auto of_environments = ops::are_environments(*workspace, request.left, request.right);
  if (!of_environments) return refuse_comparison(of_environments.error(), workspace->loaded(), streams);
  if (*of_environments) return diff_environments(workspace->root(), request, args.flag("json"), streams);
  const auto report = ops::diff(*workspace, request);
  if (!report) return refuse_comparison(report.error(), workspace->loaded(), streams);
  print(report->warnings, workspace->loaded(), streams);
  if (args.flag("json"))
    streams.out << json_of(*report).dump(2, ' ', false, ordered_json::error_handler_t::replace) << "\n";
  else
    print_report(*report, streams);
  return report->is_equal() ? Exit::Done : Exit::Failed;
}

}  // namespace weir::cli
