#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <set>

#include "audit/audit.h"
#include "base/failpoint.h"
#include "build/files.h"
#include "io/clock.h"
#include "plan/partitions.h"
#include "project/validity.h"
#include "project/window_rows.h"
#include "run/rendered.h"
#include "run/step.h"
#include "text/lexer.h"

namespace weir::run {
namespace {

using std::chrono::steady_clock;

std::string label_of(const StepWork& work) {
  return work.step->slice.empty() ? work.step->model->path
                                  : fmt::format("{} [{}]", work.step->model->path, work.step->slice);
}

Diagnostic engine_failure(const std::string& doing, const duck::Failure& failure) {
  return lake::explain(Code::W4001, doing, failure);
}

/// True if the lake certainly does not hold the asset.
bool is_missing(const Session& session, const Asset& asset) {
  if (asset.kind != AssetKind::Lake) return false;
  const lake::Lake& lake = session.lakes.lake(asset.place);
  auto connection = session.lakes.connect();
  if (!connection) return false;
  const auto version = lake.newest_version(*connection);
  if (!version) return false;
  const auto states = lake.observe(*connection, {asset}, *version);
  return states && !states->at(asset.key()).exists;
}

/// A table that the engine did not find is said in the words of the project: which asset, and which model would make
/// it.
Diagnostics in_project_words(const Session& session, const Model& model, Diagnostics problems) {
  for (Diagnostic& problem : problems) {
    for (const Reference& reference : model.references) {
      const Source& source = reference.macro ? *model.macros[*reference.macro].source : *model.source;
      const bool is_here = problem.code == Code::W4001 && problem.path == source.path &&
                           problem.span.begin >= reference.span.begin && problem.span.begin < reference.span.end;
      if (!is_here || !is_missing(session, reference.asset)) continue;
      const Model* producer = session.graph.producer(reference.asset);
      problem.span = reference.span;
      problem.message = (producer == nullptr ? reference.asset : producer->relation).uri() + " does not exist yet";
      problem.hint = producer == nullptr  ? "no model of the project produces it"
                     : producer == &model ? "the query reads the table that it writes, and nothing has made it yet; "
                                            "name its columns with their types under `columns:` in a block header, "
                                            "and the first run reads an empty table"
                                          : "run the model that produces it first: weir run " + producer->path;
    }
  }
  return problems;
}

/// What the step computes: its query, or its rows among those that one query computed for many slices.
Result<Rendered> render_step(Session& session, StepWork& work, duck::Connection& connection, Reading& reading) {
  if (const auto batch = session.batches.find(work.step->model->path); batch != session.batches.end()) {
    if (const auto rows = batch->second->rows_of(session, work)) {
      Rendered rendered;
      rendered.query = parse::Spliced::generated(*rows);
      return rendered;
    }
  }
  return pin_and_render(session, work, connection, reading);
}

/// True for a model of one query: it leaves no temporary objects, no settings and no macros behind. A partitioned one
/// may be given macros.
bool leaves_no_trace(const Model& model) {
  return model.script.statements.size() == 1 && model.macros.empty() && !model.partitioning;
}

/// Wall time that the windows hold; the most there is where they are open or none.
std::chrono::seconds length_of(const std::string& slice) {
  const auto windows = calendar::Windows::parse(slice);
  auto length = std::chrono::seconds(0);
  if (!windows) return std::chrono::seconds::max();
  for (const calendar::Window& part : windows->parts()) {
    if (part.begin == calendar::kEver || part.end == calendar::kForEver) return std::chrono::seconds::max();
    length += part.end - part.begin;
  }
  return length;
}

/// Rows that the slice is expected to have: those that it had, or those of windows at least as long, if they were no
/// file's worth. Nothing where the engine has to estimate.
std::optional<std::int64_t> earlier_rows(const Session& session, const StepWork& work) {
  const std::string key = work.step->model->target->key();
  if (const state::SliceRecord* earlier = session.world.slice(key, work.step->slice)) return earlier->rows;
  if (!is_windowed(*work.step->model)) return std::nullopt;
  const auto& slices = session.world.slices;
  const auto length = length_of(work.step->slice);
  std::optional<std::int64_t> most;
  for (auto at = slices.lower_bound({key, ""}); at != slices.end() && at->first.first == key; ++at)
    if (at->second.rows && length_of(at->first.second) >= length) most = std::max(most.value_or(0), *at->second.rows);
  return most && *most < build::kRowsWorthFiles ? most : std::nullopt;
}

Result<build::Stage> compute_on(Session& session, StepWork& work, duck::Connection& connection, build::Holder holder) {
  const Model& model = *work.step->model;
  const Running::Watch watch(session.running, label_of(work), "computing", connection);
  Reading reading;
  if (!leaves_no_trace(model)) WEIR_CHECK(begin(reading, connection));
  WEIR_TRY(Rendered rendered, render_step(session, work, connection, reading));
  work.setup = std::move(rendered.test_setup);
  work.view_sql = std::move(rendered.view_sql);
  build::StageRequest request{
      .model = model,
      .partition = model.partitioning ? work.step->slice : std::string(),
      .windows = is_windowed(model) ? work.step->slice : std::string(),
      .run = session.run,
      .step = work.step->id,
      .setup = std::move(rendered.setup),
      .query = std::move(rendered.query),
      .target = work.target,
      .lake = session.lake_of(model),
      .holder = holder,
      .earlier_rows = earlier_rows(session, work),
      .times = rendered.times,
      .largest_stage = rendered.largest_stage,
      .without_rows = model.plane == Plane::View && model.tests.empty(),
      .follows_query = holder == build::Holder::Lake &&
                       (session.options.full_refresh || (model.strategy == Strategy::Replace && !model.partitioning)),
      .scratch_folder = session.project.config.temp_folder,
      .samples = session.project.config.samples,
      .private_columns = session.project.config.private_columns};
  auto computed = build::compute(connection, request);
  if (!computed) return fail(in_project_words(session, model, std::move(computed).error()));
  build::Stage stage = std::move(*computed);
  if (reading)
    if (auto done = reading->commit(); !done) return fail(engine_failure("cannot keep the stage", done.error()));
  return stage;
}

/// A connection of its own is made for what a later step must not see, and only for that.
Result<build::Stage> compute_stage(Session& session, StepWork& work, duck::Connection& clean, build::Holder holder) {
  WEIR_CHECK(open_datatables(session, work));
  if (leaves_no_trace(*work.step->model)) return compute_on(session, work, clean, holder);
  WEIR_TRY(duck::Connection connection, session.lakes.connect());
  return compute_on(session, work, connection, holder);
}

/// Content of the slice that the ledger proves for the target's current version.
std::optional<build::Content> recorded_content(const Session& session, const StepWork& work) {
  const state::SliceRecord* record = session.world.slice(work.step->model->target->key(), work.step->slice);
  if (record == nullptr || !work.target.exists || record->content.empty()) return std::nullopt;
  if (!record->snapshot_id || *record->snapshot_id != work.target.version) return std::nullopt;
  return build::content_from_json(record->content);
}

/// True if the slice was last built, by this very definition, from the same tables.
bool reads_the_same(const Session& session, const StepWork& work) {
  const state::SliceRecord* record = session.world.slice(work.step->model->target->key(), work.step->slice);
  if (record == nullptr || record->fingerprint != work.step->fingerprint) return false;
  std::set<std::string> then;
  for (const state::InputRecord& input : record->inputs)
    if (input.asset.starts_with("ducklake:")) then.insert(input.asset);
  std::set<std::string> now;
  for (const Input& input : work.report.inputs) now.insert(input.asset.key());
  return then == now;
}

Result<void> observe_target(Session& session, StepWork& work, duck::Connection& connection) {
  const Asset& target = *work.step->model->target;
  const lake::Lake& lake = session.lake_of(*work.step->model);
  WEIR_TRY(const std::int64_t version, lake.newest_version(connection));
  WEIR_TRY(auto states, lake.observe(connection, {target}, version));
  work.target = std::move(states.at(target.key()));
  return {};
}

Result<void> prepare_effect(Session& session, StepWork& work, duck::Connection& clean) {
  const Running::Watch watch(session.running, label_of(work), "comparing", clean);
  if (work.effect) publish::discard(clean, *work.effect);
  WEIR_TRY(work.effect, publish::prepare(clean, prepare_request(session, work)));
  work.report.counts = work.effect->counts;
  work.report.rows = work.effect->rows;
  work.report.output_schema.clear();
  for (const lake::ColumnState& column : work.effect->columns)
    if (column.name != lake::kPartitionColumn) work.report.output_schema.push_back({column.name, column.type});
  return {};
}

/// Where the audit reads an asset: as the step itself would. The after-image of the step's own target is given
/// separately.
Result<duck::Sql> audit_relation(Session& session, const Asset& named) {
  const Asset asset = session.placed.where(named);
  if (asset.kind == AssetKind::Datatable) {
    WEIR_TRY(const duck::TableName table, session.lakes.datatable(asset.place, asset.schema, asset.name));
    return duck::Sql("{}", table);
  }
  const std::shared_lock lock(session.images.mutex());
  // The clean connection reads the newest version.
  if (auto image = session.images.find(asset, std::numeric_limits<std::int64_t>::max())) return image->relation;
  return duck::Sql("{}", session.lakes.lake(asset.place).readable(asset.schema, asset.name));
}

Result<void> audit_relations(Session& session, StepWork& work, duck::Connection& clean, duck::Sql slice,
                             duck::Sql table, audit::Audited audited) {
  const Model& model = *work.step->model;
  if (model.tests.empty()) {
    // A contract alone was judged when the model was bound.
    work.passed_tests = !work.step->tests.empty();
    return {};
  }
  const Running::Watch watch(session.running, label_of(work), "auditing", clean);
  const auto begin = steady_clock::now();
  const Config& config = session.project.config;
  const audit::AuditRequest request{
      .model = model,
      .slice = std::move(slice),
      .table = std::move(table),
      .columns = work.effect ? work.effect->columns : work.target.columns,
      .partition = work.step->slice,
      .resolve = [&session](const Asset& asset) { return audit_relation(session, asset); },
      .setup = work.setup,
      .samples = config.samples,
      .private_columns = config.private_columns,
      .stop = &session.stop};
  auto verdicts = audit::audit(
      clean, [&session] { return session.lakes.connect(); }, request);
  work.report.ms.audit += millis_since(begin);
  if (!verdicts) return fail(std::move(verdicts).error());
  work.report.tests = std::move(*verdicts);
  work.passed_tests = !audit::stops(work.report.tests, model);
  if (work.passed_tests) return {};
  Diagnostic found{.code = Code::W5001, .path = model.source->path};
  found.message = audit::failure_message(work.report.tests, model, work.step->slice, audited);
  return fail(std::move(found));
}

}  // namespace

Result<void> stage_rows(Session& session, StepWork& work, duck::Connection& clean, build::Holder holder) {
  note_files(session, work);
  const auto begin = steady_clock::now();
  auto stage = compute_stage(session, work, clean, holder);
  work.report.ms.compute = millis_since(begin);
  failpoint("after_stage");
  if (!stage) return fail(std::move(stage).error());
  work.stage = std::move(*stage);
  work.report.bytes = work.stage->bytes;
  work.report.notes.insert(work.report.notes.end(), work.stage->notes.begin(), work.stage->notes.end());
  if (work.stage->drift.any()) work.report.drift = work.stage->drift;
  return {};
}

Result<void> audit_effect(Session& session, StepWork& work, duck::Connection& clean) {
  return audit_relations(session, work, clean, work.effect->slice_image, work.effect->table_image,
                         audit::Audited::HeldBack);
}

namespace {

/// The least and the greatest time of a stage of windows, as far as it was told with the rows.
std::optional<std::pair<std::string, std::string>> times_of(const build::Stage& stage, const Model& model) {
  if (!is_windowed(model)) return std::nullopt;
  for (const auto& [name, sums] : stage.content.columns)
    if (text::same_word(name, model.time_column) && sums.minimum && sums.maximum)
      return std::pair(*sums.minimum, *sums.maximum);
  return std::nullopt;
}

/// Readers of the run may read the step's after-image from now on, and no earlier one.
void show_image(Session& session, const StepWork& work) {
  const Model& model = *work.step->model;
  const bool stands_alone = model.strategy == Strategy::Replace && !model.partitioning;
  // Of several slices none is the table as it will be: their readers wait for the commits.
  if (work.step->has_siblings) return;
  // Nothing was computed: its readers take its query.
  if (model.plane == Plane::View && model.tests.empty()) return;
  const std::unique_lock lock(session.images.mutex());
  session.images.remove_step(work.step->id);
  if (!work.effect->changes && !stands_alone) return;  // the committed table is what it will be
  std::optional<std::int64_t> rows;
  if (stands_alone) rows = work.stage->content.rows;
  const auto base = stands_alone ? std::nullopt : std::optional(work.effect->target_version);
  session.images.add(*model.target,
                     {work.step->id, work.effect->table_image, stands_alone, rows, times_of(*work.stage, model), base});
  if (!model.is_history() || model.plane != Plane::Managed) return;
  Asset current = *model.target;
  current.name += "_current";
  session.images.add(current, {work.step->id, work.effect->slice_image, false, {}, {}, base});
}

Result<void> build(Session& session, StepWork& work, duck::Connection& clean) {
  const Model& model = *work.step->model;
  work.target = session.targets.at(model.target->key());
  WEIR_CHECK(stage_rows(session, work, clean, build::Holder::Lake));
  WEIR_CHECK(prepare_effect(session, work, clean));
  failpoint("before_audit");
  work.report.notes.insert(work.report.notes.end(), work.effect->warnings.begin(), work.effect->warnings.end());
  if (!audits_after(session, model)) WEIR_CHECK(audit_effect(session, work, clean));
  return {};
}

}  // namespace

publish::PrepareRequest prepare_request(Session& session, StepWork& work) {
  const Model& model = *work.step->model;
  return {.model = model,
          .stage = *work.stage,
          .lake = session.lake_of(model),
          .target = work.target,
          .recorded = recorded_content(session, work),
          .effective_micros = session.effective_micros,
          .always_commit = session.project.config.always_commit,
          .rebuild = session.options.full_refresh,
          .view_sql = work.view_sql,
          .is_view_current = model.plane == Plane::View && reads_the_same(session, work),
          .samples = session.project.config.samples,
          .private_columns = session.project.config.private_columns,
          .prefix = fmt::format("e{}", work.step->id)};
}

bool audits_after(const Session& session, const Model& model) {
  return model.audit ? *model.audit == AuditWhen::After : session.project.config.audit_after;
}

std::int64_t millis_since(steady_clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - begin).count();
}

