#include "run/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/failpoint.h"
#include "io/clock.h"
#include "run/record.h"

namespace weir::run {
namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t kLargestGroup = 1000;
constexpr auto kLongestFill = 2s;
/// Rows from which a stage is worth giving up early.
constexpr std::int64_t kLargeStage = 50'000;

bool succeeded(Status status) {
  return status == Status::Materialized || status == Status::Unchanged || status == Status::Fresh;
}

std::string label_of(const plan::Step& step) {
  return step.slice.empty() ? step.model->path : fmt::format("{} [{}]", step.model->path, step.slice);
}

StepReport first_report(const plan::Step& step) {
  StepReport report;
  report.model = step.model->path;
  if (step.model->target) report.materialized = step.model->target->uri();
  report.partition = step.slice;
  report.strategy = step.model->plane == Plane::Managed ? std::string(name_of(step.model->strategy))
                                                        : std::string(name_of(step.model->plane));
  report.reason = step.reason;
  return report;
}

}  // namespace

Scheduler::Scheduler(Session& session) : session_(session), slots_(session.plan.steps.size()) {
  for (const plan::Step& step : session.plan.steps) {
    Slot& slot = slots_[step.id];
    slot.work.step = &step;
    slot.work.report = first_report(step);
    if (step.action == plan::Action::Build) continue;
    slot.phase = Phase::Ended;
    slot.work.report.status = step.action == plan::Action::Fresh ? Status::Fresh : Status::Skipped;
    slot.broken = step.is_blocking;
    slot.work.report.is_blocking = step.is_blocking;
  }
}

Result<std::vector<StepReport>> Scheduler::run(std::vector<state::Lease> leases) {
  for (state::Lease& lease : leases)
    for (Slot& slot : slots_)
      if (slot.phase == Phase::Waiting && slot.work.step->model->target->key() == lease.asset &&
          slot.work.step->slice == lease.slice)
        slot.work.lease = lease;
  WEIR_TRY(duck::Connection writer, session_.lakes.connect());
  WEIR_TRY(duck::Connection reader, session_.lakes.connect());
  publisher_.emplace(session_, std::move(writer), std::move(reader));
  for (Slot& slot : slots_)
    if (slot.phase == Phase::Ended) session_.listener.step_ended(slot.work.report);

  std::vector<std::jthread> threads;
  for (int i = 0; i < std::max(1, session_.options.jobs); ++i) threads.emplace_back([this] { work(); });
  threads.emplace_back([this] { publish_groups(); });
  watch();
  threads.clear();
  WEIR_TRY(duck::Connection clean, session_.lakes.connect());
  for (Slot& slot : slots_)
    if (slot.work.stage && !slot.work.stage->files.empty() && !slot.released) release(slot.work, clean);
  if (!broken_.empty()) return fail(std::move(broken_));
  std::vector<StepReport> reports;
  for (Slot& slot : slots_) reports.push_back(std::move(slot.work.report));
  return reports;
}

bool Scheduler::finished() const {
  return std::all_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.phase == Phase::Ended; });
}

