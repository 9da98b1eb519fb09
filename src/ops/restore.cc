#include "ops/restore.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "base/failpoint.h"
#include "build/names.h"
#include "calendar/partition.h"
#include "lake/commit.h"
#include "lake/strays.h"
#include "ops/restored_slices.h"
#include "plan/fingerprint.h"
#include "plan/plan.h"
#include "publish/restore.h"
#include "run/ledger.h"
#include "run/open_run.h"
#include "run/recovery.h"
#include "run/test_tables.h"
#include "state/liveness.h"

namespace weir::ops {
namespace {

/// How often others may write to the table while it is restored.
constexpr int kMostPreparations = 5;

Failed not_restorable(std::string message, std::string hint) {
  return fail(Diagnostic{.code = Code::W6604, .message = std::move(message), .hint = std::move(hint)});
}

/// The managed model that writes the asset. Models with faults count too: to put rows back none is run.
Result<const Model*> model_of(Workspace& workspace, const Asset& asset) {
  WEIR_TRY(const Project* project, workspace.project());
  for (const Model& model : project->models) {
    if (!model.target) continue;
    Asset current = *model.target;
    current.name += "_current";
    if (model.is_history() && current == asset)
      return not_restorable(fmt::format("{} is the view of current rows of {}", asset.uri(), model.target->uri()),
                            fmt::format("restore the history: weir restore {} …", model.path));
    if (!(*model.target == asset)) continue;
    if (model.plane == Plane::Managed) return &model;
    return not_restorable(
        fmt::format("{} is written by {}, of the plane {}", asset.uri(), model.path, name_of(model.plane)),
        model.plane == Plane::Manual ? "its script can put rows back itself: read them with AT (VERSION => n)" : "");
  }
  return not_restorable(fmt::format("no model writes {}", asset.uri()), "");
}

/// What is to be restored, found and checked on readers alone.
struct Found {
  const Model* model = nullptr;
  const lake::Lake* lake = nullptr;
  std::int64_t version = 0;
  lake::PastTable past;
  RestoreReport report;
};

class Restore {
 public:
  Restore(Workspace& workspace, const RestoreRequest& request, const Project& project, lake::Lakes& lakes,
          duck::Connection& clean)
      : workspace_(workspace), request_(request), project_(project), lakes_(lakes), clean_(clean) {}

  Result<void> find() {
    WEIR_TRY(const Asset named, workspace_.asset_named(request_.asset));
    if (named.kind != AssetKind::Lake || project_.config.lake(named.place) == nullptr)
      return not_restorable(fmt::format("{} lies in no lake of this project", named.uri()), "");
    WEIR_TRY(const Asset asset, workspace_.located(named));
    found_.lake = &lakes_.lake(asset.place);
    WEIR_CHECK(require_table(asset, named));
    WEIR_TRY(found_.model, model_of(workspace_, named));
    WEIR_CHECK(enter_environment(asset));
    WEIR_TRY(found_.version, wanted_version(asset));
    WEIR_CHECK(lake::require_version(clean_, *found_.lake, found_.version));
    WEIR_TRY(found_.past, lake::table_at(clean_, *found_.lake, asset, found_.version));
    found_.report.asset = asset.uri();
    found_.report.model = found_.model->path;
    found_.report.version = found_.version;
    WEIR_TRY(found_.report.time, time_of(found_.version));
    return {};
  }

  /// Works out what changes against the table as it is now.
  Result<void> prepare() {
    if (restoration_) publish::discard(clean_, restoration_->effect);
    restoration_.reset();
    auto transaction = duck::Transaction::begin(clean_);
    if (!transaction) return engine_failure("cannot begin to read", transaction.error());
    WEIR_TRY(const std::int64_t newest, found_.lake->current_version(clean_));
    WEIR_TRY(now_, lake::table_at(clean_, *found_.lake, target(), newest));
    if (request_.agreed && *request_.agreed != now_.state.version)
      return fail(Diagnostic{.code = Code::W6611,
                             .message = fmt::format("{} was written in version {}, after the difference was shown",
                                                    target().uri(), now_.state.version),
                             .hint = "look at the difference again"});
    WEIR_TRY(restoration_, publish::prepare_restore(clean_, {.model = *found_.model,
                                                             .lake = *found_.lake,
                                                             .target = now_.state,
                                                             .past = found_.past,
                                                             .version = found_.version,
                                                             .prefix = "restore"}));
    if (auto done = transaction->commit(); !done) return engine_failure("cannot keep the difference", done.error());
    return take_slices();
  }

