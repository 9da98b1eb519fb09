#include "ops/list.h"

#include "graph/select.h"
#include "text/render.h"

namespace weir::ops {

std::string version() { return WEIR_VERSION; }

Result<std::vector<const Model*>> list(Workspace& workspace, const std::vector<std::string>& selectors,
                                       const std::vector<std::string>& exclude) {
  WEIR_TRY(const Graph* graph, workspace.graph());
  Diagnostics warnings;
  WEIR_TRY(const std::set<std::string> selected, select(*graph, {selectors, exclude, std::nullopt, {}}, warnings));
  std::vector<const Model*> listed;
  for (const Model& model : graph->models())
    if (selected.contains(model.path)) listed.push_back(&model);
  return listed;
}

namespace {

/// Assets that models read, that no model produces, and that the lakes do not hold.
Result<Diagnostics> missing_sources(Workspace& workspace, const Graph& graph) {
  Diagnostics found;
  std::vector<std::pair<const Model*, const Reference*>> sources;
  for (const Model& model : graph.models())
    for (const Reference& reference : model.references)
      if (reference.asset.kind == AssetKind::Lake && graph.producer(reference.asset) == nullptr)
        sources.emplace_back(&model, &reference);
  if (sources.empty()) return found;
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(false));
  WEIR_TRY(duck::Connection connection, lakes->connect());
  for (const auto& [model, reference] : sources) {
    const lake::Lake& lake = lakes->lake(reference->asset.place);
    WEIR_TRY(const std::int64_t version, lake.current_version(connection));
    WEIR_TRY(const auto states, lake.observe(connection, {reference->asset}, version));
    if (states.at(reference->asset.key()).exists) continue;
    const Source& source = reference->macro ? *model->macros[*reference->macro].source : *model->source;
    Diagnostic missing{
        .code = Code::W2015, .severity = Severity::Warning, .path = source.path, .span = reference->span};
    missing.message = reference->asset.uri() + " is produced by no model, and the lake does not have it";
    missing.hint = "write a model for it, or correct the name";
    found.push_back(std::move(missing));
  }
  return found;
}

}  // namespace

Result<Diagnostics> check(Workspace& workspace) {
  WEIR_TRY(const Project* project, workspace.project());
  Diagnostics all = project->diagnostics;
  if (!has_errors(all)) {
    auto graph = workspace.graph();
    if (!graph) {
      all.insert(all.end(), graph.error().begin(), graph.error().end());
    } else {
      WEIR_TRY(const Diagnostics missing, missing_sources(workspace, **graph));
      all.insert(all.end(), missing.begin(), missing.end());
    }
  }
  text::sort_diagnostics(all);
  return all;
}

}  // namespace weir::ops
