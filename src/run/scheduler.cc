#include "run/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/failpoint.h"
#include "build/files.h"
#include "io/clock.h"
#include "plan/partitions.h"
#include "run/held_up.h"
#include "run/record.h"

namespace weir::run {
namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t kLargestGroup = 1000;
constexpr auto kLongestFill = 2s;
/// Threads beyond the machine's cores only wait; a slip in --jobs must not use up all that the system has.
constexpr std::size_t kMostWorkers = 256;
/// Rows from which a stage is worth giving up early.
constexpr std::int64_t kLargeStage = 50'000;
/// A small stage takes 150 KB, whatever its rows: DuckDB makes room for 2,048 values of each column.
constexpr std::size_t kManySmallStages = 1000;

bool succeeded(Status status) {
  return status == Status::Materialized || status == Status::Unchanged || status == Status::Fresh;
}

/// True for a step whose commit takes long by itself: a lake works alone on each row that it deletes.
bool deletes_much(const StepWork& work) {
  constexpr std::int64_t kManyRows = 1'000'000;
  return work.effect && work.effect->changes && work.effect->counts.deleted.value_or(0) >= kManyRows;
}

/// True for a step that the run has work for, or may have.
bool is_active(const plan::Step& step) {
  return step.action == plan::Action::Build || (step.action == plan::Action::Fresh && step.needs_audit);
}

std::string label_of(const plan::Step& step) {
  return step.slice.empty() ? step.model->path : fmt::format("{} [{}]", step.model->path, step.slice);
}

/// True for a step that acts outside of the lakes' commits: it waits until what it reads is committed.
bool acts_alone(const Model& model) {
  return model.plane == Plane::Manual || model.plane == Plane::Table || model.plane == Plane::File;
}

Status status_of(plan::Action action) {
  switch (action) {
    case plan::Action::Fresh:
      return Status::Fresh;
    case plan::Action::Gated:
      return Status::Gated;
    case plan::Action::Build:
    case plan::Action::Skip:
      break;
  }
  return Status::Skipped;
}

}  // namespace

Scheduler::Scheduler(Session& session) : session_(session), slots_(session.plan.steps.size()) {
  for (const plan::Step& step : session.plan.steps) {
    Slot& slot = slots_[step.id];
    slot.work.step = &step;
    slot.work.report = first_report(*step.model);
    slot.work.report.partition = step.slice;
    slot.work.report.reason = step.reason;
    slot.work.report.earlier = step.earlier;
    for (const std::size_t producer : step.reads) slots_[producer].readers.push_back(step.id);
    if (step.after) slots_[*step.after].readers.push_back(step.id);
    if (is_active(step)) {
      candidates_.insert(step.id);
      continue;
    }
    slot.phase = Phase::Ended;
    ++ended_;
    slot.work.report.status = status_of(step.action);
  }
}

Result<std::vector<StepReport>> Scheduler::run(std::vector<state::Lease> leases) {
  std::map<std::pair<std::string, std::string>, state::Lease*> held;
  for (state::Lease& lease : leases) held[{lease.asset, lease.slice}] = &lease;
  for (Slot& slot : slots_) {
    if (slot.phase != Phase::Waiting || !slot.work.step->model->target) continue;
    if (const auto lease = held.find({slot.work.step->model->target->key(), slot.work.step->slice});
        lease != held.end())
      slot.work.lease = *lease->second;
  }
  WEIR_TRY(duck::Connection writer, session_.lakes.connect());
  WEIR_TRY(duck::Connection reader, session_.lakes.connect());
  publisher_.emplace(session_, std::move(writer), std::move(reader));
  for (Slot& slot : slots_)
    if (slot.phase == Phase::Ended) session_.listener.step_ended(slot.work.report);

  std::vector<std::jthread> threads;
  const std::size_t wanted = static_cast<std::size_t>(std::max(1, session_.options.jobs));
  for (std::size_t i = 0; i < std::min({wanted, std::max<std::size_t>(1, slots_.size()), kMostWorkers}); ++i)
    threads.emplace_back([this] { work(); });
  threads.emplace_back([this] { publish_groups(); });
  watch();
  threads.clear();
  WEIR_TRY(duck::Connection clean, session_.lakes.connect());
  for (Slot& slot : slots_)
    if (slot.work.stage && !slot.work.stage->files.empty() && !slot.released) release(slot.work, clean);
  for (const std::size_t id : unneeded_large_) release(slots_[id].work, clean);
  for (const std::size_t id : unneeded_small_)
    if (!slots_[id].work.stage->files.empty()) release(slots_[id].work, clean);
  for (const auto& [path, batch] : session_.batches) batch->release(clean);
  if (!broken_.empty()) return fail(std::move(broken_));
  std::vector<StepReport> reports;
  for (Slot& slot : slots_) reports.push_back(std::move(slot.work.report));
  return reports;
}

