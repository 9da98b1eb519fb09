#include "run/batch.h"

#include "lake/lakes.h"
#include "plan/many_partitions.h"
#include "run/rendered.h"
#include "run/session.h"

namespace weir::run {

Batch::Batch(std::vector<std::string> partitions) : partitions_(std::move(partitions)) {
  for (std::size_t i = 0; i < partitions_.size(); ++i) places_.emplace(partitions_[i], i);
}

std::optional<duck::Sql> Batch::rows_of(Session& session, StepWork& work) {
  const std::lock_guard lock(mutex_);
  if (!is_tried_) {
    is_tried_ = true;
    auto done = gather(session, work);
    if (done && *done) {
      gathered_ = std::move(*done);
      is_gathered_.store(true);
    } else if (!done && !session.stop.load()) {
      session.listener.message(work.step->model->path +
                               ": each partition is computed by itself: " + done.error().front().message);
    }
  }
  if (!gathered_) return std::nullopt;
  work.report.inputs = inputs_;
  work.file_inputs = file_inputs_;
  return gathered_->rows_of(places_.at(work.step->slice));
}

Result<std::optional<build::Gathered>> Batch::gather(Session& session, const StepWork& work) {
  const Model& model = *work.step->model;
  plan::Step any = *work.step;
  any.slice = plan::kAnyPartition;
  StepWork probe;
  probe.step = &any;
  note_files(session, probe);
  WEIR_CHECK(open_datatables(session, probe));
  WEIR_TRY(duck::Connection connection, session.lakes.connect());
  const Running::Watch watch(session.running, model.path, "computing all", connection);
  Reading reading;
  WEIR_CHECK(begin(reading, connection));
  WEIR_TRY(Rendered rendered, pin_and_render(session, probe, connection, reading));
  const plan::ManyQuery many =
      plan::many_query(connection, rendered.query, rendered.setup, plan::names_of(model, partitions_));
  if (many.sql.empty()) return std::nullopt;  // --explain says why
  WEIR_TRY(build::Gathered gathered, build::gather(connection, {.model = model,
                                                                .lake = session.lake_of(model),
                                                                .run = session.run,
                                                                .step = work.step->id,
                                                                .setup = std::move(rendered.setup),
                                                                .query = parse::Spliced::generated(many.sql),
                                                                .partition_column = std::string(plan::kPartitionOfRow),
                                                                .partitions = partitions_}));
  if (auto done = reading->commit(); !done)
    return fail(lake::explain(Code::W4001, "cannot keep the rows of many partitions", done.error()));
  inputs_ = std::move(probe.report.inputs);
  file_inputs_ = std::move(probe.file_inputs);
  return std::optional(std::move(gathered));
}

void Batch::release(duck::Connection& clean) {
  // It lies in memory and goes with the instance: what cannot be dropped costs nothing but that.
  if (gathered_) (void)clean.execute(duck::Sql("DROP TABLE IF EXISTS {}", gathered_->table));
}

}  // namespace weir::run
