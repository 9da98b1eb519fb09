#include "ops/unit_test.h"

#include <algorithm>

#include "graph/select.h"
#include "ops/check.h"
#include "trial/trial.h"

namespace weir::ops {
namespace {

/// The tests of a project; their files become known to the workspace, so that diagnostics can show their lines.
Result<std::vector<UnitTest>> tests_of(Workspace& workspace) {
  WEIR_TRY(const Project* project, workspace.project());
  WEIR_TRY(std::vector<UnitTest> tests, read_unit_tests(project->config));
  for (const UnitTest& test : tests) workspace.add_source(test.source);
  return tests;
}

/// A model with all that stands above it.
void add_with_producers(const Graph& graph, std::size_t model, std::set<std::string>& paths) {
  if (!paths.insert(graph.models()[model].path).second) return;
  for (const std::size_t producer : graph.producers_of(model)) add_with_producers(graph, producer, paths);
}

const Model* broken_model(const Project& project, const std::string& name) {
  for (const Model& model : project.broken_models)
    if (model.path == name || model.path.ends_with("/" + name)) return &model;
  return nullptr;
}

/// Columns of what the tested models read. Where the lakes cannot be asked the captured ones serve: a unit test needs
/// no lake.
Result<bind::Bound> bind_inputs(Workspace& workspace, const std::set<std::string>& only) {
  if (only.empty()) return bind::Bound{};
  if (auto bound = bind_project(workspace, {.offline = false, .lineage = false}, nullptr, &only))
    return std::move(bound->bound);
  WEIR_TRY(BoundGraph bound, bind_project(workspace, {.offline = true, .lineage = false}, nullptr, &only));
  return std::move(bound.bound);
}

}  // namespace

Result<std::vector<trial::Outcome>> unit_test(Workspace& workspace, const std::vector<std::string>& selectors,
                                              const std::vector<std::string>& exclude) {
  WEIR_TRY(const Graph* graph, workspace.sound_graph());
  WEIR_TRY(const Project* project, workspace.project());
  Diagnostics warnings;
  WEIR_TRY(const Graph* whole, workspace.whole_graph());
  WEIR_TRY(const std::set<std::string> selected, select(*whole, {selectors, exclude, std::nullopt, {}}, warnings));
  WEIR_TRY(const std::vector<UnitTest> tests, tests_of(workspace));
  const bool is_all = selectors.empty() && exclude.empty();
  std::vector<const UnitTest*> wanted;
  std::set<std::string> needed;
  for (const UnitTest& test : tests) {
    const auto model = trial::model_of(test, *project);
    // A test of nothing that is there belongs to no selection; one of a model with errors says these.
    const Model* broken = model ? nullptr : broken_model(*project, test.model.text);
    if (model ? !selected.contains((*model)->path) : !is_all && (broken == nullptr || !selected.contains(broken->path)))
      continue;
    wanted.push_back(&test);
    if (model) add_with_producers(*graph, graph->index_of((*model)->path), needed);
  }
  WEIR_TRY(const bind::Bound bound, bind_inputs(workspace, needed));
  std::vector<trial::Outcome> outcomes;
  for (const UnitTest* test : wanted) outcomes.push_back(trial::run_unit_test(*test, *project, *graph, bound));
  return outcomes;
}

Result<Diagnostics> check_unit_tests(Workspace& workspace) {
  WEIR_TRY(const Project* project, workspace.project());
  WEIR_TRY(const std::vector<UnitTest> tests, tests_of(workspace));
  Diagnostics found;
  for (const UnitTest& test : tests) {
    found.insert(found.end(), test.diagnostics.begin(), test.diagnostics.end());
    // A model whose own file is wrong is not there; that has been said.
    if (test.model.text.empty() || broken_model(*project, test.model.text) != nullptr) continue;
    if (auto model = trial::model_of(test, *project); !model)
      for (Diagnostic& one : model.error()) found.push_back(std::move(one));
  }
  return found;
}

}  // namespace weir::ops