void Scheduler::enter(std::size_t id, Phase phase) {
  const auto is_busy = [](Phase one) { return one == Phase::Working || one == Phase::Committed; };
  Slot& slot = slots_[id];
  if (slot.phase == Phase::Staged) {
    staged_.erase({slot.staged_at, id});
    slow_.erase(id);
  }
  if (is_busy(slot.phase)) --busy_;
  slot.phase = phase;
  if (is_busy(phase)) ++busy_;
  if (phase == Phase::Staged) {
    slot.staged_at = steady_clock::now();
    staged_.emplace(slot.staged_at, id);
    if (deletes_much(slot.work)) slow_.insert(id);
  }
  if (phase == Phase::Committed) candidates_.insert(id);
  if (phase == Phase::Ended) {
    ++ended_;
    note_unneeded(id);
    for (const std::size_t producer : slot.work.step->reads) note_unneeded(producer);
  }
  // Only these two can make a reader ready.
  if (phase == Phase::Staged || phase == Phase::Ended) candidates_.insert(slot.readers.begin(), slot.readers.end());
}

/// The calling thread: progress, and the wish to stop.
void Scheduler::watch() {
  std::unique_lock lock(mutex_);
  while (!finished()) {
    all_ended_.wait_for(lock, 50ms);
    if (session_.stop.load()) {
      cancel_waiting();
      lock.unlock();
      session_.running.interrupt_all();
      lock.lock();
    }
    session_.listener.tick(session_.running.snapshot(), ended_, slots_.size());
  }
  changed_.notify_all();
}

void Scheduler::cancel_waiting() {
  for (Slot& slot : slots_) {
    if (slot.phase != Phase::Waiting && slot.phase != Phase::Staged && slot.phase != Phase::Committed) continue;
    slot.work.report.status = Status::Cancelled;
    slot.work.report.reason = "interrupted before it began";
    if (slot.phase == Phase::Staged) slot.work.report.reason = "interrupted before it was published";
    if (slot.phase == Phase::Committed)
      slot.work.report.reason = "interrupted after it was published and before its audit";
    end_step(slot.work.step->id);
  }
}

Scheduler::Inputs Scheduler::inputs_of_step(const Slot& slot, std::string& blamed) const {
  const bool is_alone = acts_alone(*slot.work.step->model);
  Inputs inputs = Inputs::Readable;
  if (slot.work.step->after && slots_[*slot.work.step->after].phase != Phase::Ended) inputs = Inputs::NotYet;
  for (const std::size_t id : slot.work.step->reads) {
    const Slot& producer = slots_[id];
    const bool ended = producer.phase == Phase::Ended;
    if (ended && (producer.broken || (!succeeded(producer.work.report.status) && is_active(*producer.work.step)))) {
      blamed = producer.work.step->model->path;
      return Inputs::Broken;
    }
    const bool staged = producer.phase == Phase::Staged || producer.phase == Phase::Publishing;
    // What reads its own table may have to be computed again until it is published.
    const Model& model = *producer.work.step->model;
    const bool shows_image =
        !audits_after(session_, model) && !producer.work.step->has_siblings && !plan::reads_itself(model);
    const bool readable = ended || (staged && !is_alone && shows_image);
    if (!readable) inputs = Inputs::NotYet;
  }
  return inputs;
}

