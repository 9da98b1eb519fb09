// Publishes groups of finished stages: one lake transaction a group, under the lake's lock, fenced, confirmed by its
// token, recorded.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lake/commit.h"
#include "run/session.h"
#include "run/step.h"

namespace weir::run {

/// Threads: one at a time.
class Publisher {
 public:
  Publisher(Session& session, duck::Connection writer, duck::Connection reader)
      : session_(session), writer_(std::move(writer)), reader_(std::move(reader)) {}

  /// Publishes the members, all of one lake and in the plan's order, in as few commits as can be. Afterwards each
  /// member's report says what became of it: materialized, unchanged, failed, skipped (it read a member that failed),
  /// or cancelled. If the group fails at the write, the failing member and what read its stage are taken out and the
  /// rest is tried again; after two such rounds the members go singly. With `all_or_none` the first failure fails the
  /// group.
  void publish(const lake::Lake& lake, std::vector<StepWork*> members, bool all_or_none);

 private:
  enum class Round { Done, Again, Failed };
  Round try_once(const lake::Lake& lake, std::vector<StepWork*>& members, bool all_or_none);
  void go_singly(const lake::Lake& lake, const std::vector<StepWork*>& members);
  /// Why an attempt at a commit failed: a member of its own, or targets that somebody else wrote to.
  struct Attempt {
    StepWork* culprit = nullptr;
    std::vector<StepWork*> moved;
  };
  bool moved_on(StepWork& work, const lake::TableState& now) const;
  void note_commit(const std::vector<StepWork*>& members, std::int64_t version);
  Result<std::vector<StepWork*>> moved_since(const lake::Lake& lake, const std::vector<StepWork*>& members,
                                             std::optional<std::int64_t> at);
  Result<std::int64_t> write_and_commit(const lake::Lake& lake, lake::LakeLock& lock, std::vector<StepWork*>& members,
                                        Attempt& attempt);
  Result<void> write_members(const lake::Lake& lake, const std::vector<StepWork*>& members, lake::CommitRecord& commit,
                             Attempt& attempt);
  Result<void> check_fences(const std::vector<StepWork*>& members, Attempt& attempt);
  void remove_strays(const lake::Lake& lake, const std::vector<StepWork*>& members, std::int64_t since);
  void hide(const StepWork& work);
  void take_out(std::vector<StepWork*>& members, StepWork& culprit, Diagnostics problems, bool all_or_none);
  Round fail_all(std::vector<StepWork*>& members, const Diagnostics& problems);
  void finish(std::vector<StepWork*>& members, std::optional<std::int64_t> version);
  void resolve_inputs(StepWork& work);
  void record(const std::vector<StepWork*>& members);

  Session& session_;
  duck::Connection writer_;
  duck::Connection reader_;
  /// The lake's version that the group in work is based on.
  std::int64_t base_version_ = 0;
  /// The version that each target had in the transaction in work; 0: there was none.
  std::map<std::string, std::int64_t> target_versions_;
  /// One commit of this run that touched nothing of a table but the rows of some slices, and gave it a shape, or not.
  struct Hop {
    std::int64_t from = 0;
    std::int64_t to = 0;
    /// The effect that gave the table its shape.
    std::optional<publish::Effect> shaped_by;
  };
  std::map<std::string, std::vector<Hop>> hops_;
  /// Versions of the steps of this run that are published or unchanged.
  std::map<std::size_t, std::int64_t> versions_;
  /// Steps that were prepared again -> the version that their after-image adds to now.
  std::map<std::size_t, std::int64_t> moved_bases_;
};

}  // namespace weir::run
