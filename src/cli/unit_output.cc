#include "cli/unit_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/output.h"
#include "ops/unit_test.h"
#include "text/render.h"

namespace weir::cli {
namespace {

using Kind = trial::RowDifference::Kind;
using Status = trial::Outcome::Status;
using nlohmann::ordered_json;

constexpr std::size_t kMostShown = 20;
constexpr std::size_t kWidestValue = 60;

std::string_view name_of(Status status) {
  return status == Status::Passed ? "passed" : status == Status::Failed ? "failed" : "error";
}

std::string_view name_of(Kind kind) {
  return kind == Kind::Missing ? "missing" : kind == Kind::Unexpected ? "unexpected" : "changed";
}

/// A value that may be mistaken for something else stands in quotes.
std::string shown(const std::optional<std::string>& value) {
  if (!value) return "NULL";
  const bool is_plain = !value->empty() && *value != "NULL" && value->find_first_of(" ,='\n\t") == std::string::npos;
  const std::string text = cut_to(*value, kWidestValue);
  return is_plain ? text : "'" + text + "'";
}

std::string cells_text(const std::vector<std::string>& columns, const trial::UnitCells& cells) {
  std::string text;
  for (std::size_t i = 0; i < columns.size(); ++i)
    text += (text.empty() ? "" : ", ") + columns[i] + "=" + shown(cells[i]);
  return text;
}

/// What both rows agree in, then each cell that differs.
std::string changed_text(const std::vector<std::string>& columns, const trial::RowDifference& row) {
  std::string same;
  std::string changed;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (row.expected[i] == row.actual[i])
      same += (same.empty() ? "" : ", ") + columns[i] + "=" + shown(row.actual[i]);
    else
      changed += (changed.empty() ? "" : "; ") +
                 fmt::format("{} expected {}, got {}", columns[i], shown(row.expected[i]), shown(row.actual[i]));
  }
  return same.empty() ? changed : same + ": " + changed;
}

std::string difference_text(const std::vector<std::string>& columns, const trial::RowDifference& row) {
  const std::string place = row.position == 0 ? "" : fmt::format("row {}: ", row.position);
  if (row.kind == Kind::Missing) return "- " + place + cells_text(columns, row.expected);
  if (row.kind == Kind::Unexpected) return "+ " + place + cells_text(columns, row.actual);
  return "~ " + place + changed_text(columns, row);
}

void print_outcome(const trial::Outcome& outcome, const Project* project, Streams& streams) {
  const bool passed = outcome.status == Status::Passed;
  streams.out << (passed ? paint(streams, Color::Good, "✓") : paint(streams, Color::Bad, "✗")) << " " << outcome.test
              << "  " << outcome.model;
  if (outcome.status == Status::Error) {
    streams.out << "  error\n";
    streams.out.flush();
    return print(outcome.problems, project, streams);
  }
  if (passed) {
    streams.out << "  " << counted(static_cast<std::int64_t>(outcome.actual_rows), "row") << "\n";
    return;
  }
  std::string counts;
  for (const Kind kind : {Kind::Missing, Kind::Unexpected, Kind::Changed}) {
    const auto count = std::count_if(outcome.differences.begin(), outcome.differences.end(),
                                     [kind](const auto& row) { return row.kind == kind; });
    if (count > 0) counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, name_of(kind));
  }
  streams.out << fmt::format("  {} of {} expected, {} returned\n", counts,
                             counted(static_cast<std::int64_t>(outcome.expected_rows), "row"), outcome.actual_rows);
  for (std::size_t i = 0; i < std::min(outcome.differences.size(), kMostShown); ++i)
    streams.out << "    " << difference_text(outcome.columns, outcome.differences[i]) << "\n";
  if (outcome.differences.size() > kMostShown)
    streams.out << fmt::format("    … and {} more; --json has all\n", outcome.differences.size() - kMostShown);
}

ordered_json row_json(const std::vector<std::string>& columns, const trial::UnitCells& cells) {
  ordered_json row = ordered_json::object();
  for (std::size_t i = 0; i < columns.size(); ++i)
    row[columns[i]] = cells[i] ? ordered_json(*cells[i]) : ordered_json(nullptr);
  return row;
}

ordered_json outcome_json(const trial::Outcome& outcome, const Project* project) {
  ordered_json differences = ordered_json::array();
  for (const trial::RowDifference& row : outcome.differences) {
    ordered_json one{{"kind", name_of(row.kind)}};
    if (row.position > 0) one["row"] = row.position;
    if (!row.expected.empty()) one["expected"] = row_json(outcome.columns, row.expected);
    if (!row.actual.empty()) one["actual"] = row_json(outcome.columns, row.actual);
    differences.push_back(std::move(one));
  }
  ordered_json made{{"test", outcome.test},
                    {"model", outcome.model},
                    {"status", name_of(outcome.status)},
                    {"expected_rows", outcome.expected_rows},
                    {"actual_rows", outcome.actual_rows},
                    {"differences", std::move(differences)},
                    {"ms", outcome.ms}};
  if (!outcome.problems.empty())
    made["diagnostics"] =
        text::render_json(outcome.problems, [project](std::string_view path) -> std::optional<std::string_view> {
          const Source* source = project == nullptr ? nullptr : project->source(path);
          return source == nullptr ? std::nullopt : std::optional<std::string_view>(source->text);
        });
  return made;
}

}  // namespace

Exit run_unit_tests(ops::Workspace& workspace, const std::vector<std::string>& select, const Args& args,
                    Streams& streams) {
  if (args.text("partition")) {
    streams.err << "error: --partition and --unit do not go together\n"
                   "hint: a unit test names its own partition: `partition:` in its file\n";
    return Exit::Misuse;
  }
  const auto outcomes = ops::unit_test(workspace, select, args.list("exclude"));
  if (!outcomes) return refuse(outcomes.error(), workspace.loaded(), streams);
  const auto passed =
      std::count_if(outcomes->begin(), outcomes->end(), [](const auto& one) { return one.status == Status::Passed; });
  const auto all = static_cast<std::ptrdiff_t>(outcomes->size());
  if (args.flag("json")) {
    ordered_json tests = ordered_json::array();
    for (const trial::Outcome& one : *outcomes) tests.push_back(outcome_json(one, workspace.loaded()));
    streams.out << ordered_json{{"unit_tests", std::move(tests)}}.dump(2) << "\n";
    return passed == all ? Exit::Done : Exit::Failed;
  }
  for (const trial::Outcome& one : *outcomes) print_outcome(one, workspace.loaded(), streams);
  if (all == 0)
    streams.out << "no unit tests: a file tests/<name>.yaml with `model:`, `inputs:` and `expect:` is one\n";
  else
    streams.out << fmt::format("{}: {} passed, {} failed\n", counted(all, "unit test"), passed, all - passed);
  return passed == all ? Exit::Done : Exit::Failed;
}

}  // namespace weir::cli