  /// Tests the rows as they will be, before anybody sees them.
  Result<void> audit() {
    RestoreReport& report = found_.report;
    is_untested_ = false;
    if (found_.model->tests.empty() || report.is_unchanged) return {};
    const publish::Effect& effect = restoration_->effect;
    WEIR_TRY(
        report.tests,
        run::test_relation(
            project_, placed_ == nullptr ? env::Placed() : *placed_, *found_.model, lakes_, clean_,
            {.slice = effect.slice_image, .table = effect.table_image, .columns = effect.columns, .partition = {}}));
    if (!audit::stops(report.tests, *found_.model)) {
      // A partition's tests may be others than those of the whole table: what is known of them stays as it was.
      if (found_.model->partitioning) return {};
      if (const auto graph = workspace_.sound_graph())
        tests_ = plan::test_fingerprints(**graph, project_.custom_tests)[found_.model->path];
      return {};
    }
    const std::string what = audit::failure_message(report.tests, *found_.model, {}, audit::Audited::HeldBack);
    if (!request_.force)
      return fail(
          Diagnostic{.code = Code::W6609,
                     .message = fmt::format("the rows of version {} do not pass the tests: {}", found_.version, what),
                     .hint = "--force restores them all the same"});
    is_untested_ = true;
    note(Code::W6610, Severity::Warning,
         fmt::format("restored although the tests fail on the rows of version {}", found_.version),
         fmt::format("`weir test {}` shows them", found_.model->path));
    return {};
  }

  Result<RestoreReport> execute(state::Store& store, run::Listener& listener, const std::atomic<bool>& stop);

  const RestoreReport& report() const { return found_.report; }

 private:
  const Asset& target() const { return *found_.model->target; }

  /// In an environment other than prod the table must be its own; the model is then the one that writes and tests it.
  Result<void> enter_environment(const Asset& asset) {
    if (workspace_.environment() == env::kProd) return {};
    WEIR_TRY(const std::string owner, workspace_.owner_of(asset));
    if (owner != workspace_.environment())
      return not_restorable(fmt::format("{} has no rows of its own in {}, which reads those of {}", found_.model->path,
                                        workspace_.environment(), owner),
                            "restore them there");
    WEIR_TRY(placed_, workspace_.placed());
    found_.model = &placed_->graph->models()[placed_->graph->index_of(found_.model->path)];
    return {};
  }

  static Failed engine_failure(const std::string& doing, const duck::Failure& failure) {
    return fail(lake::explain(Code::W6020, doing, failure));
  }

  void note(Code code, Severity severity, std::string message, std::string hint = {}) {
    found_.report.notes.push_back(
        {.code = code, .severity = severity, .message = std::move(message), .hint = std::move(hint)});
  }

  Result<void> require_table(const Asset& asset, const Asset& named) {
    WEIR_TRY(const std::int64_t newest, found_.lake->newest_version(clean_));
    WEIR_TRY(const auto states, found_.lake->observe(clean_, {asset}, newest));
    const lake::TableState& now = states.at(asset.key());
    if (!now.exists)
      return fail(Diagnostic{.code = Code::W2012,
                             .message = fmt::format("{} does not exist", asset.uri()),
                             .hint = workspace_.hint_for(request_.asset)});
    if (!now.is_view) return {};
    WEIR_CHECK(model_of(workspace_, named));
    return not_restorable(fmt::format("{} is a view", asset.uri()), "restore the tables that it reads");
  }

  Result<std::int64_t> wanted_version(const Asset& asset) {
    const int given = (request_.version ? 1 : 0) + (request_.run ? 1 : 0) + (request_.before ? 1 : 0);
    if (given != 1)
      return fail(Diagnostic{.code = Code::W6606,
                             .message = given == 0 ? "no version is named" : "more than one version is named",
                             .hint = "say one of --version N, --run ID and --before TIME"});
    if (request_.version) return *request_.version;
    if (request_.run) return lake::version_of_run(clean_, *found_.lake, *request_.run, asset);
    const auto time = calendar::parse_instant(*request_.before);
    if (!time)
      return fail(
          Diagnostic{.code = Code::W6606, .message = time.error().front().message, .hint = time.error().front().hint});
    return lake::version_before(clean_, *found_.lake, time->time_since_epoch().count());
  }

  Result<std::string> time_of(std::int64_t version) {
    auto rows = clean_.query(
        duck::Sql("SELECT strftime(snapshot_time::TIMESTAMPTZ AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ') FROM {} "
                  "WHERE snapshot_id = {}",
                  found_.lake->metadata("ducklake_snapshot"), version));
    if (!rows) return engine_failure("cannot read the lake's versions", rows.error());
    return rows->text(0, 0);
  }

