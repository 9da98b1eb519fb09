#include "ops/soundness.h"

#include <algorithm>
#include <set>

#include "text/render.h"

namespace weir::ops {
namespace {

/// What it reads is not to be followed: it is a name and a table.
Model bare(const Model& model) {
  Model bare{.path = model.path, .source = model.source, .plane = model.plane, .strategy = model.strategy};
  bare.target = model.target;
  bare.relation = model.relation;
  bare.partitioning = model.partitioning;
  bare.tags = model.tags;
  return bare;
}

void move_to_broken(Project& project, const std::set<std::string>& paths) {
  std::vector<Model> sound;
  for (Model& model : project.models) {
    if (!paths.contains(model.path)) {
      sound.push_back(std::move(model));
      continue;
    }
    for (const Asset& asset : names_of(model)) project.broken.emplace(asset.key(), model.path);
    project.broken_models.push_back(bare(model));
  }
  project.models = std::move(sound);
}

std::set<std::string> models_with_errors(const Project& project) {
  std::set<std::string> files;
  for (const Diagnostic& found : project.diagnostics)
    if (found.severity == Severity::Error) files.insert(found.path);
  std::set<std::string> paths;
  for (const Model& model : project.models)
    if (files.contains(model.source->path)) paths.insert(model.path);
  return paths;
}

bool is_called(const std::string& path, const std::string& name) { return path == name || path.ends_with("/" + name); }

/// Who waits for a broken model by `depends_on` names one that is there: that is no fault of its own.
void hold_up_dependents(Project& project) {
  const auto one_of = [](const std::vector<Model>& models, const std::string& name) {
    return std::find_if(models.begin(), models.end(), [&name](const Model& one) { return is_called(one.path, name); });
  };
  for (Model& model : project.models)
    std::erase_if(model.depends_on, [&](const std::string& name) {
      const auto broken = one_of(project.broken_models, name);
      if (broken == project.broken_models.end() || one_of(project.models, name) != project.models.end()) return false;
      project.held_up.emplace(model.path, broken->source->path);
      return true;
    });
}

/// The blocked model that this one waits for; nothing if there is none.
const std::string* blocked_input(const Model& model, const std::map<std::string, std::string>& assets,
                                 const std::map<std::string, Fault>& blocked) {
  for (const Asset& asset : inputs_of(model))
    if (const auto found = assets.find(asset.key()); found != assets.end() && found->second != model.path)
      return &found->second;
  for (const std::string& wanted : model.depends_on)
    for (const auto& [path, fault] : blocked)
      if (is_called(path, wanted)) return &path;
  return nullptr;
}

}  // namespace

Graph link_sound_models(Project& project) {
  move_to_broken(project, models_with_errors(project));
  while (true) {
    hold_up_dependents(project);
    if (auto graph = Graph::link(project.models)) return std::move(*graph);
    std::set<std::string> paths;
    for (LinkFault& fault : Graph::faults(project.models)) {
      project.diagnostics.push_back(std::move(fault.diagnostic));
      paths.insert(fault.models.begin(), fault.models.end());
    }
    text::sort_diagnostics(project.diagnostics);
    move_to_broken(project, paths);
  }
}

Graph link_all_models(const Project& project) {
  std::vector<Model> all = project.models;
  std::set<std::string> paths;
  std::set<std::string> claimed;
  for (const Model& model : all) {
    paths.insert(model.path);
    for (const Asset& asset : names_of(model)) claimed.insert(asset.key());
  }
  for (const Model& model : project.broken_models) {
    if (!paths.insert(model.path).second) continue;
    all.push_back(bare(model));
    const std::vector<Asset> names = names_of(model);
    const bool is_rival = std::any_of(names.begin(), names.end(),
                                      [&claimed](const Asset& asset) { return claimed.contains(asset.key()); });
    if (is_rival) all.back() = {.path = model.path, .source = model.source, .plane = Plane::Manual};
    for (const Asset& asset : names) claimed.insert(asset.key());
  }
  return std::move(*Graph::link(std::move(all)));
}

std::map<std::string, Fault> blocked_models(const Project& project) {
  std::map<std::string, Fault> blocked;
  std::map<std::string, std::string> assets = project.broken;
  const auto block = [&](const Model& model, Fault fault) {
    blocked.emplace(model.path, std::move(fault));
    for (const Asset& asset : names_of(model)) assets.emplace(asset.key(), model.path);
  };
  for (const Model& model : project.broken_models) block(model, {model.source->path, {}});
  for (const Model& model : project.models)
    if (const auto part = project.held_up.find(model.path); part != project.held_up.end())
      block(model, {part->second, {}});
  for (bool has_more = !blocked.empty(); has_more;) {
    has_more = false;
    for (const Model& model : project.models) {
      if (blocked.contains(model.path)) continue;
      const std::string* above = blocked_input(model, assets, blocked);
      if (above == nullptr) continue;
      block(model, {blocked.at(*above).file, *above});
      has_more = true;
    }
  }
  return blocked;
}

}  // namespace weir::ops
