// Turns what steps did into rows of the state store and steps of a commit record.
#pragma once

#include <vector>

#include "lake/commit.h"
#include "run/session.h"
#include "run/step.h"

namespace weir::run {

/// The step's part of the lake's commit record.
lake::CommittedStep commit_step(const StepWork& work);

/// Writes outcomes of ended steps to the state store in one transaction: ledger, schema versions, tests, steps. What
/// the store refuses is said and marks the session as unrecorded: the lake has it, and the next command reads it there.
void record_steps(Session& session, const std::vector<StepWork*>& ended);

}  // namespace weir::run
