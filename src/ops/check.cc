#include "ops/check.h"

#include <algorithm>

#include "bind/binder.h"
#include "duck/sql.h"
#include "ops/binding.h"
#include "ops/clean_check.h"
#include "ops/metric_warnings.h"
#include "ops/model_rules.h"
#include "ops/unit_test.h"
#include "project/custom_test.h"
#include "project/piece.h"
#include "text/lexer.h"
#include "text/render.h"
#include "text/suggest.h"

namespace weir::ops {
namespace {

/// A table that a model or one of its tests reads, at its place.
struct Read {
  Asset asset;
  const Source* source;
  Span span;
};

std::vector<Read> reads_of(const Model& model) {
  std::vector<Read> reads;
  for (const Reference& reference : model.references) {
    const Source& source = reference.macro ? *model.macros[*reference.macro].source : *model.source;
    reads.push_back({reference.asset, &source, reference.span});
  }
  for (const TestQuery& query : model.test_queries)
    for (const Reference& reference : query.references)
      reads.push_back({reference.asset, query.is_in_header ? model.source.get() : query.source.get(),
                       place_in_file(model, query, reference.span)});
  return reads;
}

/// Each read of a source whose columns were never captured, at its place.
void note_uncaptured_sources(const BoundGraph& bound, const Project& project, Diagnostics& all) {
  for (const Model& model : bound.graph.models())
    for (const Read& read : reads_of(model)) {
      const std::string key = read.asset.key();
      if (bound.graph.producer(read.asset) != nullptr || project.broken.contains(key)) continue;
      if (bound.bound.assets.contains(key)) continue;
      Diagnostic missing{
          .code = Code::W2123, .severity = Severity::Warning, .path = read.source->path, .span = read.span};
      missing.message = "the columns of " + read.asset.uri() + " are not known without asking its lake";
      missing.hint = "check without --offline";
      all.push_back(std::move(missing));
    }
}

/// The place of the last name within a dotted one.
Span last_name(const Source& source, Span whole) {
  Span found = whole;
  for (const text::Token& token : text::lex_code(std::string_view(source.text).substr(whole.begin, whole.size())))
    if (token.is_name()) found = {whole.begin + token.span.begin, whole.begin + token.span.end};
  return found;
}

/// Proposes the nearest table of the same schema.
void suggest_table(Diagnostic& missing, const Asset& asset, const Source& source, const Graph& graph,
                   const bind::Bound& bound) {
  const auto is_beside = [&asset](const Asset& other) {
    return other.kind == asset.kind && text::same_word(other.place, asset.place) &&
           text::same_word(other.schema, asset.schema) && !other.name.empty();
  };
  std::vector<std::string> names;
  for (const Model& model : graph.models())
    for (const Asset& made : outputs_of(model))
      if (is_beside(made)) names.push_back(made.name);
  for (const auto& [key, columns] : bound.assets)
    if (const auto known = parse_asset(key); known && is_beside(*known)) names.push_back(known->name);
  const auto near = text::nearest(asset.name, names);
  if (!near) return;
  missing.hint = "did you mean `" + *near + "`?";
  const bool is_plain = std::all_of(near->begin(), near->end(), is_name_char);
  missing.fix = Fix{last_name(source, missing.span), is_plain ? *near : duck::quote_identifier(*near)};
}

std::string cache_file(const Project& project) { return project.config.root + "/.weir/cache/bound"; }

}  // namespace

Diagnostics warn_of_missing_sources(const Graph& graph, const Project& project, const bind::Bound& bound,
                                    const std::set<std::string>& missing) {
  Diagnostics found;
  for (const Model& model : graph.models())
    for (const Read& read : reads_of(model)) {
      const std::string key = read.asset.key();
      if (graph.producer(read.asset) != nullptr || project.broken.contains(key) || !missing.contains(key)) continue;
      Diagnostic one{.code = Code::W2015, .severity = Severity::Warning, .path = read.source->path, .span = read.span};
      one.message = read.asset.uri() + " is produced by no model, and the lake does not have it";
      one.hint = "write a model for it, or correct the name";
      suggest_table(one, read.asset, *read.source, graph, bound);
      found.push_back(std::move(one));
    }
  return found;
}

Result<BoundGraph> bind_project(Workspace& workspace, const CheckRequest& request, const std::atomic<bool>* cancelled,
                                const std::set<std::string>* only) {
  WEIR_TRY(const Project* project, workspace.project());
  WEIR_TRY(const Graph* graph, workspace.sound_graph());
  BoundGraph result{*graph, {}, {}};
  bind::Surroundings surroundings;
  Diagnostics failed;
  if (request.offline) {
    WEIR_TRY(surroundings.sources, captured_columns(workspace));
  } else {
    result.sources = bind::sources_of(result.graph);
    WEIR_TRY(result.columns, columns_in_lakes(workspace, result.sources));
    surroundings.sources = result.columns->schemas;
    result.missing_sources = result.columns->missing;
  }
  surroundings.captured = [&]() -> bind::KnownSchemas {
    auto captured = captured_columns(workspace);
    if (captured) return std::move(*captured);
    failed = captured.error();
    return {};
  };
  bind::Binder binder(
      {.cache_file = cache_file(*project), .database = workspace.parser_database(), .lineage = request.lineage});
  WEIR_TRY(result.bound, binder.bind(*project, result.graph, surroundings, cancelled, only));
  if (!failed.empty()) return fail(std::move(failed));
  binder.save();
  return result;
}

Result<Checked> check(Workspace& workspace, const CheckRequest& request, const std::atomic<bool>* cancelled) {
  Checked checked;
  std::optional<CleanCheck> seen;
  if (!request.offline && workspace.loaded() == nullptr && workspace.environment() == env::kProd) {
    WEIR_TRY(const Config* config, workspace.config());
    seen = CleanCheck::look(workspace.root(), *config);
  }
  if (const auto models = seen ? seen->recall(workspace) : std::nullopt) {
    checked.models = *models;
    return checked;
  }
  WEIR_TRY(const Project* project, workspace.project());
  checked.models = project->models.size() + project->broken_models.size();
  checked.diagnostics = project->diagnostics;
  CheckRequest without_lineage = request;
  without_lineage.lineage = false;
  auto bound_project = bind_project(workspace, without_lineage, cancelled);
  // What the files say wrongly is told first: a lake that cannot be opened must not hide it.
  const bool has_errors = std::any_of(project->diagnostics.begin(), project->diagnostics.end(),
                                      [](const Diagnostic& one) { return one.severity == Severity::Error; });
  if (!bound_project) return fail(has_errors ? project->diagnostics : std::move(bound_project).error());
  const BoundGraph& bound = *bound_project;
  const std::vector<Model>& models = bound.graph.models();
  for (const Diagnostic& one : bound.bound.diagnostics) checked.diagnostics.push_back(one);
  if (request.offline)
    note_uncaptured_sources(bound, *project, checked.diagnostics);
  else
    for (Diagnostic& one : warn_of_missing_sources(bound.graph, *project, bound.bound, bound.missing_sources))
      checked.diagnostics.push_back(std::move(one));
  WEIR_TRY(const Diagnostics of_metrics, metric_warnings(workspace, *project, bound.bound));
  checked.diagnostics.insert(checked.diagnostics.end(), of_metrics.begin(), of_metrics.end());
  for (std::size_t i = 0; i < models.size(); ++i)
    for (const Diagnostics& found :
         {judge_stored_columns(models[i], bound.bound.models[i]), note_self_reads(bound.graph, models[i])})
      checked.diagnostics.insert(checked.diagnostics.end(), found.begin(), found.end());
  for (std::size_t i = 0; i < models.size(); ++i)
    if (bound.bound.models[i].state == bind::BoundModel::State::Blocked)
      checked.blocked.push_back({models[i].path, bound.bound.models[i].blocked_by, {}});
  for (std::size_t i = 0; i < models.size(); ++i)
    for (const auto& [test, by] : bound.bound.models[i].blocked_tests)
      checked.blocked.push_back({models[i].path, by, test});
  // Metrics of a table whose columns are not known are judged by what was captured.
  const bool asks_captures = std::any_of(models.begin(), models.end(), [&bound](const Model& one) {
    return !one.metrics.empty() && bound.bound.columns_of(*one.target) == nullptr;
  });
  WEIR_TRY(const Diagnostics tests, check_unit_tests(workspace));
  checked.diagnostics.insert(checked.diagnostics.end(), tests.begin(), tests.end());
  text::sort_diagnostics(checked.diagnostics);
  const bool is_clean = checked.diagnostics.empty() && checked.blocked.empty();
  if (seen && is_clean && bound.columns && bound.bound.is_lasting && !asks_captures &&
      std::none_of(models.begin(), models.end(), reads_files))
    seen->remember(*project, bound);
  return checked;
}

}  // namespace weir::ops