/// Decides again once its producers are known: if they ended unchanged, nothing that it depends on has changed.
std::optional<std::string> Scheduler::reason_to_build_now(const Slot& slot) const {
  std::map<std::size_t, std::int64_t> ended;
  for (const std::size_t id : slot.work.step->reads) {
    const Slot& producer = slots_[id];
    const bool unchanged =
        producer.work.report.status == Status::Fresh || producer.work.report.status == Status::Unchanged;
    const bool known =
        producer.phase == Phase::Ended || producer.phase == Phase::Staged || producer.phase == Phase::Publishing;
    if (unchanged && known) ended.emplace(id, producer.work.report.snapshot_id.value_or(0));
  }
  return plan::reason_to_build(*slot.work.step, session_.plan, session_.world,
                               session_.options.force || session_.options.full_refresh, ended);
}

std::optional<std::size_t> Scheduler::next_step() {
  while (!session_.stop.load() && !candidates_.empty()) {
    const std::size_t id = *candidates_.begin();
    candidates_.erase(candidates_.begin());
    Slot& slot = slots_[id];
    if (slot.phase == Phase::Committed) return id;
    if (slot.phase != Phase::Waiting) continue;
    std::string blamed;
    switch (inputs_of_step(slot, blamed)) {
      case Inputs::NotYet:
        continue;  // comes again with its producers
      case Inputs::Broken:
        slot.work.report.status = Status::Skipped;
        slot.work.report.reason = fmt::format("{} failed", blamed);
        slot.broken = true;
        end_step(id);
        continue;
      case Inputs::Readable:
        break;
    }
    const auto reason =
        slot.work.step->action == plan::Action::Build ? reason_to_build_now(slot) : std::optional<std::string>();
    slot.only_audited = !reason && slot.work.step->needs_audit;
    if (reason) slot.work.report.reason = *reason;
    if (reason || slot.only_audited) return id;
    slot.work.report.status = Status::Fresh;
    slot.work.report.reason = "nothing that it depends on has changed";
    end_step(id);
  }
  return std::nullopt;
}

/// Requires: mutex_ held.
void Scheduler::end_step(std::size_t id) {
  Slot& slot = slots_[id];
  if (!succeeded(slot.work.report.status)) slot.broken = slot.broken || is_active(*slot.work.step);
  enter(id, Phase::Ended);
  slot.work.report.finished = state::now_text();
  session_.listener.step_ended(slot.work.report);
  changed_.notify_all();
  if (finished()) all_ended_.notify_all();
}

void Scheduler::work() {
  auto clean = session_.lakes.connect();
  std::unique_lock lock(mutex_);
  if (!clean) {
    broken_ = clean.error();
    session_.stop.store(true);
    return;
  }
  while (!finished()) {
    const auto id = next_step();
    if (!id) {
      changed_.wait_for(lock, 100ms);
      continue;
    }
    Slot& slot = slots_[*id];
    const bool is_audit = slot.phase == Phase::Committed;
    enter(*id, Phase::Working);
    lock.unlock();
    if (is_audit) {
      audit_published(session_, slot.work, *clean);
      record_steps(session_, {&slot.work});
    } else if (slot.only_audited) {
      begin_step(*id);
      audit_as_it_is(session_, slot.work, *clean);
      record_steps(session_, {&slot.work});
    } else {
      begin_step(*id);
      take_step(*id, *clean);
    }
    lock.lock();
    if (slot.phase == Phase::Working) end_step(*id);
    changed_.notify_all();
    release_unneeded(lock, *clean);
  }
}

