// One pass in the graph's order: producers are judged before their readers, so that what reaches a reader is known when
// it is its turn.
#include "plan/changes.h"

#include <algorithm>
#include <map>
#include <optional>

#include "bind/column_graph.h"
#include "plan/change_reasons.h"
#include "plan/choices.h"
#include "plan/definition_diff.h"
#include "plan/effect.h"
#include "plan/fingerprint.h"
#include "project/identity.h"
#include "text/lexer.h"

namespace weir::plan {
namespace {

/// Which deployed model each current one is: by path, and for a moved file by the relation that it kept.
class Pairs {
 public:
  Pairs(const std::vector<state::DeployedModel>& deployed, const Graph& current) {
    std::map<std::string, const state::DeployedModel*> by_path;
    for (const state::DeployedModel& record : deployed) by_path.emplace(record.model, &record);
    for (const Model& model : current.models()) {
      const auto found = by_path.find(model.path);
      if (found == by_path.end()) continue;
      pairs_.emplace(model.path, found->second);
      by_path.erase(found);
    }
    std::map<std::string, const state::DeployedModel*> gone;
    for (const auto& [path, record] : by_path)
      if (!record->asset.empty()) gone.emplace(record->asset, record);
    for (const Model& model : current.models()) {
      if (pairs_.contains(model.path)) continue;
      const auto found = gone.find(identity_of(model));
      if (found == gone.end()) continue;
      pairs_.emplace(model.path, found->second);
      by_path.erase(found->second->model);
    }
    for (const auto& [path, record] : by_path) removed_.push_back(record);
  }

  const state::DeployedModel* of(const Model& model) const {
    const auto found = pairs_.find(model.path);
    return found == pairs_.end() ? nullptr : found->second;
  }
  const std::vector<const state::DeployedModel*>& removed() const { return removed_; }

