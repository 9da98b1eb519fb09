#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace weir::cli {
namespace {

using run::Status;

constexpr std::size_t kMostLiveLines = 8;
constexpr std::size_t kMostRowsShown = 3;

std::string mark_of(const run::StepReport& step, const Streams& streams) {
  switch (step.status) {
    case Status::Materialized:
      return paint(streams, Color::Good, "✓");
    case Status::Unchanged:
      return paint(streams, Color::Good, "=");
    case Status::Fresh:
      return paint(streams, Color::Dim, "·");
    case Status::Skipped:
    case Status::Gated:
      return paint(streams, Color::Warning, "-");
    case Status::Failed:
    case Status::Cancelled:
      return paint(streams, Color::Bad, "✗");
  }
  return " ";
}

/// "+311 ~27 −4 =12,070": inserted, updated, deleted, closed, unchanged; only what happened.
std::string counts_text(const publish::Counts& counts) {
  std::string text;
  const auto add = [&text](const char* mark, const std::optional<std::int64_t>& number) {
    if (!number || *number == 0) return;
    if (!text.empty()) text += ' ';
    text += mark + grouped(*number);
  };
  add("+", counts.inserted);
  add("~", counts.updated);
  add("-", counts.deleted);
  add("closed ", counts.closed);
  add("=", counts.unchanged);
  return text.empty() ? text : " (" + text + ")";
}

std::string tests_text(const std::vector<audit::Verdict>& tests) {
  if (tests.empty()) return {};
  const auto bad = std::count_if(tests.begin(), tests.end(),
                                 [](const audit::Verdict& v) { return v.status != audit::Verdict::Status::Passed; });
  const std::string all = fmt::format("{} test{}", tests.size(), tests.size() == 1 ? "" : "s");
  return bad == 0 ? all : fmt::format("{} ({} not passed)", all, bad);
}

/// A live line that wraps could not be taken away again. Asked each time, since windows change their size.
std::size_t terminal_columns() {
  winsize size{};
  const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : 80;
}

std::string indented(const std::string& text) {
  std::string result = "    ";
  for (const char c : text) {
    result += c;
    if (c == '\n') result += "    ";
  }
  return result;
}

/// One row of a sample, "id: 7, amount: -2", without control characters.
std::string row_text(const nlohmann::ordered_json& row) {
  if (!row.is_object()) return row.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string text;
  for (const auto& [column, value] : row.items()) {
    // Values of text stand bare, save where the JSON text escapes something.
    std::string shown = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (value.is_string() && shown.find('\\') == std::string::npos) shown = shown.substr(1, shown.size() - 2);
    if (value.is_null()) shown = "NULL";
    text += (text.empty() ? "" : ", ") + column + ": " + shown;
  }
  std::erase_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  // Wider than any terminal; no letter is cut in two.
  constexpr std::size_t kMostBytes = 1000;
  std::size_t size = std::min(text.size(), kMostBytes);
  while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  return text.substr(0, size);
}

/// The first rows of a test's sample, a line each; `more` becomes true if it has others.
std::string sample_lines(const audit::Verdict& verdict, const Streams& streams, bool& more) {
  const auto rows = nlohmann::ordered_json::parse(verdict.sample_json, nullptr, false);
  if (!rows.is_array()) return {};
  std::string lines;
  for (std::size_t i = 0; i < rows.size() && i < kMostRowsShown; ++i)
    lines += "\n" + paint(streams, Color::Dim, cut_to("          " + row_text(rows[i]), terminal_columns()));
  more = more || rows.size() > kMostRowsShown || static_cast<std::int64_t>(rows.size()) < verdict.violating;
  return lines;
}

/// The message of a failed step, with rows below the tests that failed.
std::string with_samples(const run::StepReport& step, const Streams& streams, bool& more) {
  std::string text;
  for (std::size_t at = 0; at <= step.error.size();) {
    const std::size_t end = std::min(step.error.find('\n', at), step.error.size());
    const std::string line = step.error.substr(at, end - at);
    text += (text.empty() ? "" : "\n") + indented(line);
    for (const audit::Verdict& verdict : step.tests)
      if (!verdict.sample_json.empty() && line.find(" " + verdict.test + " — ") != std::string::npos)
        text += sample_lines(verdict, streams, more);
    at = end + 1;
  }
  return text;
}

/// What shows the rows of a failed test: the step again, as it was asked for.
std::string hint_for_rows(const run::StepReport& step, const std::string& options) {
  std::string command = "weir run " + step.model + options;
  if (!step.partition.empty() && !step.is_windowed) command += " --partition " + quoted_word(step.partition);
  return indented(fmt::format("hint: {} --json shows such rows", command));
}

}  // namespace

