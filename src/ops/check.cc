#include "ops/check.h"

#include "bind/binder.h"
#include "ops/binding.h"
#include "text/render.h"

namespace weir::ops {
namespace {

/// Each read of a source that nobody has, at its place.
void note_missing_sources(const BoundGraph& bound, const Project& project, bool offline, Diagnostics& all) {
  for (const Model& model : bound.graph.models())
    for (const Reference& reference : model.references) {
      const std::string key = reference.asset.key();
      if (bound.graph.producer(reference.asset) != nullptr || project.broken.contains(key)) continue;
      const bool is_known = bound.bound.assets.contains(key);
      if (offline ? is_known : !bound.missing_sources.contains(key)) continue;
      const Source& source = reference.macro ? *model.macros[*reference.macro].source : *model.source;
      Diagnostic missing{.code = offline ? Code::W2123 : Code::W2015,
                         .severity = Severity::Warning,
                         .path = source.path,
                         .span = reference.span};
      if (offline) {
        missing.message = "the columns of " + reference.asset.uri() + " are not known without asking its lake";
        missing.hint = "check without --offline";
      } else {
        missing.message = reference.asset.uri() + " is produced by no model, and the lake does not have it";
        missing.hint = "write a model for it, or correct the name";
      }
      all.push_back(std::move(missing));
    }
}

std::string cache_file(const Project& project) { return project.config.root + "/.weir/cache/bound"; }

Result<BoundGraph> bind_graph(Workspace& workspace, const Project* project, Graph graph, const CheckRequest& request,
                              const std::atomic<bool>* cancelled, const std::set<std::string>* only) {
  BoundGraph result{std::move(graph), {}, {}};
  bind::Surroundings surroundings;
  Diagnostics failed;
  if (request.offline) {
    WEIR_TRY(surroundings.sources, captured_columns(workspace));
  } else {
    WEIR_TRY(SourceColumns sources, columns_in_lakes(workspace, bind::sources_of(result.graph)));
    surroundings.sources = std::move(sources.schemas);
    result.missing_sources = std::move(sources.missing);
  }
  surroundings.captured = [&]() -> bind::KnownSchemas {
    auto captured = captured_columns(workspace);
    if (captured) return std::move(*captured);
    failed = captured.error();
    return {};
  };
  bind::Binder binder({.cache_file = cache_file(*project), .lineage = request.lineage});
  WEIR_TRY(result.bound, binder.bind(*project, result.graph, surroundings, cancelled, only));
  if (!failed.empty()) return fail(std::move(failed));
  binder.save();
  return result;
}

}  // namespace

Result<BoundGraph> bind_project(Workspace& workspace, const CheckRequest& request, const std::atomic<bool>* cancelled,
                                const std::set<std::string>* only) {
  WEIR_TRY(const Project* project, workspace.project());
  WEIR_TRY(Graph graph, Graph::link(project->models));
  return bind_graph(workspace, project, std::move(graph), request, cancelled, only);
}

Result<Checked> check(Workspace& workspace, const CheckRequest& request, const std::atomic<bool>* cancelled) {
  WEIR_TRY(const Project* project, workspace.project());
  Checked checked;
  checked.diagnostics = project->diagnostics;
  // A cycle, or two producers of one asset, is the project's own fault, like the rest.
  auto linked = Graph::link(project->models);
  if (!linked) {
    for (const Diagnostic& one : linked.error()) checked.diagnostics.push_back(one);
  } else {
    CheckRequest without_lineage = request;
    without_lineage.lineage = false;
    WEIR_TRY(const BoundGraph bound,
             bind_graph(workspace, project, std::move(*linked), without_lineage, cancelled, nullptr));
    for (const Diagnostic& one : bound.bound.diagnostics) checked.diagnostics.push_back(one);
    note_missing_sources(bound, *project, request.offline, checked.diagnostics);
    for (std::size_t i = 0; i < bound.bound.models.size(); ++i)
      if (bound.bound.models[i].state == bind::BoundModel::State::Blocked)
        checked.blocked.push_back({bound.graph.models()[i].path, bound.bound.models[i].blocked_by});
  }
  text::sort_diagnostics(checked.diagnostics);
  return checked;
}

}  // namespace weir::ops
