#include "ops/edited_check.h"

#include <algorithm>

#include "bind/binder.h"
#include "ops/model_rules.h"
#include "ops/workspace.h"

namespace weir::ops {
namespace {

bool is_of_unit_tests(const SeenFile& file) { return file.path.ends_with(".yaml") || file.path.ends_with(".yml"); }

/// The edited files as they were, and what they read beside them.
class Surrounds {
 public:
  explicit Surrounds(const SeenProject& seen) : seen_(seen) {}

  /// False if one of the edited files was no model whose columns were known.
  bool gather(const OpenTexts& edited, const std::string& root) {
    texts_ = edited;
    files_.insert(seen_.libraries.begin(), seen_.libraries.end());
    std::set<std::string> reads;
    for (const auto& [file, text] : edited) {
      auto model = seen_.model_of(file);
      if (!model) return false;
      reads.insert(model->reads.begin(), model->reads.end());
      files_.insert(model->tests.begin(), model->tests.end());
      before_.emplace(file, std::move(*model));
    }
    for (auto& [file, maker] : seen_.makers_of(reads)) {
      files_.insert(file);
      files_.insert(maker.tests.begin(), maker.tests.end());
      for (const std::string& name : maker.names) known_[name].columns = maker.columns;
    }
    for (const std::string& file : files_) {
      if (texts_.contains(file)) continue;
      auto text = io::read_file(root + "/" + file);
      if (!text) return false;
      texts_.emplace(file, std::move(*text));
    }
    return true;
  }
  const OpenTexts& texts() const { return texts_; }
  const std::map<std::string, SeenModel>& before() const { return before_; }
  const bind::KnownSchemas& known() const { return known_; }

 private:
  const SeenProject& seen_;
  OpenTexts texts_;
  std::set<std::string> files_;
  std::map<std::string, SeenModel> before_;
  bind::KnownSchemas known_;
};

/// Rules that look at more than a model and what it reads: of metrics, of files, and of views that read it inlined.
bool needs_the_rest(const Model& model) {
  return !model.metrics.empty() || reads_files(model) || model.plane == Plane::Ephemeral;
}

bool is_as_before(const Graph& graph, const Project& project, const Model& model, const bind::BoundModel& bound,
                  const SeenModel& before) {
  if (bound.state != bind::BoundModel::State::Bound || !bound.blocked_tests.empty()) return false;
  if (!judge_stored_columns(model, bound).empty() || !note_self_reads(graph, model).empty()) return false;
  return seen_model(model, project, bound.columns) == before;
}

}  // namespace

bool edits_are_clean(const std::string& root, const SeenProject& seen, const OpenTexts& edited,
                     const bind::KnownSchemas& sources) {
  if (std::any_of(seen.files.begin(), seen.files.end(), is_of_unit_tests)) return false;
  Surrounds surrounds(seen);
  if (!surrounds.gather(edited, root)) return false;
  auto workspace = Workspace::open(root);
  if (!workspace || !workspace->use_texts(surrounds.texts())) return false;
  const auto project = workspace->project();
  const auto graph = workspace->sound_graph();
  if (!project || !graph) return false;
  // What is said of the others holds as little without what they read as it is new.
  const auto& found = (*project)->diagnostics;
  if (std::any_of(found.begin(), found.end(),
                  [&edited](const Diagnostic& one) { return one.path.empty() || edited.contains(one.path); }))
    return false;
  std::map<std::string, std::size_t> places;
  std::set<std::string> only;
  const std::vector<Model>& models = (*graph)->models();
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (!edited.contains(models[i].source->path)) continue;
    if (needs_the_rest(models[i])) return false;
    places.emplace(models[i].source->path, i);
    only.insert(models[i].path);
  }
  if (places.size() != edited.size()) return false;
  bind::Surroundings known{.sources = sources, .captured = {}};
  known.sources.insert(surrounds.known().begin(), surrounds.known().end());
  bind::Binder binder({.cache_file = {}, .database = workspace->parser_database(), .lineage = false});
  const auto bound = binder.bind(**project, **graph, known, nullptr, &only);
  if (!bound || !bound->is_lasting || !bound->diagnostics.empty()) return false;
  return std::all_of(places.begin(), places.end(), [&](const auto& place) {
    const auto& [file, i] = place;
    return is_as_before(**graph, **project, models[i], bound->models[i], surrounds.before().at(file));
  });
}

}  // namespace weir::ops
