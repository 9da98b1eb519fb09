// Promotion: after the steps, all views of an environment move in one commit of the lake; the state store follows, and
// is brought up from the commit's record if the process dies between.
#pragma once

#include <vector>

#include "env/placement.h"
#include "run/report.h"
#include "run/session.h"

namespace weir::run {

struct PromoteRequest {
  const env::Environment& environment;
  /// What each view of the environment shows afterwards, by model; models that are gone are left out.
  std::vector<state::ShownModel> models;
  std::string run;
  std::string command;
};

/// Moves the environment, if that changes anything, under the lock of the lake that holds the views. Returns its newest
/// generation, if it has one. Errors: W5404 a table lies where a view would, W5407 the commit failed, W5412 somebody
/// else moved the environment.
Result<std::optional<state::PromotionRecord>> promote(const Project& project, lake::Lakes& lakes, state::Store& store,
                                                      const PromoteRequest& request, const std::atomic<bool>& stop);

/// What the environment shows after a run: what was built and passed; what it showed, of models that the run did not
/// touch. Nothing moves while a model of the selection failed, unless `--partial` says that the others may. `notes`
/// says so. `is_whole`: models that the project no longer has are shown no more.
std::vector<state::ShownModel> shown_after(const Session& session, const env::Environment& environment,
                                           const std::vector<StepReport>& steps, bool is_whole, Diagnostics& notes);

}  // namespace weir::run
