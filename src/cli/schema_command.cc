// `weir schema`: captured columns and how they changed.
#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/output.h"
#include "ops/schema.h"

namespace weir::cli {
namespace {

std::optional<std::int64_t> number_of(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string_view name_of(ops::ColumnChange::Kind kind) {
  switch (kind) {
    case ops::ColumnChange::Kind::Added:
      return "added";
    case ops::ColumnChange::Kind::Removed:
      return "removed";
    case ops::ColumnChange::Kind::Retyped:
      return "retyped";
    case ops::ColumnChange::Kind::Moved:
      return "moved";
  }
  return "";
}

Exit print_diff(ops::Workspace& workspace, const std::vector<std::string>& words, Streams& streams, bool json) {
  const auto from = number_of(words[2]);
  const auto to = number_of(words[3]);
  if (!from || !to) {
    streams.err << "error: versions are numbers\nhint: `weir schema " << words[1] << "` shows the newest\n";
    return Exit::Misuse;
  }
  const auto diff = ops::schema_diff(workspace, words[1], *from, *to);
  if (!diff) return refuse(diff.error(), workspace.loaded(), streams);
  if (json) {
    nlohmann::json changes = nlohmann::json::array();
    for (const ops::ColumnChange& change : diff->changes) {
      nlohmann::json one{{"column", change.column}, {"change", name_of(change.kind)}};
      if (!change.before.empty()) one["before"] = change.before;
      if (!change.after.empty()) one["after"] = change.after;
      changes.push_back(std::move(one));
    }
    streams.out
        << nlohmann::json{{"asset", diff->asset}, {"from", diff->from}, {"to", diff->to}, {"changes", changes}}.dump(2)
        << "\n";
    return Exit::Done;
  }
  if (diff->changes.empty()) {
    streams.out << "the same columns\n";
    return Exit::Done;
  }
  std::vector<std::vector<std::string>> rows{{"column", "change", "before", "after"}};
  for (const ops::ColumnChange& change : diff->changes)
    rows.push_back({change.column, std::string(name_of(change.kind)), change.before, change.after});
  print_table(rows, streams);
  return Exit::Done;
}

Exit print_schema(ops::Workspace& workspace, const std::string& asset, const std::optional<std::string>& wanted,
                  Streams& streams, bool json) {
  const auto number = wanted ? number_of(*wanted) : std::nullopt;
  if (wanted && !number) {
    streams.err << "error: --version takes the number of a captured version\n";
    return Exit::Misuse;
  }
  const auto schema = ops::schema(workspace, asset, number);
  if (!schema) return refuse(schema.error(), workspace.loaded(), streams);
  if (json) {
    nlohmann::json columns = nlohmann::json::array();
    for (const duck::Column& column : schema->columns)
      columns.push_back({{"name", column.name}, {"type", column.type}});
    nlohmann::json all{{"asset", schema->asset},
                       {"version", schema->version},
                       {"captured", schema->captured},
                       {"run", schema->run},
                       {"columns", std::move(columns)}};
    if (schema->snapshot_id) all["snapshot_id"] = *schema->snapshot_id;
    streams.out << all.dump(2) << "\n";
    return Exit::Done;
  }
  streams.err << fmt::format("{} version {}, captured {}\n", schema->asset, schema->version,
                             short_time(schema->captured));
  std::vector<std::vector<std::string>> rows{{"column", "type"}};
  for (const duck::Column& column : schema->columns) rows.push_back({column.name, column.type});
  print_table(rows, streams);
  return Exit::Done;
}

}  // namespace

Exit schema_command(const Args& args, Streams& streams) {
  const std::vector<std::string> words = args.list("asset");
  const bool is_diff = words.size() == 4 && words[0] == "diff";
  if (words.size() != 1 && !is_diff) {
    streams.err << "error: weir schema takes an asset, or `diff`, an asset and two versions\n"
                   "hint: weir schema diff orders 1 2\n";
    return Exit::Misuse;
  }
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  if (is_diff) return print_diff(*workspace, words, streams, args.flag("json"));
  return print_schema(*workspace, words[0], args.text("version"), streams, args.flag("json"));
}

}  // namespace weir::cli