  /// Fills the report with what was worked out, and decides what the ledger will say.
  Result<void> take_slices() {
    RestoreReport& report = found_.report;
    report.notes.clear();
    report.table_version = now_.state.version;
    report.is_unchanged = !restoration_->effect.changes;
    report.counts = restoration_->effect.counts;
    report.rows = restoration_->effect.rows;
    report.added_since = restoration_->added_since;
    report.gone_since = restoration_->gone_since;
    report.vouched = 0;
    report.outdated.clear();
    report.missing.clear();
    if (now_.made != found_.past.made)
      note(Code::W6613, Severity::Hint, fmt::format("{} was made anew in version {}", target().uri(), now_.made));
    say_columns();
    slices_.clear();
    if (report.is_unchanged) return {};
    WEIR_TRY(state::Store * store, workspace_.store());
    WEIR_TRY(const std::vector<state::SliceRecord> ledger, store->slices(request_.environment, target().key()));
    WEIR_TRY(slices_, restored_slices(clean_, *found_.lake, target(), ledger, found_.past, found_.version, now_));
    const bool same_columns = report.added_since.empty() && report.gone_since.empty() && !restoration_->is_retyped;
    for (RestoredSlice& slice : slices_) {
      if (!same_columns) slice.step.content.clear();
      if (!slice.step.definition.empty())
        ++report.vouched;
      else
        (slice.is_missing ? report.missing : report.outdated).push_back(slice.step.slice);
    }
    return {};
  }

  void say_columns() {
    const RestoreReport& report = found_.report;
    if (!report.added_since.empty())
      note(Code::W6608, Severity::Warning,
           fmt::format("added since version {}: {}; NULL in the restored rows", found_.version,
                       fmt::join(report.added_since, ", ")));
    if (!report.gone_since.empty())
      note(Code::W6608, Severity::Warning,
           fmt::format("gone since version {}: {}; their values do not come back", found_.version,
                       fmt::join(report.gone_since, ", ")),
           fmt::format("AT (VERSION => {}) reads them", found_.version));
  }

  Result<std::vector<state::Lease>> leases_wanted(state::Store& store, const std::string& run);
  Result<std::optional<std::int64_t>> commit_once(state::Store& store, const std::vector<state::Lease>& leases,
                                                  const std::string& run, const std::atomic<bool>& stop);
  Result<void> write(duck::Connection& writer, const std::vector<state::Lease>& leases, state::Store& store,
                     lake::LakeLock& lock, const std::atomic<bool>& stop);
  lake::CommitRecord commit_record(const std::string& run) const;
  std::string message() const;
  Result<void> record(state::Store& store, const std::string& run, std::int64_t version);
  run::StepReport step_report() const;