bool Scheduler::is_unneeded(const Slot& slot) const {
  return slot.phase == Phase::Ended && std::all_of(slot.readers.begin(), slot.readers.end(),
                                                   [this](std::size_t id) { return slots_[id].phase == Phase::Ended; });
}

void Scheduler::note_unneeded(std::size_t id) {
  Slot& slot = slots_[id];
  if (!slot.work.stage || slot.released || !is_unneeded(slot)) return;
  slot.released = true;
  (slot.work.stage->content.rows >= kLargeStage ? unneeded_large_ : unneeded_small_).push_back(id);
}

/// Large stages are given up as soon as nobody can read them any more; small ones when they are many, else they go with
/// the instance.
void Scheduler::release_unneeded(std::unique_lock<std::mutex>& lock, duck::Connection& clean) {
  std::vector<std::size_t> unneeded = std::exchange(unneeded_large_, {});
  if (unneeded_small_.size() >= kManySmallStages) {
    unneeded.insert(unneeded.end(), unneeded_small_.begin(), unneeded_small_.end());
    unneeded_small_.clear();
  }
  if (unneeded.empty()) return;
  lock.unlock();
  for (const std::size_t id : unneeded) release(slots_[id].work, clean);
  lock.lock();
}

void Scheduler::release(StepWork& work, duck::Connection& clean) {
  if (work.effect) publish::discard(clean, *work.effect);
  const bool is_taken = work.published && work.effect && work.effect->takes_files;
  build::discard(clean, *work.stage, is_taken);
  if (is_taken) build::remove_files(work.effect->files_left);
}

void Scheduler::begin_step(std::size_t id) {
  slots_[id].work.report.started = state::now_text();
  session_.listener.step_started(label_of(*slots_[id].work.step));
}

/// What acts alone begins when its producers have ended: rows that it took from their stages are those of their
/// commits.
void Scheduler::note_versions(StepWork& work) {
  const std::lock_guard lock(mutex_);
  for (StepWork::StagedInput& staged : work.staged_inputs) {
    staged.version = slots_[staged.step].work.report.snapshot_id;
    if (!staged.version) continue;
    work.report.inputs[staged.input].version = *staged.version;
    work.report.inputs[staged.input].known = *staged.version;
  }
}

/// Leaves the slot staged, or working when it is to be ended.
void Scheduler::take_step(std::size_t id, duck::Connection& clean) {
  Slot& slot = slots_[id];
  failpoint("before_compute");
  if (slot.work.step->model->plane == Plane::Manual) {
    run_manual(session_, slot.work);
  } else if (acts_alone(*slot.work.step->model)) {
    deliver_step(session_, slot.work, clean);
    note_versions(slot.work);
  } else {
    build_step(session_, slot.work, clean);
    failpoint("after_audit");
    if (succeeded(slot.work.report.status)) {
      const std::lock_guard lock(mutex_);
      enter(id, Phase::Staged);
      return;
    }
  }
  record_steps(session_, {&slot.work});
}

/// Slices that one query computed go into one commit. Requires: mutex_ held.
bool Scheduler::waits_for_batch() const {
  return std::any_of(session_.batches.begin(), session_.batches.end(), [this](const auto& batch) {
    return batch.second->is_gathered() && std::any_of(slots_.begin(), slots_.end(), [&batch](const Slot& slot) {
             return (slot.phase == Phase::Waiting || slot.phase == Phase::Working) &&
                    slot.work.step->model->path == batch.first;
           });
  });
}

/// A group goes when nothing more can join it, when it is full, or when its oldest member has waited long enough.
bool Scheduler::group_is_due() const {
  if (staged_.empty()) return false;
  const bool others =
      busy_ > 0 || std::any_of(candidates_.begin(), candidates_.end(), [this](std::size_t id) {
        std::string blamed;
        return slots_[id].phase == Phase::Waiting && inputs_of_step(slots_[id], blamed) == Inputs::Readable;
      });
  if (!others) return true;
  if (session_.options.atomic) return false;
  if (staged_.size() >= kLargestGroup) return true;
  // Written while the others compute: a commit more costs less than waiting for it at the end.
  if (!slow_.empty() && !waits_for_batch()) return true;
  return steady_clock::now() - staged_.begin()->first >= kLongestFill && !waits_for_batch();
}

