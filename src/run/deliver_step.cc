// Deliveries: a step that leaves the lakes. Its rows are computed once into a stage like those of any other step; what
// follows happens in the target's own transaction, not in a commit of a lake.
#include <fmt/format.h>

#include <date/date.h>
#include "audit/audit.h"
#include "base/failpoint.h"
#include "deliver/deliver.h"
#include "deliver/file.h"
#include "lake/commit.h"
#include "run/record.h"
#include "run/step.h"

namespace weir::run {
namespace {

using std::chrono::steady_clock;

std::string label_of(const StepWork& work) {
  return work.step->slice.empty() ? work.step->model->path
                                  : fmt::format("{} [{}]", work.step->model->path, work.step->slice);
}

std::string token_of(const std::string& run, const Model& model) { return run + ":" + model.path; }

void report_schema(StepWork& work, const std::vector<lake::ColumnState>& columns) {
  work.report.output_schema.clear();
  for (const lake::ColumnState& column : columns) work.report.output_schema.push_back({column.name, column.type});
}

/// Takes over what is known of the delivery; the audit needs it.
void take_effect(StepWork& work, const publish::Effect& effect) {
  work.effect = effect;
  if (work.step->model->strategy == Strategy::Append) work.effect->content = work.stage->content;
  work.report.counts = effect.counts;
  work.report.rows = effect.rows;
  report_schema(work, effect.columns);
}

/// True if the target has a delivery of this model that the state store does not know of, and it brought these very
/// rows: a run died, or lost the answer, between the commit there and the record here.
Result<bool> was_delivered(Session& session, StepWork& work, deliver::Target& target, duck::Connection& clean) {
  const Model& model = *work.step->model;
  const state::SliceRecord* earlier = session.world.slice(model.target->key(), work.step->slice);
  if (earlier != nullptr && earlier->status == "materialized") return false;
  WEIR_TRY(const auto row, target.newest(clean, session.options.environment));
  if (!row) return false;
  WEIR_TRY(const std::vector<state::StepRecord> known, session.store.steps(row->run));
  for (const state::StepRecord& step : known)
    if (step.model == model.path && step.status == "materialized") return false;
  const auto commit = lake::CommitRecord::from_json(row->record);
  if (!commit || commit->steps.size() != 1) return false;
  const lake::CommittedStep& step = commit->steps.front();
  if (step.definition != work.step->fingerprint || step.arguments_hash != work.step->arguments_hash) return false;
  const auto content = build::content_from_json(step.content);
  if (!content || *content != work.stage->content) return false;
  work.report.status = Status::Unchanged;
  work.report.reason = fmt::format("run {} delivered these rows already, and its answer was lost", row->run);
  work.report.rows = work.stage->content.rows;
  work.report.counts.inserted = 0;
  report_schema(work, work.stage->columns);
  return true;
}

deliver::DeliveryRow row_of(Session& session, StepWork& work) {
  const Model& model = *work.step->model;
  const std::string token = token_of(session.run, model);
  lake::CommitRecord record{
      .weir = WEIR_VERSION, .token = token, .run = session.run, .environment = session.options.environment};
  record.steps.push_back(commit_step(work));
  return {token, model.path, session.run, session.options.environment, state::now_text(), record.to_json()};
}

Result<void> check_fence(Session& session, const StepWork& work) {
  if (session.stop.load())
    return fail(Diagnostic{.code = Code::W7010, .message = "interrupted before it was delivered"});
  if (!work.lease) return {};
  return session.store.check({*work.lease});
}

Result<void> deliver_table(Session& session, StepWork& work, duck::Connection& clean) {
  const Model& model = *work.step->model;
  WEIR_TRY(const lake::Outlet outlet, session.lakes.outlet(model.target->place));
  const auto target = deliver::Target::of(outlet, model, session.project.config.samples);
  {
    // A look at the target makes all connections see its tables as this one does, also one that is just making some.
    const auto turn = session.lakes.take_turn(outlet);
    WEIR_TRY(work.target, target->observe(clean));
  }
  WEIR_CHECK(stage_rows(session, work, clean, target->holder()));
  const bool keeps_ledger = model.strategy == Strategy::Append && model.ledger;
  if (keeps_ledger) {
    WEIR_CHECK(build::add_hashes(clean, *work.stage));
    const auto turn = session.lakes.take_turn(outlet);
    WEIR_TRY(const bool delivered, was_delivered(session, work, *target, clean));
    if (delivered) return {};
  }
  WEIR_TRY(duck::Connection writer, session.lakes.connect());
  const Running::Watch watch(session.running, label_of(work), "delivering", writer);
  const auto begin = steady_clock::now();
  publish::PrepareRequest prepare = prepare_request(session, work);
  prepare.attached = target->table();
  prepare.rebuild = false;
  prepare.recorded.reset();
  const deliver::DeliveryRequest request{.prepare = prepare,
                                         .audit = [&](const publish::Effect& effect) -> Result<void> {
                                           take_effect(work, effect);
                                           return audit_effect(session, work, clean);
                                         },
                                         .check_fence = [&] { return check_fence(session, work); },
                                         .note = [&](const publish::Effect&) { return row_of(session, work); }};
  const auto turn = session.lakes.take_turn(outlet);
  auto effect = deliver::deliver(clean, writer, *target, request);
  work.report.ms.commit = millis_since(begin) - work.report.ms.audit;
  if (!effect) return fail(std::move(effect).error());
  take_effect(work, *effect);
  work.report.notes.insert(work.report.notes.end(), effect->warnings.begin(), effect->warnings.end());
  work.report.status = effect->changes ? Status::Materialized : Status::Unchanged;
  work.report.reason = effect->changes ? "" : "the result equals what the table holds";
  if (effect->changes && keeps_ledger) work.token = token_of(session.run, model);
  return {};
}

PathValues path_values(const Session& session, const StepWork& work) {
  const auto now =
      std::chrono::sys_time<std::chrono::microseconds>(std::chrono::microseconds(session.effective_micros));
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  return {date::format("%F", seconds), date::format("%FT%H-%M-%S", seconds), session.options.environment,
          work.step->slice};
}

Result<void> deliver_file(Session& session, StepWork& work, duck::Connection& clean) {
  const Model& model = *work.step->model;
  work.target = {};
  WEIR_CHECK(stage_rows(session, work, clean, build::Holder::File));
  WEIR_TRY(duck::Connection connection, session.lakes.connect());
  const Running::Watch watch(session.running, label_of(work), "writing the file", connection);
  const auto begin = steady_clock::now();
  auto delivered = deliver::put_file(connection, {.model = model,
                                                  .stage = *work.stage,
                                                  .config = session.project.config,
                                                  .values = path_values(session, work),
                                                  .run = session.run,
                                                  .check_fence = [&] { return check_fence(session, work); }});
  work.report.ms.commit = millis_since(begin);
  if (!delivered) return fail(std::move(delivered).error());
  work.report.status = Status::Materialized;
  work.report.reason = "";
  work.report.rows = work.stage->content.rows;
  work.report.counts.inserted = work.stage->content.rows;
  work.report.bytes = delivered->bytes;
  report_schema(work, work.stage->columns);
  return {};
}

}  // namespace

void deliver_step(Session& session, StepWork& work, duck::Connection& clean) {
  const bool is_file = work.step->model->plane == Plane::File;
  auto done = is_file ? deliver_file(session, work, clean) : deliver_table(session, work, clean);
  if (!done) {
    Diagnostics problems = std::move(done).error();
    for (Diagnostic& problem : problems) {
      if (!problem.path.empty()) continue;
      problem.path = work.step->model->source->path;
      problem.span = work.step->model->target_span;
    }
    fail_step(session, work, std::move(problems));
  }
  if (work.effect) publish::discard(clean, *work.effect);
  if (work.stage) build::discard(clean, *work.stage, false);
  // Only what the record needs stays.
  work.stage.reset();
  failpoint("before_record");
}

}  // namespace weir::run