std::string settled_line(const run::StepReport& step, const Streams& streams, const std::string& options) {
  std::string line = mark_of(step, streams) + " " + step.model;
  if (!step.partition.empty()) line += fmt::format(" [{}]", step.partition);
  line += "  " + (step.status == Status::Materialized ? step.strategy : std::string(run::name_of(step.status)));
  const bool done = step.status == Status::Materialized || step.status == Status::Unchanged;
  if (done && step.rows) line += fmt::format("  {}{}", counted(*step.rows, "row"), counts_text(step.counts));
  if (done && step.snapshot_id) line += fmt::format("  v{}", *step.snapshot_id);
  if (!tests_text(step.tests).empty()) line += "  " + tests_text(step.tests);
  if (!done && step.status != Status::Failed && !step.reason.empty())
    line += paint(streams, Color::Dim, "  " + step.reason);
  const std::int64_t ms = step.ms.wait + step.ms.compute + step.ms.audit + step.ms.commit;
  if (step.status == Status::Materialized || step.status == Status::Unchanged || step.status == Status::Failed)
    line += fmt::format("  {:.2f} s", static_cast<double>(ms) / 1000.0);
  // What has a place in a file is shown with its source line when the run has ended.
  const bool has_place = !step.errors.empty() && !step.errors.front().span.empty();
  if (step.status == Status::Failed && !has_place) {
    bool more = !streams.err_is_terminal;
    line += "\n" + (streams.err_is_terminal ? with_samples(step, streams, more) : indented(step.error));
    for (const Diagnostic& error : step.errors)
      if (!error.hint.empty()) line += "\n" + indented("hint: " + error.hint);
    const bool has_rows = std::any_of(step.tests.begin(), step.tests.end(),
                                      [](const audit::Verdict& verdict) { return !verdict.sample_json.empty(); });
    if (has_rows && more) line += "\n" + hint_for_rows(step, options);
  }
  if (step.status != Status::Failed)
    for (const audit::Verdict& verdict : step.tests) {
      if (verdict.status != audit::Verdict::Status::Passed)
        line += "\n" + indented(fmt::format(
                           "! {} — {}", verdict.test,
                           verdict.status == audit::Verdict::Status::Error
                               ? "error: " + (verdict.is_refused ? verdict.error : std::string("it could not be run"))
                               : fmt::format("{} violating row(s), severity {}", verdict.violating,
                                             run::name_of(verdict.severity))));
      bool more = false;
      if (streams.err_is_terminal && !verdict.sample_json.empty()) line += sample_lines(verdict, streams, more);
    }
  for (const Diagnostic& note : step.notes)
    line += "\n" + indented(fmt::format("{} {}: {}", name_of(note.severity), name_of(note.code), note.message));
  return line;
}

std::string time_left(std::size_t begun, std::size_t ended, std::size_t total, std::chrono::duration<double> elapsed) {
  constexpr std::size_t kEnough = 3;
  if (ended < begun + kEnough || ended >= total) return {};
  const double seconds = elapsed.count() * static_cast<double>(total - ended) / static_cast<double>(ended - begun);
  if (seconds < 90) return fmt::format("{:.0f} s left", std::max(1.0, seconds));
  if (seconds < 90 * 60) return fmt::format("{:.0f} min left", seconds / 60);
  return fmt::format("{:.1f} h left", seconds / 3600);
}

void Progress::erase_live() {
  for (; live_lines_ > 0; --live_lines_) streams_.err << "\x1b[1A\x1b[2K";
}

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  erase_live();
  streams_.err.flush();
}

void Progress::started(std::size_t steps) {
  if (!events_) return;
  const std::lock_guard lock(mutex_);
  streams_.out << nlohmann::json{{"event", "run_started"}, {"steps", steps}}.dump() << std::endl;
}

void Progress::step_started(const std::string& label) {
  if (!events_) return;
  const std::lock_guard lock(mutex_);
  streams_.out << nlohmann::json{{"event", "step_started"}, {"step", label}}.dump() << std::endl;
}

void Progress::step_ended(const run::StepReport& step) {
  const std::lock_guard lock(mutex_);
  if (events_) {
    streams_.out << nlohmann::ordered_json{{"event", "step_ended"}, {"step", run::to_json(step)}}.dump(
                        -1, ' ', false, nlohmann::json::error_handler_t::replace)
                 << std::endl;
    return;
  }
  const bool is_calm = step.status == Status::Fresh;
  const bool has_findings = std::any_of(step.tests.begin(), step.tests.end(), [](const audit::Verdict& verdict) {
    return verdict.status != audit::Verdict::Status::Passed;
  });
  if (quiet_ && step.status != Status::Failed && !has_findings) return;
  if (is_calm && !streams_.err_is_terminal && quiet_) return;
  erase_live();
  streams_.err << settled_line(step, streams_, options_) << "\n";
}

void Progress::tick(const std::vector<Running>& running, std::size_t ended, std::size_t total) {
  if (!is_live()) return;
  const std::lock_guard lock(mutex_);
  erase_live();
  const std::size_t columns = terminal_columns();
  const auto now = std::chrono::steady_clock::now();
  if (!began_) {
    began_ = now;
    ended_at_first_ = ended;
  }
  const std::string left = time_left(ended_at_first_, ended, total, now - *began_);
  for (const Running& step : running) {
    if (live_lines_ == kMostLiveLines) break;
    const std::string share = step.share ? fmt::format(" {:3.0f} %", *step.share * 100) : std::string();
    const std::string line = fmt::format("  … {}  {}{}  {:.1f} s  ({} of {}{}{})", step.label, step.doing, share,
                                         step.seconds, ended, total, left.empty() ? "" : ", ", left);
    streams_.err << paint(streams_, Color::Dim, cut_to(line, columns)) << "\n";
    ++live_lines_;
  }
  streams_.err.flush();
}

void Progress::message(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (events_) {
    streams_.out << nlohmann::json{{"event", "message"}, {"text", text}}.dump() << std::endl;
    return;
  }
  erase_live();
  streams_.err << text << "\n";
}

}  // namespace weir::cli
