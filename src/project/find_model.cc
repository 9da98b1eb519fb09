// Finding a model by the name that somebody gave, and saying why one with errors is not to be had.
#include <algorithm>

#include "project/project.h"
#include "text/suggest.h"

namespace weir {
namespace {

std::string join(const std::vector<std::string>& names) {
  std::string joined;
  for (const std::string& name : names) joined += (joined.empty() ? "" : ", ") + name;
  return joined;
}

}  // namespace

Diagnostics errors_of(const Project& project, const Model& broken) {
  Diagnostics errors;
  for (const Diagnostic& found : project.diagnostics)
    if (found.severity == Severity::Error && found.path == broken.source->path) errors.push_back(found);
  if (errors.empty())
    errors.push_back({.code = Code::W2005,
                      .message = broken.path + " is held up by errors of other files",
                      .hint = "`weir check` shows them"});
  return errors;
}

Result<const Model*> find_model(const Project& project, std::string_view name) {
  std::vector<std::string> known;
  std::vector<const Model*> found;
  const Model* exact = nullptr;
  for (const auto* models : {&project.models, &project.broken_models})
    for (const Model& model : *models) {
      const std::string short_name = model.path.substr(model.path.rfind('/') + 1);
      known.push_back(model.path);
      known.push_back(short_name);
      if (model.path == name && exact == nullptr) exact = &model;
      if (short_name == name) found.push_back(&model);
    }
  if (exact != nullptr) found = {exact};
  if (found.size() == 1) {
    const Model* one = found.front();
    const auto& broken = project.broken_models;
    if (std::any_of(broken.begin(), broken.end(), [one](const Model& other) { return &other == one; }))
      return fail(errors_of(project, *one));
    return one;
  }
  if (!found.empty()) {
    std::vector<std::string> candidates;
    for (const Model* one : found) candidates.push_back(one->path);
    return fail(Diagnostic{.code = Code::W2011,
                           .message = "`" + std::string(name) + "` names several models: " + join(candidates),
                           .hint = "give the whole path"});
  }
  const auto near = text::nearest(name, known);
  return fail(Diagnostic{.code = Code::W2010,
                         .message = "there is no model `" + std::string(name) + "`",
                         .hint = near ? "did you mean `" + *near + "`?" : "`weir ls` lists them"});
}

std::vector<const MacroLibrary*> libraries_of(const Project& project, const Model& model) {
  std::vector<const MacroLibrary*> libraries;
  const auto add = [&](const std::string& path) {
    for (const MacroLibrary& library : project.libraries)
      if (library.path == path && std::find(libraries.begin(), libraries.end(), &library) == libraries.end())
        libraries.push_back(&library);
  };
  for (const MacroDefinition& macro : model.macros) add(macro.library);
  for (const Use& use : model.uses) add(use.path);
  for (std::size_t i = 0; i < libraries.size(); ++i)
    for (const Use& use : libraries[i]->uses) add(use.path);
  return libraries;
}

}  // namespace weir