/// The calling thread: progress, and the wish to stop.
void Scheduler::watch() {
  std::unique_lock lock(mutex_);
  while (!finished()) {
    changed_.wait_for(lock, 50ms);
    if (session_.stop.load()) {
      cancel_waiting();
      lock.unlock();
      session_.running.interrupt_all();
      lock.lock();
    }
    const auto ended =
        std::count_if(slots_.begin(), slots_.end(), [](const Slot& s) { return s.phase == Phase::Ended; });
    session_.listener.tick(session_.running.snapshot(), static_cast<std::size_t>(ended), slots_.size());
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
  const bool is_manual = slot.work.step->model->plane == Plane::Manual;
  Inputs inputs = Inputs::Readable;
  for (const std::size_t id : slot.work.step->reads) {
    const Slot& producer = slots_[id];
    const bool ended = producer.phase == Phase::Ended;
    if (ended && (producer.broken ||
                  (!succeeded(producer.work.report.status) && producer.work.step->action == plan::Action::Build))) {
      blamed = producer.work.step->model->path;
      return Inputs::Broken;
    }
    const bool staged = producer.phase == Phase::Staged || producer.phase == Phase::Publishing;
    const bool readable = ended || (staged && !is_manual && !audits_after(session_, *producer.work.step->model));
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
  if (session_.stop.load()) return std::nullopt;
  for (Slot& slot : slots_) {
    if (slot.phase == Phase::Committed) return slot.work.step->id;
    if (slot.phase != Phase::Waiting) continue;
    std::string blamed;
    switch (inputs_of_step(slot, blamed)) {
      case Inputs::NotYet:
        continue;
      case Inputs::Broken:
        slot.work.report.status = Status::Skipped;
        slot.work.report.reason = fmt::format("{} failed", blamed);
        slot.broken = true;
        end_step(slot.work.step->id);
        continue;
      case Inputs::Readable:
        break;
    }
    if (const auto reason = reason_to_build_now(slot)) {
      slot.work.report.reason = *reason;
      return slot.work.step->id;
    }
    slot.work.report.status = Status::Fresh;
    slot.work.report.reason = "nothing that it depends on has changed";
    end_step(slot.work.step->id);
  }
  return std::nullopt;
}

/// Requires: mutex_ held.
void Scheduler::end_step(std::size_t id) {
  Slot& slot = slots_[id];
  slot.phase = Phase::Ended;
  if (!succeeded(slot.work.report.status)) slot.broken = slot.broken || slot.work.step->action == plan::Action::Build;
  slot.work.report.finished = state::now_text();
  session_.listener.step_ended(slot.work.report);
  changed_.notify_all();
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
    slot.phase = Phase::Working;
    lock.unlock();
    if (is_audit) {
      audit_published(session_, slot.work, *clean);
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
  if (slot.phase != Phase::Ended || !slot.work.stage || slot.released) return false;
  const std::size_t id = slot.work.step->id;
  return std::none_of(slots_.begin() + static_cast<std::ptrdiff_t>(id), slots_.end(), [id](const Slot& other) {
    const auto& reads = other.work.step->reads;
    return other.phase != Phase::Ended && std::find(reads.begin(), reads.end(), id) != reads.end();
  });
}

/// Large stages are given up as soon as nobody can read them any more; small ones go with the instance.
void Scheduler::release_unneeded(std::unique_lock<std::mutex>& lock, duck::Connection& clean) {
  for (Slot& slot : slots_) {
    if (!slot.work.stage || slot.work.stage->content.rows < kLargeStage || !is_unneeded(slot)) continue;
    slot.released = true;
    lock.unlock();
    release(slot.work, clean);
    lock.lock();
  }
}

void Scheduler::release(StepWork& work, duck::Connection& clean) {
  if (work.effect) publish::discard(clean, *work.effect);
  build::discard(clean, *work.stage, work.published && work.effect && work.effect->takes_files);
}

void Scheduler::begin_step(std::size_t id) {
  slots_[id].work.report.started = state::now_text();
  session_.listener.step_started(label_of(*slots_[id].work.step));
}

/// Leaves the slot staged, or working when it is to be ended.
void Scheduler::take_step(std::size_t id, duck::Connection& clean) {
  Slot& slot = slots_[id];
  failpoint("before_compute");
  if (slot.work.step->model->plane == Plane::Manual) {
    run_manual(session_, slot.work);
  } else {
    build_step(session_, slot.work, clean);
    failpoint("after_audit");
    if (succeeded(slot.work.report.status)) {
      const std::lock_guard lock(mutex_);
      slot.phase = Phase::Staged;
      slot.staged_at = steady_clock::now();
      return;
    }
  }
  record_steps(session_, {&slot.work});
}

/// A group goes when nothing more can join it, when it is full, or when its oldest member has waited long enough.
bool Scheduler::group_is_due() const {
  std::size_t staged = 0;
  bool others = false;
  auto oldest = steady_clock::time_point::max();
  for (const Slot& slot : slots_) {
    if (slot.phase == Phase::Staged) {
      ++staged;
      oldest = std::min(oldest, slot.staged_at);
    }
    if (slot.phase == Phase::Working || slot.phase == Phase::Committed) others = true;
    std::string blamed;
    if (slot.phase == Phase::Waiting && inputs_of_step(slot, blamed) == Inputs::Readable) others = true;
  }
  if (staged == 0) return false;
  if (!others) return true;
  if (session_.options.atomic) return false;
  return staged >= kLargestGroup || steady_clock::now() - oldest >= kLongestFill;
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

/// Staged steps of one lake whose producers are published or go along.
std::vector<std::size_t> Scheduler::take_group(std::string& lake) const {
  std::vector<std::size_t> group;
  std::set<std::size_t> members;
  for (const Slot& slot : slots_) {
    const bool full = group.size() == kLargestGroup && !session_.options.atomic;
    if (slot.phase != Phase::Staged || full) continue;
    const std::string& mine = session_.lake_of(*slot.work.step->model).name();
    if (!lake.empty() && mine != lake) continue;
    const bool complete = std::all_of(slot.work.step->reads.begin(), slot.work.step->reads.end(), [&](std::size_t id) {
      return slots_[id].phase == Phase::Ended || members.contains(id);
    });
    if (!complete) continue;
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
      slots_[id].phase = Phase::Publishing;
      members.push_back(&slots_[id].work);
    }
    lock.unlock();
    publisher_->publish(session_.lakes.lake(lake), members, session_.options.atomic);
    lock.lock();
    for (const std::size_t id : group) {
      Slot& slot = slots_[id];
      const bool audit_is_due = succeeded(slot.work.report.status) && audits_after(session_, *slot.work.step->model);
      if (audit_is_due)
        slot.phase = Phase::Committed;
      else
        end_step(id);
    }
    changed_.notify_all();
  }
}

}  // namespace weir::run