/// A step that was computed from a stage which was never published goes with it. Requires: mutex_ held.
void Scheduler::skip_readers_of_failed() {
  for (Slot& slot : slots_) {
    std::string blamed;
    if (slot.phase != Phase::Staged || inputs_of_step(slot, blamed) != Inputs::Broken) continue;
    slot.work.report.status = Status::Skipped;
    slot.work.report.reason = fmt::format("{} failed", blamed);
    const std::unique_lock images(session_.images.mutex());
    session_.images.remove_step(slot.work.step->id);
    end_step(slot.work.step->id);
  }
}

/// Staged steps of one lake whose producers are published or go along; of one table those whose effects fit together.
std::vector<std::size_t> Scheduler::take_group(std::string& lake) const {
  std::vector<std::size_t> group;
  std::set<std::size_t> members;
  std::map<const Model*, std::size_t> first_slices;
  for (const Slot& slot : slots_) {
    const bool full = group.size() == kLargestGroup && !session_.options.atomic;
    if (slot.phase != Phase::Staged || full) continue;
    const std::string& mine = session_.lake_of(*slot.work.step->model).name();
    if (!lake.empty() && mine != lake) continue;
    const bool complete = std::all_of(slot.work.step->reads.begin(), slot.work.step->reads.end(), [&](std::size_t id) {
      return slots_[id].phase == Phase::Ended || members.contains(id);
    });
    if (!complete) continue;
    const std::size_t first = first_slices.emplace(slot.work.step->model, slot.work.step->id).first->second;
    if (!publish::can_share_commit(*slots_[first].work.effect, *slot.work.effect)) continue;
    lake = mine;
    group.push_back(slot.work.step->id);
    members.insert(slot.work.step->id);
  }
  return group;
}

/// `--atomic`: one failure anywhere means that nothing of the run is published. Requires: mutex_ held.
void Scheduler::fail_rest_of_atomic_run() {
  const auto failed = std::find_if(slots_.begin(), slots_.end(), [](const Slot& slot) {
    return slot.phase == Phase::Ended && slot.work.report.status == Status::Failed;
  });
  if (failed == slots_.end()) return;
  for (Slot& slot : slots_) {
    if (slot.phase != Phase::Staged) continue;
    slot.work.report.status = Status::Skipped;
    slot.work.report.reason = fmt::format("the run is atomic and {} failed", failed->work.step->model->path);
    end_step(slot.work.step->id);
  }
}

void Scheduler::publish_groups() {
  std::unique_lock lock(mutex_);
  while (!finished()) {
    if (session_.stop.load() || !group_is_due()) {
      changed_.wait_for(lock, 100ms);
      continue;
    }
    if (session_.options.atomic) fail_rest_of_atomic_run();
    skip_readers_of_failed();
    std::string lake;
    const std::vector<std::size_t> group = take_group(lake);
    if (group.empty()) {
      changed_.wait_for(lock, 20ms);
      continue;
    }
    std::vector<StepWork*> members;
    for (const std::size_t id : group) {
      enter(id, Phase::Publishing);
      members.push_back(&slots_[id].work);
    }
    lock.unlock();
    publisher_->publish(session_.lakes.lake(lake), members, session_.options.atomic);
    lock.lock();
    for (const std::size_t id : group) {
      Slot& slot = slots_[id];
      const bool audit_is_due = succeeded(slot.work.report.status) && audits_after(session_, *slot.work.step->model);
      if (audit_is_due)
        enter(id, Phase::Committed);
      else
        end_step(id);
    }
    changed_.notify_all();
  }
}

}  // namespace weir::run
