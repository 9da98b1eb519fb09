// One step on its way: from waiting over computed, audited and published to ended.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "build/stage.h"
#include "plan/plan.h"
#include "publish/strategy.h"
#include "run/report.h"
#include "run/session.h"
#include "state/store.h"

namespace weir::run {

struct StepWork {
  const plan::Step* step = nullptr;
  StepReport report;
  /// Values the audit and the publisher need again.
  std::vector<parse::Spliced> setup;
  std::optional<build::Stage> stage;
  std::optional<publish::Effect> effect;
  /// Set when the stage was computed against a target of this state.
  lake::TableState target;
  /// Inputs taken from steps of this run: their version is known once those are published.
  struct StagedInput {
    std::size_t step;
    std::size_t input;  // index into report.inputs
    /// The version that the producer's after-image added to.
    std::optional<std::int64_t> base = {};
    std::optional<std::int64_t> version = {};  // of the producer's commit, once known
  };
  std::vector<StagedInput> staged_inputs;
  std::vector<state::InputRecord> file_inputs;
  /// Relations of configured databases that the model reads, by asset key.
  std::map<std::string, duck::TableName> datatables;
  /// The text of a view model.
  std::string view_sql;
  std::optional<state::Lease> lease;
  /// Another slice of this run gave the table the shape that its effect would.
  bool is_shaped = false;
  /// Bytes and rows were given to the lake.
  bool published = false;
  /// What was built, or what the table holds, passed the model's tests.
  bool passed_tests = false;
  std::string token;
};

/// Runs setup and query of a managed step into a stage, prepares its effect and audits the after-image (`audit:
/// before`). On failure the report says why; the step is then not to be published.
void build_step(Session& session, StepWork& work, duck::Connection& clean);

/// Prepares the effect again because the target moved, and audits again. The query is run again only if it reads the
/// target: what it saw is no longer what is there.
Result<void> prepare_again(Session& session, StepWork& work, duck::Connection& clean);

/// `audit: after`: tests on the published table. The report fails if one blocks.
void audit_published(Session& session, StepWork& work, duck::Connection& clean);

/// Tests on a table that nothing is built for: they changed, or the run that wrote it died before its audit.
void audit_as_it_is(Session& session, StepWork& work, duck::Connection& clean);

/// Runs a manual script in an instance of its own, under the locks of the lakes it attaches.
void run_manual(Session& session, StepWork& work);

/// Delivers what a model of plane `table` or `file` returns: stage, audit and the write in one transaction of the
/// target, or one file put in place. Everything is over when it returns.
void deliver_step(Session& session, StepWork& work, duck::Connection& clean);

/// The first part of a step that has rows: setup and query, once, into work.stage, with what the report says of it.
/// Requires: work.target says what the target is now.
Result<void> stage_rows(Session& session, StepWork& work, duck::Connection& clean, build::Holder holder);
/// The model's tests on the images of work.effect.
Result<void> audit_effect(Session& session, StepWork& work, duck::Connection& clean);

/// What publish/ needs to know of the step. Requires: it has a stage.
publish::PrepareRequest prepare_request(Session& session, StepWork& work);

/// True if the project or the model asks for the audit after the commit.
bool audits_after(const Session& session, const Model& model);

/// Marks the report as failed (or cancelled when somebody asked to stop).
void fail_step(Session& session, StepWork& work, Diagnostics problems);

std::int64_t millis_since(std::chrono::steady_clock::time_point begin);

}  // namespace weir::run
