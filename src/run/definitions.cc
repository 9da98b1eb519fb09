#include "run/definitions.h"

#include <map>

#include "plan/fingerprint.h"
#include "project/identity.h"

namespace weir::run {
namespace {

state::DefinitionRecord record_of(const Project& project, const Model& model, const std::string& fingerprint) {
  state::DefinitionRecord record{.model = model.path, .fingerprint = fingerprint};
  record.local = plan::local_fingerprint(model);
  record.file = model.source->path;
  record.plane = name_of(model.plane);
  record.strategy = name_of(model.strategy);
  record.asset = identity_of(model);
  record.source = model.source->text;
  for (const MacroLibrary* library : libraries_of(project, model))
    record.libraries.emplace(library->source->path, library->source->text);
  return record;
}

}  // namespace

Result<void> remember(Session& session, const env::Environment& environment,
                      const std::vector<state::ShownModel>& shown) {
  std::map<std::string, const Model*> models;
  for (const Model& model : session.project.models) models.emplace(model.path, &model);
  std::vector<state::DefinitionRecord> records;
  for (const state::ShownModel& one : shown) {
    const state::ShownModel* before = environment.shown_model(one.model);
    const auto placement = session.owned.find(one.model);
    const bool is_known = before != nullptr && before->definition == one.definition;
    if (is_known || placement == session.owned.end() || placement->second.definition != one.definition) continue;
    records.push_back(record_of(session.project, *models.at(one.model), one.definition));
  }
  return session.store.remember(records);
}

}  // namespace weir::run