void fail_step(Session& session, StepWork& work, Diagnostics problems) {
  work.report.status = session.stop.load() ? Status::Cancelled : Status::Failed;
  work.report.error.clear();
  for (const Diagnostic& problem : problems)
    work.report.error += (work.report.error.empty() ? "" : "\n") + problem.message;
  work.report.reason = session.stop.load() ? "interrupted" : work.report.error.substr(0, work.report.error.find('\n'));
  if (!work.report.snapshot_id) {
    // Nothing was written: what would have been is no count.
    work.report.rows.reset();
    work.report.counts = {};
  }
  work.report.errors = std::move(problems);
}

void build_step(Session& session, StepWork& work, duck::Connection& clean) {
  if (auto done = build(session, work, clean); !done) {
    fail_step(session, work, std::move(done).error());
    if (work.effect) publish::discard(clean, *work.effect);
    if (work.stage) build::discard(clean, *work.stage, false);
    work.effect.reset();
    work.stage.reset();
    return;
  }
  work.report.status = work.effect->changes ? Status::Materialized : Status::Unchanged;
  if (!audits_after(session, *work.step->model)) show_image(session, work);
}

Result<void> prepare_again(Session& session, StepWork& work, duck::Connection& clean) {
  if (plan::reads_itself(*work.step->model)) {
    // Nobody has read the image yet, see Scheduler::inputs_of_step().
    const std::unique_lock images(session.images.mutex());
    session.images.remove_step(work.step->id);
  }
  WEIR_CHECK(observe_target(session, work, clean));
  if (plan::reads_itself(*work.step->model)) {
    publish::discard(clean, *work.effect);
    build::discard(clean, *work.stage, false);
    work.effect.reset();
    work.stage.reset();
    work.report.notes.clear();
    work.file_inputs.clear();
    WEIR_CHECK(stage_rows(session, work, clean, build::Holder::Lake));
  }
  WEIR_CHECK(prepare_effect(session, work, clean));
  if (audits_after(session, *work.step->model)) return {};
  WEIR_CHECK(audit_effect(session, work, clean));
  show_image(session, work);
  return {};
}