  Workspace& workspace_;
  const RestoreRequest& request_;
  const Project& project_;
  lake::Lakes& lakes_;
  duck::Connection& clean_;
  Found found_;
  /// Set in an environment other than prod.
  const env::Placed* placed_ = nullptr;
  lake::PastTable now_;
  std::optional<publish::Restoration> restoration_;
  std::vector<RestoredSlice> slices_;
  /// The rows fail the tests, and come back all the same.
  bool is_untested_ = false;
  /// What the tests say that the rows passed, where all of the table is one slice.
  std::string tests_;
  std::string token_;
  std::string started_ = state::now_text();
};

/// Every slice that the ledger knows, and every partition that the table holds now or held then.
Result<std::vector<state::Lease>> Restore::leases_wanted(state::Store& store, const std::string& run) {
  std::set<std::string> slices;
  WEIR_TRY(const std::vector<state::SliceRecord> ledger, store.slices(request_.environment, target().key()));
  for (const state::SliceRecord& slice : ledger) slices.insert(slice.slice);
  if (found_.past.state.is_partitioned()) {
    const duck::TableName table = found_.lake->readable(target().schema, target().name);
    const duck::Identifier partition{std::string(lake::kPartitionColumn)};
    auto rows =
        clean_.query(duck::Sql("SELECT DISTINCT {} FROM {} AT (VERSION => {})", partition, table, found_.version));
    if (!rows) return engine_failure("cannot read the partitions", rows.error());
    for (std::size_t i = 0; i < rows->size(); ++i) slices.insert(rows->text(i, 0));
  }
  if (slices.empty()) slices.insert("");
  std::vector<state::Lease> wanted;
  for (const std::string& slice : slices) {
    state::Lease lease{.asset = target().key(), .slice = slice, .run = run, .host = state::host_identity()};
    lease.pid = ::getpid();
    wanted.push_back(std::move(lease));
  }
  return wanted;
}

lake::CommitRecord Restore::commit_record(const std::string& run) const {
  lake::CommitRecord record{.weir = WEIR_VERSION, .token = token_, .run = run, .environment = request_.environment};
  for (const RestoredSlice& slice : slices_) {
    lake::CommittedStep& step = record.steps.emplace_back(slice.step);
    if (step.definition.empty() || (!is_untested_ && tests_.empty())) continue;
    step.inputs.erase(std::string(plan::kTestsInput));
    step.tests_passed = 0;
    if (is_untested_) continue;
    step.inputs.emplace(std::string(plan::kTestsInput), tests_);
    step.tests_passed = static_cast<std::int64_t>(found_.report.tests.size());
  }
  // Nothing: the ledger knows nothing of the table, and shall not learn of a slice that no run made.
  if (record.steps.empty()) return record;
  lake::CommittedStep& first = record.steps.front();
  const publish::Counts& counts = found_.report.counts;
  first.counts["inserted"] = counts.inserted.value_or(0);
  first.counts["deleted"] = counts.deleted.value_or(0);
  if (counts.updated) first.counts["updated"] = *counts.updated;
  return record;
}

std::string Restore::message() const {
  return fmt::format("{} restored to version {}", found_.model->path, found_.version);
}

Result<void> Restore::write(duck::Connection& writer, const std::vector<state::Lease>& leases, state::Store& store,
                            lake::LakeLock& lock, const std::atomic<bool>& stop) {
  failpoint("before_write");
  for (const duck::Sql& statement : restoration_->effect.statements) {
    if (failpoint("write_statement")) return engine_failure("restoring", {duck::FailureType::Io, "failpoint", {}});
    if (auto done = writer.execute(statement); !done)
      return engine_failure("restoring " + target().uri(), done.error());
  }
  failpoint("after_write");
  WEIR_CHECK(store.check(leases));
  if (!lock.is_held())
    return fail(Diagnostic{.code = Code::W6104,
                           .message = fmt::format("the writers' lock of lake {} was lost before the commit; nothing "
                                                  "was restored",
                                                  found_.lake->name())});
  if (stop.load()) return fail(Diagnostic{.code = Code::W7010, .message = "interrupted before it was published"});
  return {};
}

/// One attempt at the commit. Nothing: somebody else wrote to the table since the difference was worked out.
Result<std::optional<std::int64_t>> Restore::commit_once(state::Store& store, const std::vector<state::Lease>& leases,
                                                         const std::string& run, const std::atomic<bool>& stop) {
  failpoint("before_lock");
  WEIR_TRY(auto lock, found_.lake->lock(stop));
  failpoint("after_lock");
  WEIR_TRY(duck::Connection writer, lakes_.connect());
  auto transaction = duck::Transaction::begin(writer);
  if (!transaction) return engine_failure("cannot begin to write", transaction.error());
  WEIR_CHECK(store.check(leases));
  WEIR_TRY(const std::int64_t base, found_.lake->base_version(writer));
  WEIR_TRY(const auto states, found_.lake->observe(clean_, {target()}, base));
  const lake::TableState& now = states.at(target().key());
  if (!now.exists || now.version != now_.state.version) return std::optional<std::int64_t>();
  failpoint("after_begin");
  token_ = state::new_run_id();
  const std::int64_t started =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count() - 1;
  Result<std::optional<std::int64_t>> version;
  if (auto done = write(writer, leases, store, *lock, stop); !done) {
    transaction->rollback();
    version = fail(std::move(done).error());
  } else {
    version = lake::commit(writer, *found_.lake, std::move(*transaction), commit_record(run), lake::author(), message(),
                           base);
    if (version && !*version)
      version =
          fail(Diagnostic{.code = Code::W6007,
                          .message = fmt::format("lake {} made no version of the restored rows", found_.lake->name())});
  }
  // W6008: it may have happened, so its files stay; recovery asks again.
  if (!version && version.error().front().code != Code::W6008)
    WEIR_CHECK(lake::remove_strays(*found_.lake, clean_, now_.state, started));
  failpoint("after_confirm");
  return version;
}

run::StepReport Restore::step_report() const {
  const RestoreReport& report = found_.report;
  run::StepReport step;
  step.model = report.model;
  step.materialized = report.asset;
  step.status = report.is_unchanged ? run::Status::Unchanged : run::Status::Materialized;
  step.reason = report.is_unchanged ? "the table holds the rows of that version" : "";
  step.strategy = "restore";
  step.rows = report.rows;
  step.counts = report.counts;
  step.snapshot_id = report.snapshot_id;
  step.tests = report.tests;
  step.notes = report.notes;
  step.started = started_;
  step.finished = state::now_text();
  for (const lake::ColumnState& column : now_.state.columns)
    if (!build::same_name(column.name, lake::kPartitionColumn))
      step.output_schema.push_back({column.name, column.type});
  return step;
}

Result<void> Restore::record(state::Store& store, const std::string& run, std::int64_t version) {
  state::Store::Outcome outcome;
  const lake::CommitRecord commit = commit_record(run);
  for (const lake::CommittedStep& step : commit.steps)
    outcome.slices.push_back(run::slice_of(commit, step, version, state::now_text()));
  const run::StepReport step = step_report();
  outcome.steps.push_back(
      {.run = run,
       .model = step.model,
       .asset = target().key(),
       .slice = {},
       .status = std::string(run::name_of(step.status)),
       .token = token_,
       .started = step.started,
       .finished = step.finished,
       .result_json = to_json(step).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)});
  for (const audit::Verdict& verdict : found_.report.tests) {
    const nlohmann::json json = run::to_json(verdict);
    outcome.tests.push_back({run, step.model, target().key(), "", verdict.test, json["status"].get<std::string>(),
                             json["severity"].get<std::string>(), verdict.violating, verdict.sample_json, verdict.ms,
                             state::now_text()});
  }
  return store.record(outcome);
}

Result<RestoreReport> Restore::execute(state::Store& store, run::Listener& listener, const std::atomic<bool>& stop) {
  RestoreReport& report = found_.report;
  report.run = state::new_run_id();
  WEIR_TRY(const auto alive, state::RunLock::take(run::locks_folder(project_), report.run));
  run::OpenRun row(store, stop,
                   {.run = report.run,
                    .environment = request_.environment,
                    .status = "running",
                    .started = started_,
                    .command = request_.command,
                    .host = state::host_identity(),
                    .pid = ::getpid(),
                    .result_json = run::kLeavesSlices});
  WEIR_CHECK(row.open());
  failpoint("before_recovery");
  WEIR_CHECK(run::recover(project_, lakes_, store, listener, stop));
  WEIR_TRY(const std::vector<state::Lease> wanted, leases_wanted(store, report.run));
  failpoint("before_claim");
  WEIR_TRY(const run::ClaimedSlices claimed,
           run::claim_slices(project_, lakes_, store, {.wanted = wanted, .no_wait = request_.no_wait}, listener, stop));
  failpoint("after_claim");
  const state::Heartbeat heartbeat(store, report.run);
  for (int preparation = 0; !report.snapshot_id; ++preparation) {
    WEIR_CHECK(prepare());
    WEIR_CHECK(audit());
    if (report.is_unchanged) break;
    WEIR_TRY(report.snapshot_id, commit_once(store, claimed.leases, report.run, stop));
    if (!report.snapshot_id && preparation == kMostPreparations)
      return fail(Diagnostic{
          .code = Code::W6030,
          .message = fmt::format("others kept writing to {} while it was restored; nothing was", target().uri()),
          .hint = "run it again when the other writer is done"});
  }
  failpoint("before_record");
  if (report.snapshot_id) WEIR_CHECK(record(store, report.run, *report.snapshot_id));
  failpoint("after_record");
  run::RunReport result{.run = report.run, .environment = request_.environment, .status = "done", .started = started_};
  result.finished = state::now_text();
  result.steps.push_back(step_report());
  WEIR_CHECK(row.close("done", run::to_json_text(result)));
  return std::move(report);
}

}  // namespace

Result<RestoreReport> preview_restore(Workspace& workspace, const RestoreRequest& request) {
  WEIR_TRY(const Project* project, workspace.project());
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(false));
  WEIR_TRY(duck::Connection clean, lakes->connect());
  Restore restore(workspace, request, *project, *lakes, clean);
  WEIR_CHECK(restore.find());
  WEIR_CHECK(restore.prepare());
  return restore.report();
}

Result<RestoreReport> restore(Workspace& workspace, const RestoreRequest& request, run::Listener& listener,
                              const std::atomic<bool>& stop) {
  WEIR_TRY(const Project* project, workspace.project());
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(true));
  WEIR_TRY(state::Store * store, workspace.store());
  WEIR_TRY(duck::Connection clean, lakes->connect());
  Restore restore(workspace, request, *project, *lakes, clean);
  WEIR_CHECK(restore.find());
  return restore.execute(*store, listener, stop);
}

}  // namespace weir::ops
