// Commands about the catalogue of metrics: metrics ls, metrics sql, metrics query.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/rows.h"
#include "ops/metrics.h"

namespace weir::cli {
namespace {

ops::MetricQueryRequest request_of(const Args& args) {
  ops::MetricQueryRequest request;
  request.environment = args.text("env", "prod");
  request.table = args.text("table", "");
  request.wanted.measures = args.list("measures");
  request.wanted.dimensions = args.list("dimensions");
  request.where = args.text("where", "");
  if (const auto limit = args.text("limit")) request.limit = std::atoll(limit->c_str());
  return request;
}

bool has_table(const Args& args, std::string_view command, Streams& streams) {
  if (args.text("table")) return true;
  streams.err << fmt::format(
      "error: `weir {}` takes a table\nhint: weir {} orders --measures revenue --dimensions region\n", command,
      command);
  return false;
}

Exit append(ops::Workspace& workspace, const Args& args, Streams& streams) {
  const auto done = ops::append_metrics(workspace, request_of(args), *args.text("into"));
  if (!done) return refuse(done.error(), workspace.loaded(), streams, args.text("where", ""));
  if (args.flag("json")) {
    streams.out << nlohmann::ordered_json{{"file", done->file},
                                          {"alias", done->alias},
                                          {"reused", done->is_reused},
                                          {"sql", done->sql}}
                       .dump(2)
                << "\n";
    return Exit::Done;
  }
  streams.err << fmt::format("appended to {}: {}\n", done->file,
                             done->is_reused ? fmt::format("the file attaches the lake as {} already", done->alias)
                                             : fmt::format("the lake is attached as {}", done->alias));
  if (done->has_two_results)
    streams.err << "hint: the file now holds two results, and a model has one: take one away, or make it a CTE\n";
  return Exit::Done;
}

}  // namespace

Exit metrics_ls_command(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  ops::MetricListRequest request;
  request.environment = args.text("env", "prod");
  request.table = args.text("table");
  request.prefix = args.text("prefix");
  if (const auto limit = args.text("limit"))
    request.limit = static_cast<std::size_t>(std::max(1, std::atoi(limit->c_str())));
  request.cursor = args.text("cursor", "");
  const auto list = ops::list_metrics(*workspace, request);
  if (!list) return refuse(list.error(), workspace->loaded(), streams);
  if (args.flag("json")) {
    nlohmann::ordered_json metrics = nlohmann::ordered_json::array();
    for (const state::MetricRecord& one : list->metrics) {
      nlohmann::ordered_json row{{"script_path", one.script},
                                 {"table_path", one.table},
                                 {"kind", one.kind},
                                 {"name", one.name},
                                 {"expr", one.expression}};
      if (one.filter) row["filter"] = *one.filter;
      if (!one.description.empty()) row["description"] = one.description;
      if (!one.unit.empty()) row["unit"] = one.unit;
      if (!one.format.empty()) row["format"] = one.format;
      metrics.push_back(std::move(row));
    }
    nlohmann::ordered_json page{{"metrics", std::move(metrics)}};
    if (!list->next_cursor.empty()) page["next_cursor"] = list->next_cursor;
    streams.out << page.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    return Exit::Done;
  }
  std::vector<std::vector<std::string>> rows{{"table", "kind", "name", "expression", "where", "model"}};
  for (const state::MetricRecord& one : list->metrics)
    rows.push_back({one.table, one.kind, one.name, one.expression, one.filter.value_or(""), one.script});
  const std::vector<bool> numeric(rows.front().size(), false);
  print_table(rows, streams, &numeric);
  if (list->metrics.empty())
    streams.err << "nothing is declared there; `weir deploy` records what the models declare\n";
  if (!list->next_cursor.empty())
    streams.err << fmt::format("there are more: --cursor {}, or narrow with --table or --prefix\n", list->next_cursor);
  return Exit::Done;
}

Exit metrics_sql_command(const Args& args, Streams& streams) {
  if (!has_table(args, "metrics sql", streams)) return Exit::Misuse;
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  if (args.text("into")) return append(*workspace, args, streams);
  const auto sql = ops::compose_metrics(*workspace, request_of(args));
  if (!sql) return refuse(sql.error(), workspace->loaded(), streams, args.text("where", ""));
  if (args.flag("json"))
    streams.out << nlohmann::json{{"sql", *sql}}.dump(2) << "\n";
  else
    streams.out << *sql;
  return Exit::Done;
}

Exit metrics_query_command(const Args& args, Streams& streams) {
  if (!has_table(args, "metrics query", streams)) return Exit::Misuse;
  auto how = rows_request(args, streams);
  if (!how) return Exit::Misuse;
  // The limit stands in the query itself.
  how->limit.reset();
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  const auto rows = [&](const ops::QueryRequest& asked) {
    return ops::query_metrics(*workspace, request_of(args), asked);
  };
  return show_rows(*workspace, rows, std::move(*how), streams);
}

}  // namespace weir::cli
