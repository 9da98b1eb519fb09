// Commands that look at data: query, history, status.
#include <fmt/format.h>

#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/output.h"
#include "ops/data.h"

namespace weir::cli {
namespace {

constexpr std::int64_t kBoxLimit = 1000;

void print_box(const ops::QueryResult& result, Streams& streams) {
  std::vector<std::vector<std::string>> rows;
  auto& head = rows.emplace_back();
  for (const duck::Column& column : result.columns) head.push_back(column.name);
  for (const auto& row : result.rows) {
    auto& line = rows.emplace_back();
    for (const auto& value : row) line.push_back(value.value_or("NULL"));
  }
  print_table(rows, streams);
  if (result.is_cut) streams.err << fmt::format("more rows were left out; --limit says how many to show\n");
}

nlohmann::json json_of(const std::string& text) {
  const auto parsed = nlohmann::json::parse(text, nullptr, false);
  return parsed.is_discarded() ? nlohmann::json(text) : parsed;
}

}  // namespace

Exit query_command(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  ops::QueryRequest request;
  request.sql = args.text("sql", "-");
  if (request.sql == "-") request.sql.assign(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  request.format = args.flag("json") ? "json" : args.text("format", "box");
  if (const auto limit = args.text("limit")) request.limit = std::atoll(limit->c_str());
  if (request.format == "box") {
    request.format.clear();
    if (!request.limit) request.limit = kBoxLimit;
  }
  request.output = args.text("output", "/dev/stdout");
  streams.out.flush();
  const auto result = ops::query(*workspace, request);
  if (!result) return refuse(result.error(), workspace->loaded(), streams);
  if (request.format.empty()) print_box(*result, streams);
  return Exit::Done;
}

Exit history_command(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  const auto limit = static_cast<std::size_t>(std::max(1, std::atoi(args.text("limit", "20").c_str())));
  const auto history = ops::history(*workspace, args.text("asset"), limit);
  if (!history) return refuse(history.error(), workspace->loaded(), streams);
  if (args.flag("json")) {
    nlohmann::json versions = nlohmann::json::array();
    for (const lake::VersionRecord& version : history->versions) {
      nlohmann::json one{{"version", version.version}, {"time", version.time}, {"author", version.author}, {"message", version.message},
                         {"rows_added", version.rows_added}, {"rows_removed", version.rows_removed}, {"changes", version.changes},
                         {"at", fmt::format("AT (VERSION => {})", version.version)}};
      if (!version.extra_info.empty()) one["commit"] = json_of(version.extra_info);
      versions.push_back(std::move(one));
    }
    streams.out << nlohmann::json{{"asset", history->asset}, {"versions", versions}}.dump(2) << "\n";
    return Exit::Done;
  }
  std::vector<std::vector<std::string>> rows{{"version", "time", "run", "added", "removed", "message", "clause"}};
  for (const lake::VersionRecord& version : history->versions) {
    const auto commit = nlohmann::json::parse(version.extra_info, nullptr, false);
    const std::string run = commit.is_object() ? commit.value("run", "") : "";
    rows.push_back({std::to_string(version.version), version.time, run, grouped(version.rows_added), grouped(version.rows_removed), version.message,
                    fmt::format("AT (VERSION => {})", version.version)});
  }
  print_table(rows, streams);
  return Exit::Done;
}

Exit status_command(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  const auto statuses = ops::status(*workspace, args.text("env", "prod"), args.text("asset"), args.text("from"), args.text("to"));
  if (!statuses) return refuse(statuses.error(), workspace->loaded(), streams);
  if (args.flag("json")) {
    nlohmann::json assets = nlohmann::json::array();
    for (const ops::AssetStatus& asset : *statuses) {
      nlohmann::json slices = nlohmann::json::array();
      for (const ops::SliceStatus& slice : asset.slices) {
        nlohmann::json one{{"slice", slice.slice}, {"status", slice.status}, {"run", slice.record.run}, {"updated", slice.record.updated},
                           {"definition", slice.record.fingerprint}, {"tests_passed", slice.record.tests_passed}};
        if (slice.record.snapshot_id) one["snapshot_id"] = *slice.record.snapshot_id;
        if (slice.record.rows) one["rows"] = *slice.record.rows;
        if (!slice.record.error.empty()) one["error"] = slice.record.error;
        slices.push_back(std::move(one));
      }
      assets.push_back({{"model", asset.model}, {"asset", asset.asset}, {"slices", slices}});
    }
    streams.out << nlohmann::json{{"assets", assets}}.dump(2) << "\n";
    return Exit::Done;
  }
  std::vector<std::vector<std::string>> rows{{"model", "slice", "status", "rows", "version", "updated"}};
  for (const ops::AssetStatus& asset : *statuses) {
    for (const ops::SliceStatus& slice : asset.slices)
      rows.push_back({asset.model, slice.slice.empty() ? "(whole table)" : slice.slice, slice.status, slice.record.rows ? grouped(*slice.record.rows) : "",
                      slice.record.snapshot_id ? fmt::format("v{}", *slice.record.snapshot_id) : "", slice.record.updated});
  }
  print_table(rows, streams);
  return Exit::Done;
}

}  // namespace weir::cli
