// Commands that look at data: query, history, status.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/rows.h"
#include "ops/data.h"

namespace weir::cli {
namespace {

constexpr std::int64_t kBoxLimit = 1000;

bool is_number(const std::string& type) {
  static const std::set<std::string> numbers = {"TINYINT",   "SMALLINT", "INTEGER", "BIGINT",   "HUGEINT", "UTINYINT",
                                                "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "FLOAT",   "DOUBLE"};
  return numbers.contains(type) || type.starts_with("DECIMAL");
}

void print_box(const ops::QueryResult& result, Streams& streams) {
  std::vector<std::vector<std::string>> rows;
  std::vector<bool> numeric;
  auto& head = rows.emplace_back();
  for (const duck::Column& column : result.columns) {
    head.push_back(column.name);
    numeric.push_back(is_number(column.type));
  }
  for (const auto& row : result.rows) {
    auto& line = rows.emplace_back();
    for (const auto& value : row) line.push_back(value.value_or("NULL"));
  }
  print_table(rows, streams, &numeric);
  if (result.is_cut) streams.err << fmt::format("more rows were left out; --limit says how many to show\n");
}

nlohmann::json json_of(const std::string& text) {
  const auto parsed = nlohmann::json::parse(text, nullptr, false);
  return parsed.is_discarded() ? nlohmann::json(text) : parsed;
}

/// The format that a file's name asks for; empty if it is none of ours.
std::string format_of_name(const std::string& file) {
  if (file.ends_with(".arrows")) return "arrow";
  for (const char* format : {"csv", "json", "parquet", "arrow"})
    if (file.ends_with(std::string(".") + format)) return format;
  return {};
}

Exit run_query(ops::Workspace& workspace, const RowsFrom& from, const ops::QueryRequest& request, Streams& streams) {
  const auto result = from(request);
  if (!result) return refuse(result.error(), workspace.loaded(), streams, request.sql);
  if (request.format.empty()) print_box(*result, streams);
  return Exit::Done;
}

/// DuckDB writes to a name, not to our stream. Standard output by its name works for pipes and terminals; a file would
/// be cut there and then written from its beginning, and a socket cannot be opened at all: for these the result goes
/// through a file of our own.
Exit query_to_standard_output(ops::Workspace& workspace, const RowsFrom& from, ops::QueryRequest& request,
                              Streams& streams) {
  if (request.format == "arrow") {
    request.bytes = [&streams](std::string_view bytes) {
      return static_cast<bool>(streams.out.write(bytes.data(), static_cast<std::streamsize>(bytes.size())));
    };
    return run_query(workspace, from, request, streams);
  }
  struct stat output {};
  const bool by_name = ::fstat(STDOUT_FILENO, &output) == 0 && (S_ISFIFO(output.st_mode) || S_ISCHR(output.st_mode));
  if (by_name) {
    request.output = "/dev/stdout";
    return run_query(workspace, from, request, streams);
  }
  std::string folder = std::filesystem::temp_directory_path() / "weir-query-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) {
    streams.err << fmt::format("error: cannot make a folder in {}\nhint: set TMPDIR to a folder that may be written\n",
                               std::filesystem::temp_directory_path().string());
    return Exit::Failed;
  }
  request.output = folder + "/rows";
  const Exit exit = run_query(workspace, from, request, streams);
  if (exit == Exit::Done) {
    std::ifstream rows(request.output, std::ios::binary);
    if (rows.peek() != std::ifstream::traits_type::eof()) streams.out << rows.rdbuf();
    streams.out.flush();
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return exit;
}

}  // namespace

std::optional<ops::QueryRequest> rows_request(const Args& args, Streams& streams) {
  ops::QueryRequest request;
  // Opening the project changes the working directory; a file that the user names lies where the user is.
  const auto output = args.text("output");
  std::error_code lost;
  if (output) request.output = std::filesystem::absolute(*output, lost).string();
  request.format = args.flag("json") ? "json" : args.text("format", output ? format_of_name(*output) : "box");
  if (output && (request.format.empty() || request.format == "box")) {
    streams.err << "error: the form of " << *output
                << " is not known\nhint: name it .csv, .json, .parquet or .arrow, or add --format\n";
    return std::nullopt;
  }
  if (const auto limit = args.text("limit")) request.limit = std::atoll(limit->c_str());
  return request;
}

Exit show_rows(ops::Workspace& workspace, const RowsFrom& from, ops::QueryRequest request, Streams& streams) {
  if (request.format == "box") {
    request.format.clear();
    if (!request.limit) request.limit = kBoxLimit;
  }
  streams.out.flush();
  return request.format.empty() || !request.output.empty()
             ? run_query(workspace, from, request, streams)
             : query_to_standard_output(workspace, from, request, streams);
}

Exit query_command(const Args& args, Streams& streams) {
  if (!args.text("sql") && ::isatty(STDIN_FILENO) != 0) {
    streams.err << "error: `weir query` takes a statement\nhint: weir query \"FROM table\", or - to read it from "
                   "standard input\n";
    return Exit::Misuse;
  }
  std::string sql = args.text("sql", "-");
  if (sql == "-") sql.assign(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  auto request = rows_request(args, streams);
  if (!request) return Exit::Misuse;
  request->sql = std::move(sql);
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  return show_rows(
      *workspace, [&](const ops::QueryRequest& asked) { return ops::query(*workspace, asked); }, std::move(*request),
      streams);
}

Exit history_command(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  const auto limit = static_cast<std::size_t>(std::max(1, std::atoi(args.text("limit", "20").c_str())));
  const auto history = ops::history(*workspace, args.text("asset"), limit);
  if (!history) return refuse(history.error(), workspace->loaded(), streams);
  if (args.flag("json")) {
    nlohmann::json versions = nlohmann::json::array();
    for (const lake::VersionRecord& version : history->versions) {
      nlohmann::json one{
          {"version", version.version},       {"time", version.time},
          {"author", version.author},         {"message", version.message},
          {"rows_added", version.rows_added}, {"rows_removed", version.rows_removed},
          {"changes", version.changes},       {"at", fmt::format("AT (VERSION => {})", version.version)}};
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
    rows.push_back({std::to_string(version.version), short_time(version.time), run, grouped(version.rows_added),
                    grouped(version.rows_removed), version.message,
                    fmt::format("AT (VERSION => {})", version.version)});
  }
  print_table(rows, streams);
  return Exit::Done;
}

namespace {

/// Slices as rows of the table of `weir status`; partitions that are missing one after the other are one row.
void add_rows(const ops::AssetStatus& asset, std::vector<std::vector<std::string>>& rows) {
  const auto is_missing = [](const ops::SliceStatus& slice) {
    return slice.status == "missing" && !slice.slice.empty() && slice.record.run.empty();
  };
  for (std::size_t i = 0; i < asset.slices.size(); ++i) {
    const ops::SliceStatus& slice = asset.slices[i];
    std::string name = slice.slice.empty() ? "(whole table)" : slice.slice;
    std::string remark =
        slice.status == "failed" ? slice.record.error.substr(0, slice.record.error.find('\n')) : slice.reason;
    const std::size_t first = i;
    while (is_missing(slice) && i + 1 < asset.slices.size() && is_missing(asset.slices[i + 1])) ++i;
    if (i > first) {
      name += " … " + asset.slices[i].slice;
      remark = grouped(static_cast<std::int64_t>(i - first + 1)) + " slices";
    }
    rows.push_back({asset.model, std::move(name), slice.status, slice.record.rows ? grouped(*slice.record.rows) : "",
                    slice.record.snapshot_id ? fmt::format("v{}", *slice.record.snapshot_id) : "",
                    short_time(slice.record.updated), std::move(remark)});
  }
}

}  // namespace

Exit status_command(const Args& args, Streams& streams) {
  if (args.flag("freshness")) return show_freshness(args, streams);
  if (args.flag("cascade")) return show_cascade(args, streams);
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  const ops::StatusRequest request{
      .asset = args.text("asset"), .from = args.text("from"), .to = args.text("to"), .gaps = args.flag("gaps")};
  auto statuses = ops::status(*workspace, args.text("env", "prod"), request);
  if (!statuses) return refuse(statuses.error(), workspace->loaded(), streams);
  if (args.flag("gaps"))
    for (ops::AssetStatus& asset : *statuses)
      std::erase_if(asset.slices, [](const ops::SliceStatus& slice) { return slice.status != "missing"; });
  if (args.flag("json")) {
    nlohmann::json assets = nlohmann::json::array();
    for (const ops::AssetStatus& asset : *statuses) {
      nlohmann::json slices = nlohmann::json::array();
      for (const ops::SliceStatus& slice : asset.slices) {
        nlohmann::json one{{"slice", slice.slice},
                           {"status", slice.status},
                           {"run", slice.record.run},
                           {"updated", slice.record.updated},
                           {"definition", slice.record.fingerprint},
                           {"tests_passed", slice.record.tests_passed}};
        if (slice.record.snapshot_id) one["snapshot_id"] = *slice.record.snapshot_id;
        if (slice.record.rows) one["rows"] = *slice.record.rows;
        if (!slice.record.error.empty()) one["error"] = slice.record.error;
        if (!slice.reason.empty()) one["reason"] = slice.reason;
        slices.push_back(std::move(one));
      }
      assets.push_back({{"model", asset.model}, {"asset", asset.asset}, {"slices", slices}});
      if (!asset.blocked_by.empty()) assets.back()["blocked_by"] = asset.blocked_by;
    }
    streams.out << nlohmann::json{{"assets", assets}}.dump(2) << "\n";
    return Exit::Done;
  }
  std::vector<std::vector<std::string>> rows{{"model", "slice", "status", "rows", "version", "updated", ""}};
  for (const ops::AssetStatus& asset : *statuses) add_rows(asset, rows);
  print_table(rows, streams);
  for (const ops::AssetStatus& asset : *statuses)
    if (!asset.blocked_by.empty())
      streams.err << fmt::format("{} cannot be run: blocked by {}\n", asset.model, asset.blocked_by);
  return Exit::Done;
}

}  // namespace weir::cli
