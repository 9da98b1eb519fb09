#include "run/held_up.h"

#include <fmt/format.h>

#include "project/window_rows.h"

namespace weir::run {

StepReport first_report(const Model& model) {
  StepReport report;
  report.model = model.path;
  report.is_windowed = is_windowed(model);
  if (model.target) {
    // A delivery has no relation of its own.
    const bool is_delivery = model.plane == Plane::Table || model.plane == Plane::File;
    report.materialized = is_delivery ? model.target->uri() : model.relation.uri();
    if (model.target->kind == AssetKind::Lake) report.lake = model.target->place;
  }
  report.strategy = model.plane == Plane::Managed || model.plane == Plane::Table ? std::string(name_of(model.strategy))
                                                                                 : std::string(name_of(model.plane));
  return report;
}

StepReport refused_step(const Model& model, Diagnostics errors) {
  StepReport report = first_report(model);
  report.status = Status::Failed;
  report.is_held_up = true;
  report.reason = errors.front().message;
  report.error = fmt::format("{} has errors: {}", model.source->path, errors.front().message);
  report.errors = std::move(errors);
  return report;
}

StepReport blocked_step(const Model& model, const std::string& by) {
  StepReport report = first_report(model);
  report.status = Status::Skipped;
  report.is_blocking = true;
  report.is_held_up = true;
  report.reason = "blocked by " + by;
  return report;
}

std::vector<StepReport> hold_up(const Graph& graph, const std::map<std::string, Diagnostics>& errors,
                                std::set<std::string>& selected) {
  std::vector<StepReport> reports;
  std::set<std::size_t> held_up;
  for (std::size_t i = 0; i < graph.models().size(); ++i) {
    const Model& model = graph.models()[i];
    std::optional<StepReport> report;
    if (const auto own = errors.find(model.path); own != errors.end()) report = refused_step(model, own->second);
    for (const std::size_t producer : graph.producers_of(i))
      if (!report && held_up.contains(producer)) report = blocked_step(model, graph.models()[producer].path);
    if (!report) continue;
    held_up.insert(i);
    // One with errors may stand above the selection, which has to be built for it.
    const bool is_selected = selected.erase(model.path) > 0;
    if (is_selected || !report->errors.empty()) reports.push_back(std::move(*report));
  }
  return reports;
}

}  // namespace weir::run