 private:
  std::map<std::string, const state::DeployedModel*> pairs_;
  std::vector<const state::DeployedModel*> removed_;
};

const Model* model_named(const Graph* graph, const std::string& path) {
  if (graph == nullptr) return nullptr;
  const auto& models = graph->models();
  const auto found = std::find_if(models.begin(), models.end(), [&](const Model& one) { return one.path == path; });
  return found == models.end() ? nullptr : &*found;
}

/// Pairs of models with the kind of their change; nothing is proven yet.
std::vector<ModelChange> drafts(const DeployedProject& deployed, const CurrentProject& current, const Pairs& pairs) {
  const auto prints = fingerprints(*current.graph);
  const auto old_prints =
      deployed.graph == nullptr ? std::map<std::string, std::string>() : fingerprints(*deployed.graph);
  std::vector<ModelChange> changes;
  for (const Model& model : current.graph->models()) {
    ModelChange change{.path = model.path, .model = &model, .deployed = pairs.of(model)};
    change.fingerprint = prints.at(model.path);
    if (change.deployed == nullptr) {
      change.kind = ChangeKind::Added;
    } else if (change.deployed->fingerprint != change.fingerprint) {
      const Model* before = model_named(deployed.graph, change.deployed->model);
      const bool is_own = before == nullptr || local_fingerprint(*before) != local_fingerprint(model);
      change.kind = is_own ? ChangeKind::Modified : ChangeKind::Indirect;
      // A text that means something else today than when it was deployed proves nothing.
      if (before != nullptr && old_prints.at(before->path) == change.deployed->fingerprint) change.before = before;
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

bool keeps_earlier_rows(Strategy strategy) {
  return strategy == Strategy::Merge || strategy == Strategy::Append || strategy == Strategy::History ||
         strategy == Strategy::HashMerge || strategy == Strategy::IncrementalByTime;
}
bool is_owned(const Model& model) { return model.plane == Plane::Virtual; }
bool has_rows(const Model& model) { return model.plane != Plane::View && model.plane != Plane::Ephemeral; }

class Classifier {
 public:
  Classifier(const DeployedProject& deployed, const CurrentProject& current, const parse::Trees& trees,
             const ChangeOptions& options)
      : deployed_(deployed),
        current_(current),
        trees_(trees),
        options_(options),
        pairs_(*deployed.records, *current.graph) {}

  std::vector<ModelChange> run() {
    changes_ = drafts(deployed_, current_, pairs_);
    effects_.resize(changes_.size());
    blamed_.resize(changes_.size());
    for (std::size_t i = 0; i < changes_.size(); ++i) judge(i);
    for (std::size_t i = 0; i < changes_.size(); ++i) name_readers(i);
    for (const state::DeployedModel* record : pairs_.removed()) changes_.push_back(removal(*record));
    return std::move(changes_);
  }

 private:
  void judge(std::size_t i);
  void judge_changed(std::size_t i);
  void settle(std::size_t i, Spread reached, const DefinitionDiff& definition);
  void take_everything(std::size_t i, std::string why);
  std::optional<std::string> rewired(std::size_t i) const;
  std::vector<ChangedInput> inputs_of(std::size_t i) const;
  bool may_go_on(const ModelChange& change, const DefinitionDiff& definition) const;
  Choices own_choices(const ModelChange& change) const;
  void name_columns(std::size_t i);
  void name_readers(std::size_t i);
  ModelChange removal(const state::DeployedModel& record) const;

  const bind::BoundModel* bound(std::size_t i) const {
    return current_.bound == nullptr ? nullptr : &current_.bound->models.at(i);
  }
  const bind::BoundModel* bound_before(std::size_t i) const {
    if (deployed_.bound == nullptr || changes_[i].before == nullptr) return nullptr;
    return &deployed_.bound->models.at(deployed_.graph->index_of(changes_[i].before->path));
  }

  const DeployedProject& deployed_;
  const CurrentProject& current_;
  const parse::Trees& trees_;
  const ChangeOptions& options_;
  Pairs pairs_;
  std::vector<ModelChange> changes_;
  std::vector<Effect> effects_;
  /// Producers that a model is built anew for.
  std::vector<std::set<std::string>> blamed_;
};

bool is_traced(const bind::BoundModel* model) {
  return model != nullptr && model->state == bind::BoundModel::State::Bound && model->is_traced;
}

std::optional<std::vector<std::string>> names_of(const bind::BoundModel* model) {
  if (model == nullptr || model->state != bind::BoundModel::State::Bound) return std::nullopt;
  std::vector<std::string> names;
  for (const bind::BoundColumn& column : model->columns) names.push_back(text::lower(column.name));
  return names;
}

void Classifier::judge(std::size_t i) {
  ModelChange& change = changes_[i];
  if (change.kind == ChangeKind::Added) {
    effects_[i].is_everything = true;
    change.is_everything = true;
    change.reason = "the environment does not have it yet";
    name_columns(i);
  } else if (change.kind == ChangeKind::Unchanged) {
    const bool is_moved = change.deployed->model != change.path;
    change.reason = is_moved ? "its file was " + change.deployed->model + ", its definition is as deployed"
                             : "its definition and those of its inputs are as deployed";
    change.before = model_named(deployed_.graph, change.deployed->model);
  } else {
    judge_changed(i);
  }
}

void Classifier::take_everything(std::size_t i, std::string why) {
  Spread reached;
  reached.effect.is_everything = true;
  reached.effect.why = std::move(why);
  settle(i, std::move(reached), {});
}

/// What a model reads is made by another model than before, or by none any more; in words.
std::optional<std::string> Classifier::rewired(std::size_t i) const {
  const ModelChange& change = changes_[i];
  const auto written = [](const Model& model) {
    std::map<std::string, Asset> names;
    for (const Reference& reference : model.references) {
      const Source& source = reference.macro ? *model.macros[*reference.macro].source : *model.source;
      const Span span = reference.span;
      names.emplace(text::lower(source.text.substr(span.begin, span.size())), reference.asset);
    }
    return names;
  };
  const auto before = written(*change.before);
  for (const auto& [name, asset] : written(*change.model)) {
    const auto old = before.find(name);
    if (old == before.end()) continue;
    if (old->second.key() != asset.key()) return "`" + name + "` is another table than before";
    const Model* producer = current_.graph->producer(asset);
    const Model* old_producer = deployed_.graph->producer(asset);
    if (producer == nullptr && old_producer != nullptr) return "no model makes `" + name + "` any more";
    if (producer == nullptr) continue;
    if (old_producer == nullptr) return "`" + name + "` is made by the model `" + producer->path + "` now";
    const state::DeployedModel* record = pairs_.of(*producer);
    if (record == nullptr || record->model != old_producer->path)
      return "`" + name + "` is made by another model now: `" + producer->path + "`";
  }
  return std::nullopt;
}

std::vector<ChangedInput> Classifier::inputs_of(std::size_t i) const {
  std::vector<ChangedInput> inputs;
  std::set<std::string> seen;
  const Model& model = *changes_[i].model;
  for (const Reference& reference : model.references) {
    const Model* producer = current_.graph->producer(reference.asset);
    if (producer == nullptr || producer == &model || !seen.insert(producer->path).second) continue;
    const Effect& effect = effects_[current_.graph->index_of(producer->path)];
    if (effect.concerns_readers()) inputs.push_back({text::lower(bind::asset_of(*producer)), producer->path, &effect});
  }
  return inputs;
}

bool reads_itself(const Model& model, const Graph& graph) {
  return std::any_of(model.references.begin(), model.references.end(),
                     [&](const Reference& one) { return graph.producer(one.asset) == &model; });
}

/// Setup that reads tables in ways that lineage does not follow (SET VARIABLE x = (SELECT …)).
bool hides_reads(const Model& model) {
  for (std::size_t i = 0; i + 1 < model.script.statements.size(); ++i) {
    const parse::Statement& one = model.script.statements[i];
    const bool is_followed = one.kind == parse::StatementKind::CreateTempTable ||
                             one.kind == parse::StatementKind::CreateTempView ||
                             one.kind == parse::StatementKind::CreateTempMacro;
    if (!is_followed && !one.tables.empty()) return true;
  }
  return false;
}

void Classifier::judge_changed(std::size_t i) {
  const ModelChange& change = changes_[i];
  if (change.before == nullptr)
    return take_everything(i, "the text of the definition that the environment has is not known");
  if (auto why = rewired(i)) return take_everything(i, std::move(*why));
  const std::vector<ChangedInput> inputs = inputs_of(i);
  DefinitionDiff definition;
  if (change.kind == ChangeKind::Modified)
    definition = diff_definitions(*change.before, *change.model, trees_, *options_.functions, names_of(bound_before(i)),
                                  names_of(bound(i)));
  const bool is_touched = change.kind == ChangeKind::Modified && !definition.is_gate_alone;
  if (!is_touched && inputs.empty()) return settle(i, {}, definition);
  if (change.model->plane == Plane::Manual && !is_touched) {
    std::string names;
    for (const ChangedInput& input : inputs) names += (names.empty() ? "`" : ", `") + input.path + "`";
    return take_everything(i, "what a manual script does with " + names + " is not followed");
  }
  if (definition.query.is_everything || (is_traced(bound(i)) && is_traced(bound_before(i)))) {
    if (!definition.query.is_everything) {
      if (reads_itself(*change.model, *current_.graph))
        return take_everything(i, "it reads its own table, and what it is made from changed");
      if (hides_reads(*change.model)) return take_everything(i, "its setup reads tables in a way that is not followed");
    }
    static const bind::BoundModel nothing;
    const bool has_both = !definition.query.is_everything;
    return settle(i,
                  spread(*change.model, definition.query, inputs, has_both ? *bound_before(i) : nothing,
                         has_both ? *bound(i) : nothing),
                  definition);
  }
  take_everything(i, "where its columns come from is not known");
}

/// Whether rows that are there may stay, under --forward-only: the model adds to them, and the columns still fit.
bool Classifier::may_go_on(const ModelChange& change, const DefinitionDiff& definition) const {
  if (!options_.forward_only || change.before == nullptr || definition.is_beyond_query) return false;
  const Model& model = *change.model;
  if (!is_owned(model) || !(keeps_earlier_rows(model.strategy) || model.strategy == Strategy::FullMerge)) return false;
  const std::size_t i = current_.graph->index_of(model.path);
  const bind::BoundModel* before = bound_before(i);
  const bind::BoundModel* after = bound(i);
  if (!names_of(before) || !names_of(after)) return false;
  return std::all_of(before->columns.begin(), before->columns.end(), [&](const bind::BoundColumn& old) {
    return std::any_of(after->columns.begin(), after->columns.end(), [&](const bind::BoundColumn& column) {
      return text::same_word(column.name, old.name) && column.type == old.type;
    });
  });
}

Choices Classifier::own_choices(const ModelChange& change) const {
  if (!has_rows(*change.model) || change.model->plane == Plane::Manual) return {};
  const std::string query = comparable_query(*change.model);
  return choices_of(trees_.of(query).json, *options_.functions, macros_of(*change.model),
                    names_of(bound(current_.graph->index_of(change.path))));
}

void Classifier::settle(std::size_t i, Spread reached, const DefinitionDiff& definition) {
  ModelChange& change = changes_[i];
  const Model& model = *change.model;
  Effect& effect = reached.effect;
  const bool is_anew = definition.query.is_ordered_anew;
  const bool keeps = is_owned(model) && keeps_earlier_rows(model.strategy);
  // What building an input again may choose is no reason to lose rows of earlier runs.
  if (keeps && effect.is_clean() && !is_anew) effect = Effect();
  const bool must_build = !effect.is_clean() || is_anew || effect.may_choose_any();
  const bool goes_on = must_build && may_go_on(change, definition);
  change.reuse = !must_build;
  change.reason = reason_of(change, definition, reached);
  if (must_build && keeps && !goes_on && !effect.is_everything) {
    effect.is_everything = true;
    change.reason += "; rows of earlier runs would be lost (--forward-only keeps them)";
  }
  if (effect.is_everything || !effect.touched.empty())
    change.category = ChangeCategory::Breaking;
  else if (!effect.is_clean())
    change.category = ChangeCategory::Additive;
  if (goes_on) change.category = ChangeCategory::ForwardOnly;
  change.is_everything = effect.is_everything;
  blamed_[i] = reached.from;
  if (must_build && effect.is_clean() && !is_anew) blamed_[i].merge(reached.chosen_from);
  if (must_build && !effect.is_everything) {
    Choices choices = own_choices(change);
    effect.may_choose_rows = effect.may_choose_rows || choices.in_rows;
    effect.may_choose.merge(choices.columns);
    if (effect.choice.empty()) effect.choice = choices.why;
  }
  effects_[i] = std::move(effect);
  name_columns(i);
}

/// Impacted columns as the model spells them, in its order; those that are gone behind them.
void Classifier::name_columns(std::size_t i) {
  ModelChange& change = changes_[i];
  const Effect& effect = effects_[i];
  std::set<std::string> seen;
  for (const bind::BoundModel* side : {bound(i), bound_before(i)}) {
    if (side == nullptr) continue;
    for (const bind::BoundColumn& column : side->columns) {
      const std::string name = text::lower(column.name);
      const bool is_impacted = effect.is_everything || effect.touched.contains(name) || effect.added.contains(name);
      if (is_impacted && seen.insert(name).second) change.impacted.push_back(column.name);
    }
  }
}

/// Says of a changed model who reads what changed.
void Classifier::name_readers(std::size_t i) {
  ModelChange& change = changes_[i];
  if (change.kind != ChangeKind::Modified || change.reuse) return;
  std::vector<std::string> readers;
  for (const std::size_t reader : current_.graph->readers_of(i))
    if (blamed_[reader].contains(change.path)) readers.push_back(changes_[reader].path);
  change.reason += readers_in_words(readers, effects_[i]);
}

ModelChange Classifier::removal(const state::DeployedModel& record) const {
  ModelChange change{.path = record.model, .before = model_named(deployed_.graph, record.model), .deployed = &record};
  change.kind = ChangeKind::Removed;
  const bool has_view = record.plane == weir::name_of(Plane::Virtual) || record.plane == weir::name_of(Plane::View);
  change.is_everything = has_view;
  change.category = has_view ? ChangeCategory::Breaking : ChangeCategory::None;
  change.reason = has_view ? "the project no longer has it: its view goes" : "the project no longer has it";
  return change;
}

bool needs_proof(const ModelChange& change) {
  return change.before != nullptr && (change.kind == ChangeKind::Modified || change.kind == ChangeKind::Indirect);
}

}  // namespace

std::string_view name_of(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::Unchanged:
      return "unchanged";
    case ChangeKind::Added:
      return "added";
    case ChangeKind::Removed:
      return "removed";
    case ChangeKind::Modified:
      return "modified";
    case ChangeKind::Indirect:
      break;
  }
  return "indirect";
}

std::string_view name_of(ChangeCategory category) {
  switch (category) {
    case ChangeCategory::None:
      return "none";
    case ChangeCategory::Additive:
      return "additive";
    case ChangeCategory::Breaking:
      return "breaking";
    case ChangeCategory::ForwardOnly:
      break;
  }
  return "forward-only";
}

ModelsToBind models_to_bind(const DeployedProject& deployed, const CurrentProject& current) {
  ModelsToBind models;
  for (const ModelChange& change : drafts(deployed, current, Pairs(*deployed.records, *current.graph))) {
    if (change.kind != ChangeKind::Unchanged) models.current.insert(change.path);
    if (needs_proof(change)) models.deployed.insert(change.before->path);
  }
  return models;
}

std::vector<std::string> queries_to_compare(const DeployedProject& deployed, const CurrentProject& current) {
  std::vector<std::string> queries;
  for (const ModelChange& change : drafts(deployed, current, Pairs(*deployed.records, *current.graph))) {
    if (!needs_proof(change)) continue;
    for (const Model* model : {change.before, change.model})
      if (std::string query = comparable_query(*model); !query.empty()) queries.push_back(std::move(query));
  }
  return queries;
}

std::vector<ModelChange> classify(const DeployedProject& deployed, const CurrentProject& current,
                                  const parse::Trees& trees, const ChangeOptions& options) {
  return Classifier(deployed, current, trees, options).run();
}

}  // namespace weir::plan
