// Commands that read the project and no data: check, ls, explain, version.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/output.h"
#include "duck/database.h"
#include "ops/check.h"
#include "ops/list.h"
#include "ops/workspace.h"
#include "text/render.h"

namespace weir::cli {
namespace {

/// One wrong model near the sources may block thousands; --json lists them all.
constexpr std::size_t kBlockedShown = 10;

text::SourceText sources_of(const Project& project) {
  return [&project](std::string_view path) -> std::optional<std::string_view> {
    const Source* found = project.source(path);
    if (found == nullptr) return std::nullopt;
    return found->text;
  };
}

std::size_t count(const Diagnostics& all, Severity severity) {
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [=](const Diagnostic& d) { return d.severity == severity; }));
}

}  // namespace

Exit check_command(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  const auto checked = ops::check(*workspace, {.offline = args.flag("offline")});
  if (!checked) return refuse(checked.error(), workspace->loaded(), streams);
  const Diagnostics& found = checked->diagnostics;
  // A check that has nothing to say may not have read the project at all.
  const Project* project = workspace->loaded();
  const std::size_t errors = count(found, Severity::Error);
  if (args.flag("json")) {
    nlohmann::json blocked = nlohmann::json::array();
    for (const auto& one : checked->blocked) {
      blocked.push_back({{"model", one.model}, {"blocked_by", one.by}});
      if (!one.test.empty()) blocked.back()["test"] = one.test;
    }
    streams.out << nlohmann::json{{"models", checked->models},
                                  {"blocked", std::move(blocked)},
                                  {"errors", errors},
                                  {"warnings", count(found, Severity::Warning)},
                                  {"diagnostics", text::render_json(found, project == nullptr ? text::SourceText()
                                                                                              : sources_of(*project))}}
                       .dump(2)
                << "\n";
  } else {
    print(found, project, streams);
    for (std::size_t i = 0; i < checked->blocked.size() && i < kBlockedShown; ++i) {
      const ops::Checked::Blocked& one = checked->blocked[i];
      streams.err << fmt::format("{}{} was not looked at: blocked by {}\n", one.model,
                                 one.test.empty() ? "" : ", test " + one.test, one.by);
    }
    if (checked->blocked.size() > kBlockedShown)
      streams.err << fmt::format("nor were {} more\n", checked->blocked.size() - kBlockedShown);
    if (!args.flag("quiet"))
      streams.err << fmt::format("{}, {}, {}\n", counted(static_cast<std::int64_t>(checked->models), "model"),
                                 counted(static_cast<std::int64_t>(errors), "error"),
                                 counted(static_cast<std::int64_t>(count(found, Severity::Warning)), "warning"));
  }
  return errors == 0 ? Exit::Done : Exit::Misuse;
}

Exit ls_command(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  std::vector<std::string> select = args.list("selector");
  for (const std::string& more : args.list("select")) select.push_back(more);
  const auto listed = ops::list(*workspace, select, args.list("exclude"));
  if (!listed) return refuse(listed.error(), workspace->loaded(), streams);
  const auto blocked = workspace->blocked();
  if (!blocked) return refuse(blocked.error(), workspace->loaded(), streams);
  if (args.flag("json")) {
    nlohmann::json models = nlohmann::json::array();
    for (const Model* model : *listed) {
      nlohmann::json one{{"model", model->path},
                         {"file", model->source->path},
                         {"plane", name_of(model->plane)},
                         {"strategy", name_of(model->strategy)},
                         {"tags", model->tags}};
      if (model->target) one["asset"] = model->target->uri();
      if (model->partitioning) one["partitioned"] = calendar::name_of(model->partitioning->kind);
      one["tests"] = model->tests.size();
      if (const auto fault = (*blocked)->find(model->path); fault != (*blocked)->end())
        one["blocked_by"] = fault->second.by();
      models.push_back(std::move(one));
    }
    streams.out << nlohmann::json{{"models", models}}.dump(2) << "\n";
    return Exit::Done;
  }
  std::vector<std::vector<std::string>> rows{{"model", "plane", "strategy", "asset"}};
  for (const Model* model : *listed) {
    std::string strategy = model->plane == Plane::Manual ? std::string() : std::string(name_of(model->strategy));
    if (model->partitioning) strategy += fmt::format(" {}", calendar::name_of(model->partitioning->kind));
    rows.push_back(
        {model->path, std::string(name_of(model->plane)), strategy, model->target ? model->target->uri() : ""});
  }
  print_table(rows, streams);
  for (const Model* model : *listed)
    if (const auto fault = (*blocked)->find(model->path); fault != (*blocked)->end())
      streams.err << fmt::format("{} cannot be run: blocked by {}\n", model->path, fault->second.by());
  return Exit::Done;
}

Exit explain_command(const Args& args, Streams& streams) {
  auto wanted = args.text("code");
  if (wanted) {
    std::transform(wanted->begin(), wanted->end(), wanted->begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    if (wanted->find_first_not_of("0123456789") == std::string::npos) wanted = fmt::format("W{:0>4}", *wanted);
  }
  bool found = false;
  nlohmann::json all = nlohmann::json::array();
  for (const Code code : all_codes()) {
    if (wanted && name_of(code) != *wanted) continue;
    found = true;
    if (args.flag("json"))
      all.push_back({{"code", name_of(code)}, {"title", title_of(code)}, {"explanation", explanation_of(code)}});
    else if (wanted)
      streams.out << fmt::format("{}: {}\n\n{}\n", name_of(code), title_of(code), explanation_of(code));
    else
      streams.out << fmt::format("{}  {}\n", name_of(code), title_of(code));
  }
  if (!found) {
    streams.err << fmt::format("error: there is no code {}\nhint: `weir explain` lists all codes\n", *wanted);
    return Exit::Misuse;
  }
  if (args.flag("json")) streams.out << all.dump(2) << "\n";
  return Exit::Done;
}

Exit version_command(const Args& args, Streams& streams) {
  if (args.flag("json"))
    streams.out << nlohmann::json{{"weir", ops::version()}, {"duckdb", duck::Database::version()}}.dump() << "\n";
  else
    streams.out << fmt::format("weir {} (DuckDB {})\n", ops::version(), duck::Database::version());
  return Exit::Done;
}

}  // namespace weir::cli
