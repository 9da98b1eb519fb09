#include "run/publisher.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "base/failpoint.h"
#include "lake/commit.h"
#include "lake/strays.h"
#include "run/record.h"

namespace weir::run {
namespace {

constexpr int kMostPreparations = 5;
constexpr int kGroupFailuresBeforeSingly = 2;

bool reads(const StepWork& reader, const StepWork& producer) {
  return std::find(reader.step->reads.begin(), reader.step->reads.end(), producer.step->id) != reader.step->reads.end();
}

std::vector<Asset> targets_of(const std::vector<StepWork*>& members) {
  std::vector<Asset> targets;
  const Model* last = nullptr;
  for (const StepWork* member : members) {
    // The slices of one model stand side by side.
    if (member->step->model != last) targets.push_back(*member->step->model->target);
    last = member->step->model;
  }
  return targets;
}

std::string message_of(const std::vector<StepWork*>& members) {
  const auto label = [](const StepWork& work) {
    return work.step->slice.empty() ? work.step->model->path
                                    : fmt::format("{} [{}]", work.step->model->path, work.step->slice);
  };
  std::string message = label(*members.front());
  if (members.size() > 1) message += fmt::format(" and {} more", members.size() - 1);
  return message;
}

Diagnostic engine_failure(const std::string& doing, const duck::Failure& failure) {
  return lake::explain(Code::W6020, doing, failure);
}

Failed still_moving(const StepWork& work) {
  Diagnostic found{.code = Code::W6030, .path = work.step->model->source->path};
  found.message = fmt::format("others kept writing to {} while this run tried to publish; nothing was published",
                              work.step->model->target->uri());
  found.hint = "run it again when the other writer is done";
  return fail(std::move(found));
}

Diagnostics lost_lock(const lake::Lake& lake) {
  return {Diagnostic{
      .code = Code::W6104,
      .message =
          fmt::format("the writers' lock of lake {} was lost before the commit; nothing was published", lake.name())}};
}

Diagnostics interrupted() {
  return {Diagnostic{.code = Code::W7010, .message = "interrupted before it was published"}};
}

void skip_reader(StepWork& reader, const StepWork& producer) {
  reader.report.status = Status::Skipped;
  reader.report.reason = fmt::format("{} failed", producer.step->model->path);
}

}  // namespace

void Publisher::publish(const lake::Lake& lake, std::vector<StepWork*> members, bool all_or_none) {
  std::vector<StepWork*> group = members;
  int failures = 0;
  while (!group.empty()) {
    if (session_.stop.load()) {
      fail_all(group, interrupted());
      break;
    }
    const std::size_t before = group.size();
    const Round round = try_once(lake, group, all_or_none);
    if (round == Round::Done) break;
    if (round == Round::Failed && group.size() < before) ++failures;
    if (failures >= kGroupFailuresBeforeSingly && group.size() > 1) {
      go_singly(lake, group);
      break;
    }
  }
  record(members);
}

/// Each member in a commit of its own, producers first.
void Publisher::go_singly(const lake::Lake& lake, const std::vector<StepWork*>& members) {
  std::set<const StepWork*> gone;
  for (StepWork* member : members) {
    const auto producer = std::find_if(gone.begin(), gone.end(), [&](const StepWork* g) { return reads(*member, *g); });
    if (producer != gone.end()) {
      skip_reader(*member, **producer);
      hide(*member);
      gone.insert(member);
      continue;
    }
    std::vector<StepWork*> single{member};
    if (session_.stop.load()) fail_all(single, interrupted());
    while (!single.empty() && try_once(lake, single, false) != Round::Done) {
    }
    if (single.empty()) gone.insert(member);
  }
}

/// One attempt at one commit. Members that can't go are taken out of `members`, their reports say why.
Publisher::Round Publisher::try_once(const lake::Lake& lake, std::vector<StepWork*>& members, bool all_or_none) {
  const bool any_change =
      std::any_of(members.begin(), members.end(), [](const StepWork* m) { return m->effect->changes; });
  if (!any_change) {
    finish(members, std::nullopt);
    return Round::Done;
  }
  const auto begin = std::chrono::steady_clock::now();
  failpoint("before_lock");
  for (int preparation = 0;; ++preparation) {
    auto lock = lake.lock(session_.stop);
    if (!lock) return fail_all(members, std::move(lock).error());
    failpoint("after_lock");
    Attempt attempt;
    auto version = write_and_commit(lake, **lock, members, attempt);
    for (StepWork* member : members) member->report.ms.commit = millis_since(begin);
    if (version) {
      finish(members, *version);
      return Round::Done;
    }
    if (attempt.culprit != nullptr) {
      take_out(members, *attempt.culprit, std::move(version).error(), all_or_none);
      return Round::Failed;
    }
    // The commit was refused although nobody was there before it: somebody came between BEGIN and COMMIT.
    if (attempt.moved.empty() && !session_.stop.load() && version.error().front().code == Code::W6007) {
      if (auto found = moved_since(lake, members, std::nullopt); found) attempt.moved = std::move(*found);
    }
    if (attempt.moved.empty()) return fail_all(members, std::move(version).error());
    // Somebody else committed to a target since its effect was prepared: outside the lock, look again and audit again.
    lock->reset();
    for (StepWork* member : attempt.moved) {
      Result<void> again = preparation < kMostPreparations ? prepare_again(session_, *member, reader_)
                                                           : Result<void>(still_moving(*member));
      if (again.has_value()) {
        moved_bases_[member->step->id] = member->effect->target_version;
        continue;
      }
      take_out(members, *member, std::move(again).error(), all_or_none);
      return Round::Again;
    }
  }
}

/// True if the target is not what the effect was prepared against. What this run itself committed to other slices of
/// the table changes nothing for it.
bool Publisher::moved_on(StepWork& work, const lake::TableState& now) const {
  work.is_shaped = false;
  if (now.exists == work.target.exists && (!now.exists || now.version == work.effect->target_version)) return false;
  const auto hops = hops_.find(work.step->model->target->key());
  if (hops == hops_.end() || !work.step->has_siblings || !now.exists) return true;
  std::int64_t version = work.target.exists ? work.effect->target_version : 0;
  for (const Hop& hop : hops->second) {
    if (hop.from != version) continue;
    version = hop.to;
    if (!hop.shaped_by) continue;
    if (!publish::can_share_commit(*hop.shaped_by, *work.effect)) return true;
    work.is_shaped = true;
  }
  return version != now.version;
}

void Publisher::note_commit(const std::vector<StepWork*>& members, std::int64_t version) {
  for (const StepWork* member : members) {
    if (!member->effect->changes || !member->step->has_siblings) continue;
    const std::string key = member->step->model->target->key();
    std::vector<Hop>& hops = hops_[key];
    if (!hops.empty() && hops.back().to == version) continue;
    Hop hop{.from = target_versions_.at(key), .to = version, .shaped_by = {}};
    if (member->effect->shaping > 0 && !member->is_shaped) hop.shaped_by = *member->effect;
    hops.push_back(std::move(hop));
  }
}

/// Members whose target has another version than the one their effect was prepared against: at the given version of the
/// lake, or now.
Result<std::vector<StepWork*>> Publisher::moved_since(const lake::Lake& lake, const std::vector<StepWork*>& members,
                                                      std::optional<std::int64_t> at) {
  auto transaction = duck::Transaction::begin(reader_);
  if (!transaction) return fail(engine_failure("cannot begin to read", transaction.error()));
  if (!at) {
    WEIR_TRY(at, lake.newest_version(reader_));
  }
  WEIR_TRY(const auto states, lake.observe(reader_, targets_of(members), *at));
  std::vector<StepWork*> moved;
  for (StepWork* member : members) {
    const std::string key = member->step->model->target->key();
    const lake::TableState& now = states.at(key);
    target_versions_[key] = now.exists ? now.version : 0;
    if (moved_on(*member, now)) moved.push_back(member);
  }
  return moved;
}

/// One transaction from BEGIN to COMMIT. Requires: the lake's lock is held. On failure `attempt` says what to do about
/// it.
Result<std::int64_t> Publisher::write_and_commit(const lake::Lake& lake, lake::LakeLock& lock,
                                                 std::vector<StepWork*>& members, Attempt& attempt) {
  auto transaction = duck::Transaction::begin(writer_);
  if (!transaction) return fail(engine_failure("cannot begin to write", transaction.error()));
  WEIR_CHECK(check_fences(members, attempt));
  // The transaction's own base is what is compared: a foreign writer does not wait for our lock.
  WEIR_TRY(base_version_, lake.base_version(writer_));
  WEIR_TRY(attempt.moved, moved_since(lake, members, base_version_));
  if (!attempt.moved.empty()) return still_moving(*attempt.moved.front());
  failpoint("after_begin");
  lake::CommitRecord commit{.weir = WEIR_VERSION,
                            .token = state::new_run_id(),
                            .run = session_.run,
                            .environment = session_.options.environment};
  // The kernel stamps files by a clock that may lag behind by some milliseconds.
  const std::int64_t started =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count() - 1;
  auto done = write_members(lake, members, commit, attempt);
  if (done) done = check_fences(members, attempt);
  if (done && !lock.is_held()) done = fail(lost_lock(lake));
  if (!done) {
    transaction->rollback();
    remove_strays(lake, members, started);
    return fail(std::move(done).error());
  }
  const std::unique_lock commits(session_.images.commits());
  auto version =
      lake::commit(writer_, lake, std::move(*transaction), commit, lake::author(), message_of(members), base_version_);
  if (!version) {
    // W6008: it may have happened, so its files stay; recovery asks again.
    if (version.error().front().code == Code::W6007) remove_strays(lake, members, started);
    return fail(std::move(version).error());
  }
  failpoint("after_confirm");
  const std::unique_lock images(session_.images.mutex());
  note_commit(members, version->value_or(base_version_));
  for (StepWork* member : members)
    if (member->effect->changes) session_.images.set_published(member->step->id, version->value_or(base_version_));
  return version->value_or(base_version_);
}

Result<void> Publisher::write_members(const lake::Lake& lake, const std::vector<StepWork*>& members,
                                      lake::CommitRecord& commit, Attempt& attempt) {
  // Interrupting ends with the writes: the commit itself is short, and an interrupted one would have to be asked for by
  // its token.
  const Running::Watch watch(session_.running, fmt::format("lake {}", lake.name()), "committing", writer_);
  publish::CommitGroup group{.alone = members.size() == 1};
  for (const StepWork* member : members)
    if (member->is_shaped) group.shaped.insert(member->step->model->target->key());
  for (StepWork* member : members) {
    member->token = commit.token;
    resolve_inputs(*member);
    if (!member->effect->changes) continue;
    commit.steps.push_back(commit_step(*member));
    failpoint("before_write");
    auto written = publish::write(writer_, prepare_request(session_, *member), *member->effect, group);
    if (!written) {
      attempt.culprit = member;
      return written;
    }
    failpoint("after_write");
  }
  if (session_.stop.load()) return fail(interrupted());
  return {};
}

/// What DuckLake wrote for a transaction that was rolled back. Best effort: what stays is no version's, and `weir
/// doctor` lists it.
void Publisher::remove_strays(const lake::Lake& lake, const std::vector<StepWork*>& members, std::int64_t since) {
  for (const StepWork* member : members) {
    auto removed = lake::remove_strays(lake, reader_, member->target, since);
    if (removed) continue;
    for (const Diagnostic& problem : removed.error()) session_.listener.message(problem.message);
  }
}

/// A member that lost its lease is the culprit; the others may go.
Result<void> Publisher::check_fences(const std::vector<StepWork*>& members, Attempt& attempt) {
  std::vector<state::Lease> leases;
  for (const StepWork* member : members)
    if (member->lease) leases.push_back(*member->lease);
  auto held = session_.store.check(leases);
  if (held || held.error().front().code != Code::W6102) return held;
  for (StepWork* member : members) {
    if (!member->lease) continue;
    auto one = session_.store.check({*member->lease});
    if (one) continue;
    attempt.culprit = member;
    return one;
  }
  return held;
}

Publisher::Round Publisher::fail_all(std::vector<StepWork*>& members, const Diagnostics& problems) {
  for (StepWork* member : members) {
    fail_step(session_, *member, problems);
    hide(*member);
  }
  members.clear();
  return Round::Failed;
}

/// The culprit fails, and every member that read its stage, directly or not, is skipped; the rest stays.
void Publisher::take_out(std::vector<StepWork*>& members, StepWork& culprit, Diagnostics problems, bool all_or_none) {
  fail_step(session_, culprit, std::move(problems));
  hide(culprit);
  std::set<const StepWork*> gone{&culprit};
  for (StepWork* member : members) {
    if (gone.contains(member)) continue;
    const auto producer = std::find_if(gone.begin(), gone.end(), [&](const StepWork* g) { return reads(*member, *g); });
    if (producer == gone.end() && !all_or_none) continue;
    skip_reader(*member, producer == gone.end() ? culprit : **producer);
    hide(*member);
    gone.insert(member);
  }
  std::erase_if(members, [&gone](StepWork* member) { return gone.contains(member); });
}

/// What will not be published must not be read any more.
void Publisher::hide(const StepWork& work) {
  const std::unique_lock images(session_.images.mutex());
  session_.images.remove_step(work.step->id);
}

void Publisher::finish(std::vector<StepWork*>& members, std::optional<std::int64_t> version) {
  for (StepWork* member : members) {
    StepReport& report = member->report;
    report.status = member->effect->changes ? Status::Materialized : Status::Unchanged;
    report.reason = member->effect->changes ? "" : "the result equals what the table holds";
    if (member->effect->changes)
      report.snapshot_id = version;
    else if (member->target.exists)
      report.snapshot_id = member->target.version;
    member->published = member->effect->changes;
    versions_[member->step->id] = report.snapshot_id.value_or(base_version_);
  }
  for (StepWork* member : members) resolve_inputs(*member);
}

/// Inputs taken from steps of this run are recorded with the version of those steps' commits; one whose producer was
/// prepared again afterwards, on rows that others wrote meanwhile, with the version of before: the reader has not seen
/// those rows, and the next run must find that out.
void Publisher::resolve_inputs(StepWork& work) {
  for (StepWork::StagedInput& staged : work.staged_inputs) {
    const auto moved = moved_bases_.find(staged.step);
    const auto version = versions_.find(staged.step);
    if (staged.base && moved != moved_bases_.end() && moved->second != *staged.base)
      staged.version = *staged.base;
    else if (version != versions_.end())
      staged.version = version->second;
    else
      continue;
    work.report.inputs[staged.input].version = *staged.version;
    work.report.inputs[staged.input].known = *staged.version;
  }
}

void Publisher::record(const std::vector<StepWork*>& members) {
  failpoint("before_record");
  record_steps(session_, members);
  failpoint("after_record");
}

}  // namespace weir::run
