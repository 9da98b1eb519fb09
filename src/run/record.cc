#include "run/record.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "build/stage.h"
#include "project/window_rows.h"
#include "run/ledger.h"

namespace weir::run {
namespace {

bool is_done(Status status) { return status == Status::Materialized || status == Status::Unchanged; }

std::int64_t passed(const std::vector<audit::Verdict>& tests) {
  return std::count_if(tests.begin(), tests.end(),
                       [](const audit::Verdict& v) { return v.status == audit::Verdict::Status::Passed; });
}

std::map<std::string, std::int64_t> counts_of(const publish::Counts& counts) {
  std::map<std::string, std::int64_t> named;
  const auto add = [&named](const char* name, const std::optional<std::int64_t>& count) {
    if (count) named.emplace(name, *count);
  };
  add("inserted", counts.inserted);
  add("updated", counts.updated);
  add("deleted", counts.deleted);
  add("closed", counts.closed);
  add("unchanged", counts.unchanged);
  return named;
}

/// The content of the slice that later runs compare with; nothing where the strategy keeps none.
std::string content_of(const StepWork& work) {
  return work.effect && work.effect->content ? build::to_json(*work.effect->content) : std::string();
}

/// Of each table, by key, the version after which its changes are news; of several, the oldest.
std::map<std::string, std::string> known_inputs(const StepWork& work) {
  std::map<std::string, std::int64_t> known;
  for (const Input& input : work.report.inputs) {
    const auto [at, is_new] = known.emplace(input.asset.key(), input.known);
    if (!is_new) at->second = std::min(at->second, input.known);
  }
  std::map<std::string, std::string> texts;
  for (const auto& [asset, version] : known) texts.emplace(asset, std::to_string(version));
  return texts;
}

std::vector<state::InputRecord> inputs_of(const StepWork& work) {
  std::vector<state::InputRecord> inputs = work.file_inputs;
  for (const auto& [asset, version] : known_inputs(work)) inputs.push_back({asset, version});
  if (work.passed_tests) inputs.push_back({std::string(plan::kTestsInput), work.step->tests});
  if (!work.step->at.empty()) inputs.push_back({std::string(plan::kTimeInput), work.step->at});
  return inputs;
}

state::SliceRecord slice_of(const Session& session, const StepWork& work) {
  const StepReport& report = work.report;
  const plan::Step& step = *work.step;
  const state::SliceRecord* earlier = session.world.slice(step.model->target->key(), step.slice);
  state::SliceRecord slice;
  // A failed attempt keeps what is known of the version that is still there.
  if (earlier != nullptr) slice = *earlier;
  slice.environment = session.options.environment;
  slice.asset = step.model->target->key();
  slice.slice = step.slice;
  slice.run = session.run;
  slice.model = step.model->path;
  slice.updated = state::now_text();
  // Which of two overlapping windows is the newer one, their times say.
  if (is_windowed(*step.model)) slice.updated = later_than(session.world.slices, slice.asset, std::move(slice.updated));
  slice.status = is_done(report.status) ? "materialized" : "failed";
  slice.error = report.error;
  if (!is_done(report.status)) return slice;
  slice.fingerprint = step.fingerprint;
  slice.arguments_hash = step.arguments_hash;
  slice.snapshot_id = report.snapshot_id;
  slice.rows = report.rows;
  slice.tests_passed = passed(report.tests);
  slice.inputs = inputs_of(work);
  slice.content = content_of(work);
  return slice;
}

/// The slice of a table that was only audited: its content is what it was.
state::SliceRecord audited_slice(const Session& session, const StepWork& work) {
  state::SliceRecord slice = *session.world.slice(work.step->model->target->key(), work.step->basis);
  std::erase_if(slice.inputs, [](const state::InputRecord& input) { return input.asset == plan::kTestsInput; });
  slice.inputs.push_back({std::string(plan::kTestsInput), work.step->tests});
  slice.tests_passed = passed(work.report.tests);
  return slice;
}

state::StepRecord step_row(const Session& session, const StepWork& work) {
  state::StepRecord row;
  row.run = session.run;
  row.model = work.report.model;
  row.asset = work.step->model->target ? work.step->model->target->key() : std::string();
  row.slice = work.report.partition;
  row.status = std::string(name_of(work.report.status));
  row.token = work.token;
  row.started = work.report.started;
  row.finished = work.report.finished.empty() ? state::now_text() : work.report.finished;
  row.result_json = to_json(work.report).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return row;
}

/// The asset under which others know the model's result.
const Asset& known_as(const Model& model) {
  const bool is_delivery = model.plane == Plane::Table || model.plane == Plane::File;
  return is_delivery ? *model.target : model.relation;
}

std::optional<state::SchemaRecord> schema_of(const Session& session, const StepWork& work) {
  if (!is_done(work.report.status) || work.report.output_schema.empty()) return std::nullopt;
  nlohmann::json columns = nlohmann::json::array();
  for (const duck::Column& column : work.report.output_schema)
    columns.push_back({{"name", column.name}, {"type", column.type}});
  state::SchemaRecord schema;
  schema.environment = session.options.environment;
  // By the name that readers use: what they count on is bound to it.
  schema.asset = known_as(*work.step->model).key();
  schema.columns_json = columns.dump();
  schema.snapshot_id = work.report.snapshot_id;
  schema.run = session.run;
  schema.captured = state::now_text();
  return schema;
}

state::OwnedRecord owned_of(const Session& session, const StepWork& work) {
  const Model& model = *work.step->model;
  return {.asset = model.target->key(),
          .uri = model.target->uri(),
          .model = model.path,
          .fingerprint = work.step->fingerprint,
          .environment = session.options.environment,
          .plane = std::string(name_of(model.plane)),
          .run = session.run,
          .created = state::now_text(),
          // Until the environment is moved nothing shows it.
          .unreferenced = state::now_text()};
}

bool lost_its_lease(const StepWork& work) {
  return std::any_of(work.report.errors.begin(), work.report.errors.end(),
                     [](const Diagnostic& d) { return d.code == Code::W6102; });
}

void add_tests(const Session& session, const StepWork& work, std::vector<state::TestRecord>& rows) {
  for (const audit::Verdict& verdict : work.report.tests) {
    const nlohmann::json json = to_json(verdict);
    rows.push_back({session.run, work.report.model, known_as(*work.step->model).key(), work.report.partition,
                    verdict.test, json["status"].get<std::string>(), json["severity"].get<std::string>(),
                    verdict.violating, verdict.sample_json, verdict.ms, state::now_text()});
  }
}

}  // namespace

lake::CommittedStep commit_step(const StepWork& work) {
  lake::CommittedStep step;
  step.asset = work.step->model->target->key();
  step.model = work.step->model->path;
  step.slice = work.step->slice;
  step.definition = work.step->fingerprint;
  step.arguments_hash = work.step->arguments_hash;
  step.strategy = work.report.strategy;
  step.rows = work.report.rows.value_or(0);
  step.counts = counts_of(work.report.counts);
  step.content = content_of(work);
  step.tests_passed = passed(work.report.tests);
  for (const state::InputRecord& input : inputs_of(work)) step.inputs.emplace(input.asset, input.version);
  // The version of a producer in the same commit is this commit's own, which is not known before it is made.
  for (const StepWork::StagedInput& staged : work.staged_inputs)
    if (!staged.version) step.inputs[work.report.inputs[staged.input].asset.key()] = lake::kThisCommit;
  return step;
}

void record_steps(Session& session, const std::vector<StepWork*>& ended) {
  state::Store::Outcome outcome;
  for (const StepWork* work : ended) {
    const Status status = work->report.status;
    outcome.steps.push_back(step_row(session, *work));
    // The slice belongs to the run that took it over: the ledger says what that one did.
    if (lost_its_lease(*work)) continue;
    if (status == Status::Fresh && work->passed_tests) {
      outcome.slices.push_back(audited_slice(session, *work));
      add_tests(session, *work, outcome.tests);
    }
    if (status != Status::Materialized && status != Status::Unchanged && status != Status::Failed) continue;
    outcome.slices.push_back(slice_of(session, *work));
    if (is_done(status) && session.owned.contains(work->step->model->path))
      outcome.owned.push_back(owned_of(session, *work));
    if (auto schema = schema_of(session, *work)) outcome.schemas.push_back(std::move(*schema));
    add_tests(session, *work, outcome.tests);
  }
  auto written = session.store.record(outcome);
  if (written) return;
  session.unrecorded.store(true);
  for (const Diagnostic& problem : written.error()) session.listener.message(problem.message);
}

}  // namespace weir::run
