#include <nlohmann/json.hpp>

#include "run/report.h"

namespace weir::run {
namespace {

// Keys keep their order: rows of samples show their columns as the table has them.
using json = nlohmann::ordered_json;

template <class T>
void put(json& object, const char* name, const std::optional<T>& value) {
  if (value) object[name] = *value;
}

std::string_view name_of(audit::Verdict::Status status) {
  switch (status) {
    case audit::Verdict::Status::Passed:
      return "passed";
    case audit::Verdict::Status::Failed:
      return "failed";
    case audit::Verdict::Status::Error:
      return "error";
  }
  return "error";
}

json columns(const std::vector<lake::ColumnState>& from) {
  json all = json::array();
  for (const lake::ColumnState& column : from) all.push_back({{"name", column.name}, {"type", column.type}});
  return all;
}

json drift(const build::Drift& drift) {
  json retyped = json::array();
  for (const auto& change : drift.retyped)
    retyped.push_back({{"name", change.name}, {"from", change.from}, {"to", change.to}, {"widening", change.widening}});
  json object{{"added", columns(drift.added)},
              {"removed", columns(drift.removed)},
              {"retyped", retyped},
              {"reordered", drift.reordered}};
  json renamed = json::array();
  for (const auto& [from, to] : drift.renamed_case) renamed.push_back({{"from", from}, {"to", to}});
  object["renamed_case"] = renamed;
  if (drift.likely_rename)
    object["likely_rename"] = {{"from", drift.likely_rename->first}, {"to", drift.likely_rename->second}};
  return object;
}

json tests(const std::vector<audit::Verdict>& verdicts) {
  json all = json::array();
  for (const audit::Verdict& verdict : verdicts) all.push_back(to_json(verdict));
  return all;
}

json notes(const Diagnostics& found) {
  json all = json::array();
  for (const Diagnostic& note : found)
    all.push_back(
        {{"code", weir::name_of(note.code)}, {"severity", weir::name_of(note.severity)}, {"message", note.message}});
  return all;
}

}  // namespace

std::string_view name_of(TestSeverity severity) {
  switch (severity) {
    case TestSeverity::Error:
      return "error";
    case TestSeverity::Warn:
      return "warn";
    case TestSeverity::Info:
      return "info";
  }
  return "error";
}

std::string_view name_of(Status status) {
  switch (status) {
    case Status::Materialized:
      return "materialized";
    case Status::Unchanged:
      return "unchanged";
    case Status::Fresh:
      return "fresh";
    case Status::Skipped:
      return "skipped";
    case Status::Gated:
      return "gated";
    case Status::Failed:
      return "failed";
    case Status::Cancelled:
      return "cancelled";
  }
  return "failed";
}

json to_json(const audit::Verdict& verdict) {
  json object{{"test", verdict.test},
              {"status", name_of(verdict.status)},
              {"severity", name_of(verdict.severity)},
              {"violating", verdict.violating},
              {"tolerated", verdict.tolerated}};
  if (!verdict.sample_json.empty()) object["sample"] = json::parse(verdict.sample_json, nullptr, false);
  object["ms"] = verdict.ms;
  if (!verdict.error.empty()) object["error"] = verdict.error;
  return object;
}

json to_json(const StepReport& step) {
  json object{{"model", step.model}, {"materialized", step.materialized}};
  if (!step.partition.empty()) object[step.is_windowed ? "window" : "partition"] = step.partition;
  object["status"] = name_of(step.status);
  if (step.status != Status::Materialized && step.status != Status::Unchanged && !step.reason.empty())
    object["reason"] = step.reason;
  if (step.earlier) object["missing_before"] = {{"from", step.earlier->first}, {"to", step.earlier->second}};
  if (!step.strategy.empty()) object["strategy"] = step.strategy;
  put(object, "rows", step.rows);
  put(object, "inserted", step.counts.inserted);
  put(object, "updated", step.counts.updated);
  put(object, "deleted", step.counts.deleted);
  put(object, "closed", step.counts.closed);
  put(object, "unchanged", step.counts.unchanged);
  put(object, "snapshot_id", step.snapshot_id);
  // What was computed has columns, tests, inputs and times, if only none; of what was not they are left out.
  const bool is_computed =
      step.status != Status::Fresh && step.status != Status::Skipped && step.status != Status::Gated;
  json schema = json::array();
  for (const duck::Column& column : step.output_schema)
    schema.push_back({{"name", column.name}, {"type", column.type}});
  if (is_computed || !schema.empty()) object["output_schema"] = std::move(schema);
  if (step.drift) object["schema_drift"] = drift(*step.drift);
  if (is_computed || !step.tests.empty()) object["data_tests"] = tests(step.tests);
  json inputs = json::array();
  for (const Input& input : step.inputs) {
    json one{{"asset", input.asset.uri()}, {"snapshot_id", input.version}};
    if (!input.partition.empty()) one["partition"] = input.partition;
    inputs.push_back(std::move(one));
  }
  if (is_computed || !inputs.empty()) object["upstream_snapshots"] = inputs;
  if (is_computed || step.bytes > 0) object["bytes"] = step.bytes;
  if (is_computed || step.ms.wait + step.ms.compute + step.ms.audit + step.ms.commit > 0)
    object["ms"] = {
        {"wait", step.ms.wait}, {"compute", step.ms.compute}, {"audit", step.ms.audit}, {"commit", step.ms.commit}};
  if (!step.started.empty()) object["started"] = step.started;
  if (!step.finished.empty()) object["finished"] = step.finished;
  if (!step.notes.empty()) object["notes"] = notes(step.notes);
  if (!step.result_json.empty()) object["result"] = json::parse(step.result_json, nullptr, false);
  if (!step.versions.empty()) object["versions"] = step.versions;
  if (!step.error.empty()) {
    object["error"] = {{"message", step.error}};
    if (!step.errors.empty()) object["error"]["diagnostics"] = notes(step.errors);
    json failed = json::array();
    for (const audit::Verdict& verdict : step.tests)
      if (verdict.status != audit::Verdict::Status::Passed) failed.push_back(to_json(verdict));
    if (!failed.empty()) object["error"]["data_tests"] = failed;
  }
  return object;
}

json to_json(const RunReport& run) {
  json steps = json::array();
  for (const StepReport& step : run.steps) steps.push_back(to_json(step));
  json result{{"run", run.run},         {"env", run.environment},   {"status", run.status},
              {"started", run.started}, {"finished", run.finished}, {"steps", steps}};
  if (run.generation) result["generation"] = *run.generation;
  return result;
}

std::string to_json_text(const RunReport& run) {
  return to_json(run).dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace weir::run