namespace {

/// The rows of the step's windows in the committed table.
std::optional<duck::Sql> rows_of_windows(const StepWork& work, const duck::TableName& table) {
  const Model& model = *work.step->model;
  const lake::ColumnState* const time = work.target.column(model.time_column);
  if (time == nullptr || !has_time(time->type)) return std::nullopt;
  const auto condition = in_windows(model, work.step->slice, duck::Sql("{}", duck::Identifier(time->name)), time->type);
  if (!condition) return std::nullopt;
  return duck::Sql("(SELECT * FROM {} WHERE {})", table, *condition);
}

}  // namespace

void audit_published(Session& session, StepWork& work, duck::Connection& clean) {
  const Model& model = *work.step->model;
  const duck::TableName table = session.lake_of(model).readable(model.target->schema, model.target->name);
  duck::Sql slice("{}", table);
  if (model.partitioning)
    slice = duck::Sql("(SELECT * FROM {} WHERE {} = {})", table, duck::Identifier(std::string(lake::kPartitionColumn)),
                      duck::Literal(work.step->slice));
  if (model.is_history()) slice = duck::Sql("(SELECT * FROM {} WHERE {})", table, validity_columns(model).is_live());
  if (is_windowed(model) && replaces_part(model))
    if (auto rows = rows_of_windows(work, table)) slice = std::move(*rows);
  const auto audited = work.published ? audit::Audited::Published : audit::Audited::AsItWas;
  if (auto done = audit_relations(session, work, clean, slice, duck::Sql("{}", table), audited); !done)
    fail_step(session, work, std::move(done).error());
}

void audit_as_it_is(Session& session, StepWork& work, duck::Connection& clean) {
  const auto prepare = [&]() -> Result<void> {
    WEIR_CHECK(observe_target(session, work, clean));
    WEIR_CHECK(open_datatables(session, work));
    WEIR_TRY(duck::Connection connection, session.lakes.connect());
    Reading reading;
    WEIR_CHECK(begin(reading, connection));
    WEIR_TRY(const Rendered rendered, pin_and_render(session, work, connection, reading));
    work.setup = rendered.setup;
    return {};
  };
  work.report.status = Status::Fresh;
  const bool has_tests = !work.step->model->tests.empty();
  work.report.reason = std::string(has_tests ? "its tests ran again" : "its contract was checked again") +
                       ", nothing that it depends on has changed";
  if (auto done = prepare(); !done) return fail_step(session, work, std::move(done).error());
  audit_published(session, work, clean);
}

}  // namespace weir::run
