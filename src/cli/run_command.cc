#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "ops/apply.h"
#include "ops/backfill.h"
#include "ops/cascade.h"
#include "ops/run.h"
#include "ops/saved_plan.h"

namespace weir::cli {
namespace {

std::atomic<bool> g_stop{false};

/// Milliseconds of a clock that only goes on; a signal may ask it.
std::int64_t now_ms() {
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

std::atomic<std::int64_t> g_asked_at{0};

/// What asks a process to end often does it twice, once the process and once its group: a second signal within that
/// time is the first one again. Somebody at a keyboard is slower than a machine, and means a second Ctrl-C.
void on_signal(int asked) {
  const std::int64_t now = now_ms();
  std::int64_t first = 0;
  if (g_asked_at.compare_exchange_strong(first, now)) {
    g_stop.store(true);
    return;
  }
  constexpr std::int64_t kSameByMachine = 1000;
  constexpr std::int64_t kSameByKey = 100;
  if (now - first > (asked == SIGINT ? kSameByKey : kSameByMachine)) ::_exit(static_cast<int>(Exit::Interrupted));
}

/// Files are named from where the command was typed, which is the project's folder no longer once that was found.
std::string from_here(const std::string& upload) {
  const auto equals = upload.find('=');
  if (equals == std::string::npos || equals + 1 == upload.size() || upload.find("://") != std::string::npos)
    return upload;
  return upload.substr(0, equals + 1) +
         std::filesystem::absolute(upload.substr(equals + 1)).lexically_normal().string();
}

/// What a command line says of how models run, to be typed again; the partition is told with the step.
std::string options_of(const Args& args) {
  std::string text;
  for (const char* name : {"env", "as-of", "arg", "upload"}) {
    for (const std::string& value : args.list(name)) text += fmt::format(" --{} {}", name, quoted_word(value));
  }
  return text;
}

/// Requires: no project was opened yet.
ops::RunRequest request_of(const Args& args) {
  ops::RunRequest request;
  request.options.environment = args.text("env", "prod");
  request.options.command = args.line;
  request.options.atomic = args.flag("atomic");
  request.options.no_wait = args.flag("no-wait");
  request.options.force = args.flag("force");
  request.options.full_refresh = args.flag("full-refresh");
  request.options.partial = args.flag("partial");
  request.options.forward_only = args.flag("forward-only");
  request.options.jobs = std::atoi(args.text("jobs", "0").c_str());
  request.select = args.list("selector");
  for (const std::string& more : args.list("select")) request.select.push_back(more);
  request.exclude = args.list("exclude");
  request.from = args.text("from");
  request.to = args.list("to");
  request.partition = args.text("partition");
  request.at = args.text("at");
  request.options.pin = args.flag("pin");
  request.as_of = args.text("as-of");
  request.arguments = args.list("arg");
  for (const std::string& upload : args.list("upload")) request.uploads.push_back(from_here(upload));
  return request;
}

std::string_view word_of(const plan::Step& step) {
  switch (step.action) {
    case plan::Action::Build:
      return "build";
    case plan::Action::Fresh:
      return step.needs_audit ? "audit" : "fresh";
    case plan::Action::Skip:
      return "skip";
    case plan::Action::Gated:
      return "gated";
  }
  return "build";
}

/// One line for what a backfill leaves alone, and with `--explain` how its slices are built.
Result<void> print_choice(ops::Workspace& workspace, const ops::DryRun& dry, const Args& args, Streams& streams) {
  const auto& plan = dry.planned.plan;
  WEIR_TRY(const std::size_t built, ops::slices_of(dry));
  std::string line = fmt::format("{} to build", counted(built, "slice"));
  if (plan.kept > 0) line += fmt::format(", {} there already", plan.kept);
  if (plan.to_come > 0) line += fmt::format(", {} not begun", plan.to_come);
  streams.err << line << "\n";
  if (!args.flag("explain")) return {};
  WEIR_TRY(const std::vector<ops::Route> routes, ops::routes_of(workspace, dry));
  for (const ops::Route& route : routes) streams.err << ops::text_of(route) << "\n";
  return {};
}

Result<nlohmann::json> routes_json(ops::Workspace& workspace, const ops::DryRun& dry) {
  WEIR_TRY(const std::vector<ops::Route> routes, ops::routes_of(workspace, dry));
  nlohmann::json shown = nlohmann::json::array();
  for (const ops::Route& route : routes)
    shown.push_back(
        {{"model", route.model}, {"slices", route.slices}, {"way", name_of(route.way)}, {"reason", route.why}});
  return shown;
}

/// A path ends where only an event leads on: said, lest somebody waits for what lies behind.
void print_barriers(const std::optional<PathBetween>& path, Streams& streams) {
  if (!path) return;
  for (const std::string& one : path->barriers)
    streams.err << fmt::format(
        "{} waits for an event: it is left out, with what only it leads to "
        "(--upload {}=FILE feeds it)\n",
        one, one);
}

Exit show_plan(const ops::DryRun& dry, ops::Workspace& workspace, bool is_backfill, const Args& args,
               Streams& streams) {
  print(dry.warnings, workspace.loaded(), streams);
  print_barriers(dry.path, streams);
  nlohmann::json order = nlohmann::json::array();
  std::vector<std::vector<std::string>> rows;
  for (const plan::Step& step : dry.planned.plan.steps) {
    nlohmann::json one{{"model", step.model->path}, {"action", word_of(step)}, {"reason", step.reason}};
    if (!step.slice.empty()) one[step.at.empty() ? "partition" : "window"] = step.slice;
    order.push_back(std::move(one));
    const std::string label =
        step.slice.empty() ? step.model->path : fmt::format("{} [{}]", step.model->path, step.slice);
    rows.push_back({fmt::format("{:>4}", step.id + 1), label, std::string(word_of(step)), step.reason});
  }
  Exit exit = Exit::Done;
  for (const run::StepReport& step : dry.held_up) {
    print(step.errors, workspace.loaded(), streams);
    exit = Exit::Misuse;
    const std::string reason = step.errors.empty() ? step.reason : "its file has errors";
    order.push_back({{"model", step.model}, {"action", "skip"}, {"reason", reason}});
    rows.push_back({"", step.model, "skip", reason});
  }
  if (args.flag("json")) {
    nlohmann::json shown{{"order", order}};
    if (dry.path) shown.update(nlohmann::json(ops::to_json(*dry.path)));
    if (is_backfill) {
      auto routes = routes_json(workspace, dry);
      if (!routes) return refuse(routes.error(), workspace.loaded(), streams);
      shown["routes"] = std::move(*routes);
    }
    streams.out << shown.dump(2) << "\n";
    return exit;
  }
  rows.insert(rows.begin(), {"   #", "model", "action", "reason"});
  print_table(rows, streams);
  if (!is_backfill) return exit;
  if (auto done = print_choice(workspace, dry, args, streams); !done)
    return refuse(done.error(), workspace.loaded(), streams);
  return exit;
}

bool is_yes(const std::string& answer) { return answer == "y" || answer == "yes" || answer == "Y"; }

/// `--full-refresh` drops what histories and appended tables hold: it asks, unless told not to.
bool confirmed(const Args& args, Streams& streams) {
  if (!args.flag("full-refresh") || args.flag("yes")) return true;
  if (!::isatty(STDIN_FILENO)) {
    streams.err
        << "error: --full-refresh drops what the selected tables hold, histories and all other partitions included\n"
           "hint: add --yes to say that this is meant\n";
    return false;
  }
  streams.err << "--full-refresh drops what the selected tables hold, histories and all other partitions included. Go "
                 "on? [y/N] "
              << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return is_yes(answer);
}

/// Asks at a terminal whether a breaking change is meant.
bool approved(const Diagnostics& problems, const ops::Workspace& workspace, Streams& streams) {
  if (!::isatty(STDIN_FILENO) || !streams.err_is_terminal) return false;
  print(problems, workspace.loaded(), streams);
  streams.err << "Go on? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return is_yes(answer);
}

std::string summary_of(const run::RunReport& report) {
  std::map<std::string_view, std::size_t> counts;
  for (const run::StepReport& step : report.steps) ++counts[run::name_of(step.status)];
  std::string text;
  for (const auto& [status, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, status);
  return fmt::format("run {} {}: {}", report.run, report.status, text.empty() ? "nothing selected" : text);
}

/// "v1,v2" and repeated options alike.
std::vector<std::string> parted(const std::vector<std::string>& texts) {
  std::vector<std::string> parts;
  for (const std::string& text : texts) {
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t comma = std::min(text.find(',', at), text.size());
      parts.push_back(text.substr(at, comma - at));
      at = comma + 1;
    }
  }
  return parts;
}

ops::BackfillRequest backfill_of(const Args& args, bool all) {
  ops::BackfillRequest request{.run = request_of(args), .model = args.text("model", "")};
  request.run.from.reset();
  request.run.to.clear();
  request.run.partition.reset();
  request.from = args.text("from");
  request.to = args.text("to");
  request.partitions = parted(args.list("partitions"));
  request.from_query = args.text("from-query");
  request.all = all;
  request.outdated = args.flag("outdated");
  request.stale = args.flag("stale");
  request.downstream = args.flag("downstream");
  return request;
}

/// What `weir plan -o` wrote, in place of a selector.
std::optional<std::string> plan_file(const Args& args) {
  const std::vector<std::string> selectors = args.list("selector");
  if (selectors.size() != 1 || !selectors.front().ends_with(".json")) return std::nullopt;
  return selectors.front();
}

/// What is to be said of the run as a whole, and the errors that have a place in a file.
void print_findings(const run::RunReport& report, const ops::Workspace& workspace, Streams& streams) {
  print(report.notes, workspace.loaded(), streams);
  for (const run::StepReport& step : report.steps)
    if (!step.errors.empty() && step.errors.front().span.end > 0) print(step.errors, workspace.loaded(), streams);
}

/// A model that begins in the past and is run for the first time has only the partition of today.
void print_earlier(const run::RunReport& report, const Args& args, Streams& streams) {
  constexpr std::size_t kMostShown = 3;
  std::size_t found = 0;
  for (const run::StepReport& step : report.steps) {
    if (!step.earlier || (step.status != run::Status::Materialized && step.status != run::Status::Unchanged)) continue;
    if (++found <= kMostShown)
      streams.err << fmt::format("hint: weir backfill {} --from {} --to {}{} builds what is missing since its start\n",
                                 step.model, quoted_word(step.earlier->first), quoted_word(step.earlier->second),
                                 options_of(args));
  }
  if (found > kMostShown)
    streams.err << fmt::format("hint: {} lack partitions too: `weir status --gaps`\n",
                               counted(static_cast<std::int64_t>(found - kMostShown), "other model"));
}

/// Prints what a run did and gives its exit code. `json`: the result, if it holds more than the report.
Exit show_report(const ops::RunOutcome& outcome, const ops::Workspace& workspace, const Args& args, Streams& streams,
                 const std::optional<std::string>& json = {}) {
  print(outcome.warnings, workspace.loaded(), streams);
  if (!args.flag("quiet")) print_barriers(outcome.path, streams);
  print_findings(outcome.report, workspace, streams);
  Exit failed = Exit::Failed;
  for (const run::StepReport& step : outcome.report.steps) {
    if (step.is_held_up && !step.errors.empty() && exit_for(step.errors) == Exit::Misuse) failed = Exit::Misuse;
  }
  if (args.flag("json"))
    streams.out << json.value_or(ops::to_json(outcome).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
                << "\n";
  else if (args.flag("events"))
    streams.out
        << nlohmann::json{{"event", "run_ended"}, {"run", outcome.report.run}, {"status", outcome.report.status}}.dump()
        << "\n";
  else if (!args.flag("quiet"))
    streams.err << summary_of(outcome.report) << "\n";
  if (!args.flag("json") && !args.flag("events") && !args.flag("quiet")) print_earlier(outcome.report, args, streams);
  if (outcome.report.status == "cancelled") return Exit::Interrupted;
  return outcome.report.status == "done" ? Exit::Done : failed;
}

std::string summary_of(const ops::CascadeOutcome& outcome) {
  std::map<std::string, std::size_t> counts;
  for (const state::DispatchRecord& one : outcome.decisions) ++counts[ops::status_of(one)];
  std::string text;
  for (const auto& [status, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, status);
  return fmt::format("cascade: {}", text.empty() ? "nothing subscribes to what was written" : text);
}

/// The run as always, then what it started.
Exit show_all(const ops::CascadeOutcome& outcome, const ops::Workspace& workspace, const Args& args, Streams& streams) {
  const std::string json = ops::to_json(outcome).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const Exit exit = show_report(outcome.run, workspace, args, streams, json);
  for (const run::RunReport& report : outcome.runs) print_findings(report, workspace, streams);
  if (args.flag("events"))
    streams.out << nlohmann::ordered_json{{"event", "cascade_ended"}, {"cascade", ops::to_json(outcome)["cascade"]}}
                       .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
                << "\n";
  else if (!args.flag("json") && !args.flag("quiet"))
    streams.err << summary_of(outcome) << "\n";
  return exit == Exit::Done && outcome.has_failed ? Exit::Failed : exit;
}

Exit run_with_cascade(ops::Workspace& workspace, ops::RunRequest request, const Args& args, Streams& streams) {
  std::atomic<bool>& stop = stop_requested();
  Progress progress(streams, args.flag("quiet"), args.flag("events"), options_of(args));
  auto outcome = ops::run_cascade(workspace, request, progress, stop);
  progress.clear();
  if (!outcome && outcome.error().front().code == Code::W5405 && approved(outcome.error(), workspace, streams)) {
    request.options.approved = true;
    outcome = ops::run_cascade(workspace, request, progress, stop);
    progress.clear();
  }
  if (!outcome) {
    const Exit exit = refuse(outcome.error(), workspace.loaded(), streams);
    return stop.load() ? Exit::Interrupted : exit;
  }
  const Exit exit = show_all(*outcome, workspace, args, streams);
  return stop.load() ? Exit::Interrupted : exit;
}

}  // namespace

std::atomic<bool>& stop_requested() {
  static const bool installed = [] {
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGHUP, &action, nullptr);
    // A reader that leaves (`weir run --events | head -1`) must not kill the work; main says that output was lost.
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, nullptr);
    return true;
  }();
  (void)installed;
  return g_stop;
}

namespace {

bool takes_jobs(const Args& args, Streams& streams) {
  if (!args.text("jobs") || std::atoi(args.text("jobs")->c_str()) >= 1) return true;
  streams.err << "error: --jobs takes a number of at least 1\nhint: without it, `jobs:` of weir.yaml counts\n";
  return false;
}

Exit run_request(ops::Workspace& workspace, ops::RunRequest request, const Args& args, Streams& streams) {
  std::atomic<bool>& stop = stop_requested();
  Progress progress(streams, args.flag("quiet"), args.flag("events"), options_of(args));
  auto outcome = ops::run(workspace, request, progress, stop);
  progress.clear();
  if (!outcome && outcome.error().front().code == Code::W5405 && approved(outcome.error(), workspace, streams)) {
    request.options.approved = true;
    outcome = ops::run(workspace, request, progress, stop);
    progress.clear();
  }
  if (!outcome) {
    const Exit exit = refuse(outcome.error(), workspace.loaded(), streams);
    return stop.load() ? Exit::Interrupted : exit;
  }
  return show_report(*outcome, workspace, args, streams);
}

/// What should be agreed to: with --yes it is, otherwise a terminal is asked.
bool agreed(const std::vector<std::string>& concerns, const Args& args, Streams& streams) {
  if (concerns.empty() || args.flag("yes")) return true;
  const bool can_ask = ::isatty(STDIN_FILENO) != 0 && streams.err_is_terminal;
  for (const std::string& concern : concerns) streams.err << (can_ask ? "" : "error: ") << concern << "\n";
  if (!can_ask) {
    streams.err << "hint: add --yes to say that this is meant\n";
    return false;
  }
  streams.err << "Go on? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return is_yes(answer);
}

Exit backfill(const Args& args, bool all, Streams& streams) {
  stop_requested();
  if (!args.text("model")) {
    streams.err << "error: nothing says which model is meant\nhint: weir backfill MODEL --from A --to B\n";
    return Exit::Misuse;
  }
  if (!takes_jobs(args, streams)) return Exit::Misuse;
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  const auto request = ops::run_of(*workspace, backfill_of(args, all));
  if (!request) return refuse(request.error(), workspace->loaded(), streams);
  const auto dry = ops::dry_run(*workspace, *request);
  if (!dry) return refuse(dry.error(), workspace->loaded(), streams);
  if (args.flag("dry-run")) return show_plan(*dry, *workspace, true, args, streams);
  if (!args.flag("json") && !args.flag("events") && !args.flag("quiet"))
    if (auto done = print_choice(*workspace, *dry, args, streams); !done)
      return refuse(done.error(), workspace->loaded(), streams);
  const auto concerns = ops::concerns_of(*dry);
  if (!concerns) return refuse(concerns.error(), workspace->loaded(), streams);
  if (!agreed(*concerns, args, streams)) return Exit::Misuse;
  return run_request(*workspace, *request, args, streams);
}

}  // namespace

Exit run_command(const Args& args, Streams& streams) {
  const ops::RunRequest request = request_of(args);
  stop_requested();
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  if (args.flag("cascade") && (args.flag("dry-run") || args.text("as-of"))) {
    streams.err << "error: --cascade goes with neither --dry-run nor --as-of\nhint: what a write would start stands in "
                   "`weir graph`\n";
    return Exit::Misuse;
  }
  if (args.flag("dry-run")) {
    const auto dry = ops::dry_run(*workspace, request);
    if (!dry) return refuse(dry.error(), workspace->loaded(), streams);
    return show_plan(*dry, *workspace, false, args, streams);
  }
  if (!takes_jobs(args, streams) || !confirmed(args, streams)) return Exit::Misuse;
  if (args.flag("cascade")) return run_with_cascade(*workspace, request, args, streams);
  return run_request(*workspace, request, args, streams);
}

Exit backfill_command(const Args& args, Streams& streams) { return backfill(args, args.flag("all"), streams); }

Exit restate_command(const Args& args, Streams& streams) { return backfill(args, true, streams); }

Exit apply_command(const Args& args, Streams& streams) {
  stop_requested();
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  // A saved plan knows its environment.
  if (const auto file = plan_file(args); file && !args.text("env")) {
    const auto saved = ops::read_plan(*file);
    if (!saved) return refuse(saved.error(), nullptr, streams);
    workspace = ops::Workspace::open(workspace->root(), saved->request.environment);
    if (!workspace) return refuse(workspace.error(), nullptr, streams);
  }
  return apply_changes(*workspace, args, streams);
}

Exit apply_changes(ops::Workspace& workspace, const Args& args, Streams& streams) {
  std::atomic<bool>& stop = stop_requested();
  const ops::RunRequest given = request_of(args);
  ops::ApplyRequest request{.options = given.options, .select = given.select, .exclude = given.exclude};
  request.plan_file = plan_file(args);
  if (request.plan_file) request.select.clear();
  request.options.environment = workspace.environment();
  // --force says that breaking changes are meant; unchanged models are left alone all the same.
  request.options.approved = std::exchange(request.options.force, false);
  Progress progress(streams, args.flag("quiet"), args.flag("events"), options_of(args));
  auto outcome = ops::apply(workspace, request, progress, stop);
  progress.clear();
  if (!outcome && outcome.error().front().code == Code::W5405 && approved(outcome.error(), workspace, streams)) {
    request.options.approved = true;
    outcome = ops::apply(workspace, request, progress, stop);
    progress.clear();
  }
  if (!outcome) {
    const Exit exit = refuse(outcome.error(), workspace.loaded(), streams);
    return stop.load() ? Exit::Interrupted : exit;
  }
  if (!outcome->has_changes) {
    print(outcome->run.warnings, workspace.loaded(), streams);
    if (args.flag("json"))
      streams.out << nlohmann::json{{"env", request.options.environment}, {"status", "unchanged"}}.dump() << "\n";
    else if (!args.flag("quiet"))
      streams.err << fmt::format("nothing differs from what {} has\n", request.options.environment);
    return Exit::Done;
  }
  if (!args.flag("json") && !args.flag("events") && !args.flag("quiet"))
    for (const std::string& model : outcome->reused)
      streams.err << fmt::format("· {}  reused  its rows are those of the new definition too\n", model);
  return show_report(outcome->run, workspace, args, streams);
}

}  // namespace weir::cli
