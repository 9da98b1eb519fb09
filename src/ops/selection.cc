#include "ops/selection.h"

#include <fmt/format.h>

#include <map>

#include "ops/definitions.h"
#include "plan/fingerprint.h"

namespace weir::ops {
namespace {

Result<std::set<std::string>> modified(Workspace& workspace) {
  WEIR_TRY(const Graph* graph, workspace.sound_graph());
  WEIR_TRY(const Definitions definitions, definitions_in(workspace, workspace.environment()));
  std::map<std::string, std::string> deployed;
  for (const state::DeployedModel& model : definitions.records) deployed[model.model] = model.fingerprint;
  std::set<std::string> paths;
  for (const auto& [path, fingerprint] : plan::fingerprints(*graph))
    if (const auto known = deployed.find(path); known == deployed.end() || known->second != fingerprint)
      paths.insert(path);
  // What a file with errors would make is not what was deployed.
  WEIR_TRY(const auto* blocked, workspace.blocked());
  for (const auto& [path, fault] : *blocked) paths.insert(path);
  return paths;
}

Result<std::set<std::string>> failed(Workspace& workspace) {
  WEIR_TRY(state::Store * store, workspace.store_if_there());
  std::set<std::string> paths;
  if (store == nullptr) return paths;
  WEIR_TRY(const auto slices, store->slices(workspace.environment(), std::nullopt));
  for (const state::SliceRecord& slice : slices)
    if (slice.status == "failed") paths.insert(slice.model);
  return paths;
}

}  // namespace

Selection selection_of(Workspace& workspace, std::vector<std::string> select, std::vector<std::string> exclude) {
  Selection selection{.select = std::move(select), .exclude = std::move(exclude)};
  selection.in_state = [&workspace](const std::string& state) {
    return state == "modified" ? modified(workspace) : failed(workspace);
  };
  return selection;
}

Result<Chosen> choose(Workspace& workspace, const Selection& selection, Diagnostics& warnings) {
  WEIR_TRY(const Graph* whole, workspace.whole_graph());
  WEIR_TRY(const auto* blocked, workspace.blocked());
  WEIR_TRY(const Project* project, workspace.project());
  Chosen chosen;
  Diagnostics unplaced;
  for (const Diagnostic& found : project->diagnostics)
    if (found.severity == Severity::Error && project->source(found.path) == nullptr) unplaced.push_back(found);
  if (!unplaced.empty()) return fail(std::move(unplaced));
  WEIR_TRY(chosen.sound, select(*whole, selection, warnings, &chosen.path));
  std::set<std::string> files;
  std::set<std::string> of_models;
  for (const Model& broken : project->broken_models) of_models.insert(broken.source->path);
  for (const auto& [path, fault] : *blocked) {
    if (chosen.sound.erase(path) == 0) continue;
    chosen.blocked.emplace(path, fault);
    files.insert(fault.file);
  }
  for (const Model& broken : project->broken_models)
    if (files.contains(broken.source->path))
      for (Diagnostic& one : errors_of(*project, broken)) chosen.errors.push_back(std::move(one));
  // Of test scripts and libraries it is not known whose a broken model uses.
  for (const Diagnostic& found : project->diagnostics)
    if (found.severity == Severity::Error && !files.empty() && !of_models.contains(found.path))
      chosen.errors.push_back(found);
  return chosen;
}

Result<void> refuse_if_all_blocked(const Chosen& chosen, const Project& project) {
  if (!chosen.sound.empty() || chosen.blocked.empty()) return {};
  Diagnostics problems = chosen.errors;
  for (const Model& model : project.models) {
    const auto fault = chosen.blocked.find(model.path);
    if (fault == chosen.blocked.end()) continue;
    problems.push_back({.code = Code::W2005,
                        .message = fmt::format("{} is blocked by {}", model.path, fault->second.by()),
                        .hint = fmt::format("correct {}", fault->second.file)});
  }
  return fail(std::move(problems));
}

}  // namespace weir::ops
