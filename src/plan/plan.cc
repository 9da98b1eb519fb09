#include "plan/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/hash.h"
#include "plan/partitions.h"
#include "plan/windows.h"
#include "project/delivery.h"
#include "project/window_rows.h"
#include "text/lexer.h"

namespace weir::plan {
namespace {

/// Values of a model's arguments: what was given for it, else for all, else the default.
std::map<std::string, std::string> arguments_of(const Model& model, const Options& options) {
  std::map<std::string, std::string> values;
  for (const Argument& argument : model.arguments) {
    if (argument.default_value) values[argument.name] = *argument.default_value;
    for (const std::string& scope : {std::string(), model.path}) {
      const auto given = options.arguments.find(scope);
      if (given == options.arguments.end()) continue;
      const auto value = given->second.find(argument.name);
      if (value != given->second.end()) values[argument.name] = value->second;
    }
  }
  return values;
}

std::string hash_of(const std::map<std::string, std::string>& values) {
  if (values.empty()) return {};
  std::string text;
  for (const auto& [name, value] : values) text += fmt::format("{}:{}={}:{};", name.size(), name, value.size(), value);
  return io::xxh3_hex(text);
}

Result<void> check_arguments(const Graph& graph, const std::set<std::string>& selected, const Options& options) {
  Diagnostics problems;
  for (const auto& [scope, values] : options.arguments) {
    for (const auto& [name, value] : values) {
      const bool declared = std::any_of(graph.models().begin(), graph.models().end(), [&](const Model& model) {
        return selected.contains(model.path) && (scope.empty() || scope == model.path) &&
               std::any_of(model.arguments.begin(), model.arguments.end(),
                           [&](const Argument& a) { return a.name == name; });
      });
      if (declared) continue;
      Diagnostic found{.code = Code::W8004};
      found.message = scope.empty() ? fmt::format("no selected model declares an argument `{}`", name)
                                    : fmt::format("the model {} declares no argument `{}`", scope, name);
      found.hint = fmt::format("declare it in the header: -- ${} (type)", name);
      problems.push_back(std::move(found));
    }
  }
  if (!problems.empty()) return fail(std::move(problems));
  return {};
}

/// The asset whose changes count for an input: a `_current` view shows its history's rows.
std::string changes_key(const Asset& input, const Graph& graph) {
  const Model* producer = graph.producer(input);
  return producer != nullptr && producer->target ? producer->target->key() : input.key();
}

bool is_delivery(const Model& model) { return model.plane == Plane::Table || model.plane == Plane::File; }

/// What is read as a table: not what is put into the query in place of one.
std::vector<std::string> tables_of(const Model& model, const Graph& graph) {
  std::vector<std::string> tables;
  for (const Reference& reference : model.references) {
    if (reference.asset.kind != AssetKind::Lake) continue;
    if (reference.macro && model.macros[*reference.macro].is_for_tests) continue;
    const Model* producer = graph.producer(reference.asset);
    const bool is_query =
        producer != nullptr && (producer->plane == Plane::View || producer->plane == Plane::Ephemeral);
    if (!is_query) tables.push_back(reference.asset.key());
  }
  return tables;
}

/// True if the model's deliveries leave in the environment.
bool leaves(const Model& model, const std::string& environment) {
  return std::find(model.environments.begin(), model.environments.end(), environment) != model.environments.end();
}

std::string gate_of(const Model& model, const std::string& environment) {
  std::string listed;
  for (const std::string& one : model.environments) listed += (listed.empty() ? "" : ", ") + one;
  return fmt::format("it delivers only in {}, and this is {}", listed, environment);
}

bool needs_audit(const Step& step, const World& world) {
  // What was delivered is no longer weir's to judge: its tests stood before the delivery.
  if (is_delivery(*step.model) || step.tests.empty() || !step.model->target) return false;
  const state::SliceRecord* record = world.slice(step.model->target->key(), step.basis);
  return record != nullptr && record->status == "materialized" &&
         std::none_of(record->inputs.begin(), record->inputs.end(), [&step](const state::InputRecord& input) {
           return input.asset == kTestsInput && input.version == step.tests;
         });
}

}  // namespace

const state::SliceRecord* World::slice(const std::string& asset, const std::string& slice_name) const {
  const auto found = slices.find({asset, slice_name});
  return found == slices.end() ? nullptr : &found->second;
}

namespace {

/// Makes the steps of one plan, model by model in the graph's order.
class Planner {
 public:
  Planner(const Graph& graph, const std::map<std::string, std::string>& fingerprints, const World& world,
          const Options& options)
      : graph_(graph), fingerprints_(fingerprints), world_(world), options_(options) {}

  Result<void> add(std::size_t index) {
    const Model& model = graph_.models()[index];
    const Step proto = prototype(model);
    const std::size_t first = plan_.steps.size();
    WEIR_TRY(const std::optional<SliceRange> range, range_of(index));
    if (is_delivery(model) && !leaves(model, options_.environment)) {
      add_idle(proto, Action::Gated, gate_of(model, options_.environment));
    } else if (range && model.partitioning) {
      WEIR_CHECK(add_partitions(proto, *range));
    } else if (options_.following.contains(model.path) && model.partitioning) {
      add_idle(proto, Action::Skip, why_not_.empty() ? "what it reads has no partitions" : why_not_);
    } else {
      WEIR_CHECK(add_one(proto, range));
    }
    note_siblings(first);
    for (std::size_t id = first; id < plan_.steps.size(); ++id)
      plan_.steps[id].reads = reads_of(index, plan_.steps[id]);
    for (std::size_t id = first; id < plan_.steps.size(); ++id) settle(plan_.steps[id]);
    steps_of_model_.emplace(index, std::pair(first, plan_.steps.size()));
    for (const Asset& output : outputs_of(model)) plan_.producers.emplace(output.key(), first);
    for (const Reference& reference : model.references)
      plan_.change_keys.emplace(reference.asset.key(), changes_key(reference.asset, graph_));
    return {};
  }

  Plan take() { return std::move(plan_); }

 private:
  /// What all slices of the model share.
  Step prototype(const Model& model) const {
    Step step;
    step.model = &model;
    step.arguments = arguments_of(model, options_);
    step.tables = tables_of(model, graph_);
    step.arguments_hash = hash_of(step.arguments);
    if (const auto print = fingerprints_.find(model.path); print != fingerprints_.end())
      step.fingerprint = print->second;
    if (const auto tests = options_.tests.find(model.path); tests != options_.tests.end()) step.tests = tests->second;
    return step;
  }

  Step& add_step(Step step) {
    step.id = plan_.steps.size();
    plan_.steps.push_back(std::move(step));
    return plan_.steps.back();
  }

  void add_idle(Step step, Action action, std::string reason) {
    step.action = action;
    step.reason = std::move(reason);
    add_step(std::move(step));
  }

  Result<void> add_partitions(const Step& proto, const SliceRange& range) {
    WEIR_TRY(const PartitionChoice choice,
             choose_partitions(*proto.model, proto.fingerprint, world_, range, options_.at));
    plan_.kept += choice.kept;
    plan_.to_come += choice.to_come;
    for (const ChosenPartition& one : choice.chosen) {
      Step step = proto;
      step.slice = step.basis = one.value;
      step.due = one.why;
      add_step(std::move(step));
    }
    if (choice.chosen.empty())
      add_idle(proto, Action::Fresh,
               choice.kept == 1 ? "the partition is there already"
                                : fmt::format("all {} partitions are there already", choice.kept));
    return {};
  }

  /// The whole table, what is due of a partitioned model, or the windows.
  Result<void> add_one(Step step, const std::optional<SliceRange>& range) {
    const Model& model = *step.model;
    const auto partition = options_.partitions.find(model.path);
    if (partition != options_.partitions.end() && !partition->second.skipped.empty()) {
      add_idle(std::move(step), Action::Skip, partition->second.skipped);
      return {};
    }
    if (partition != options_.partitions.end()) {
      step.slice = partition->second.value;
      const auto& earlier = partition->second.earlier;
      if (earlier && model.target && world_.slice(model.target->key(), earlier->first) == nullptr)
        step.earlier = earlier;
    }
    step.basis = step.slice;
    if (!is_windowed(model)) {
      add_step(std::move(step));
      return {};
    }
    WEIR_TRY(std::vector<Step> steps, choose_windows(step, world_, options_, range ? &*range : nullptr));
    for (Step& one : steps) add_step(std::move(one));
    return {};
  }

  /// Slices that must keep their order wait for each other.
  void note_siblings(std::size_t first) {
    if (plan_.steps.size() - first < 2) return;
    const bool is_ordered = options_.one_by_one || !reason_for_order(*plan_.steps[first].model).empty();
    for (std::size_t id = first; id < plan_.steps.size(); ++id) {
      plan_.steps[id].has_siblings = true;
      if (is_ordered && id > first) plan_.steps[id].after = id - 1;
    }
  }

  /// Steps that the step reads: of a model built in several partitions only the counterparts of its own, where there
  /// are any.
  std::vector<std::size_t> reads_of(std::size_t index, const Step& step) const {
    std::vector<std::size_t> reads;
    for (const std::size_t producer : graph_.producers_of(index)) {
      const auto found = steps_of_model_.find(producer);
      if (found == steps_of_model_.end()) continue;
      const auto [first, last] = found->second;
      std::vector<std::size_t> counterparts;
      for (std::size_t id = first; id < last; ++id)
        if (feeds(plan_.steps[id], step)) counterparts.push_back(id);
      if (counterparts.empty())
        for (std::size_t id = first; id < last; ++id) counterparts.push_back(id);
      reads.insert(reads.end(), counterparts.begin(), counterparts.end());
    }
    std::sort(reads.begin(), reads.end());
    return reads;
  }

  static bool feeds(const Step& producer, const Step& reader) {
    if (!producer.has_siblings || !producer.model->partitioning || !reader.model->partitioning) return false;
    return counterpart_of(*reader.model->partitioning, *producer.model->partitioning, producer.slice).value ==
           reader.slice;
  }

  /// The slices that are asked for: its own range, or what follows from those that it reads.
  Result<std::optional<SliceRange>> range_of(std::size_t index) {
    const Model& model = graph_.models()[index];
    why_not_.clear();
    if (const auto own = options_.ranges.find(model.path); own != options_.ranges.end()) return own->second;
    if (!options_.following.contains(model.path)) return std::nullopt;
    if (is_windowed(model)) return windows_from_producers(index);
    if (!model.partitioning) return std::nullopt;
    SliceRange range{.from = {}, .to = {}, .all = true};
    std::set<std::string> seen;
    for (const std::size_t producer : graph_.producers_of(index)) {
      const auto found = steps_of_model_.find(producer);
      if (found == steps_of_model_.end()) continue;
      const Model& upstream = graph_.models()[producer];
      for (std::size_t id = found->second.first; id < found->second.second; ++id) {
        const Step& step = plan_.steps[id];
        if (step.slice.empty()) continue;
        if (is_windowed(upstream) && step.action == Action::Build) {
          WEIR_TRY(Counterparts those, counterparts_of(*model.partitioning, upstream, step.slice));
          if (those.values.empty()) why_not_ = std::move(those.why);
          for (std::string& value : those.values)
            if (seen.insert(value).second) range.values.push_back(std::move(value));
          range.reason = "follows " + upstream.path;
        }
        if (!upstream.partitioning) continue;
        Counterpart same = counterpart_of(*model.partitioning, *upstream.partitioning, step.slice);
        if (same.value.empty()) why_not_ = std::move(same.why);
        if (!same.value.empty() && seen.insert(same.value).second) range.values.push_back(std::move(same.value));
        range.reason = "follows " + upstream.path;
      }
    }
    if (range.values.empty()) return std::nullopt;
    return range;
  }

  /// The windows from the first partition, or window, of what is read to the last one.
  Result<std::optional<SliceRange>> windows_from_producers(std::size_t index) const {
    std::optional<SliceRange> range;
    const auto widen = [&range](const std::string& from, const std::string& to, const std::string& path) {
      if (!range) range = SliceRange{.from = from, .to = to, .all = true, .reason = "follows " + path};
      range->from = std::min(range->from, from);
      range->to = std::max(range->to, to);
    };
    for (const std::size_t producer : graph_.producers_of(index)) {
      const auto found = steps_of_model_.find(producer);
      if (found == steps_of_model_.end()) continue;
      const Model& upstream = graph_.models()[producer];
      if (const auto own = options_.ranges.find(upstream.path); own != options_.ranges.end() && is_windowed(upstream))
        widen(own->second.from, own->second.to, upstream.path);
      if (!upstream.partitioning || upstream.partitioning->kind == calendar::PartitionKind::Dynamic) continue;
      for (std::size_t id = found->second.first; id < found->second.second; ++id) {
        if (plan_.steps[id].slice.empty()) continue;
        WEIR_TRY(const calendar::Slot slot, calendar::slot_named(*upstream.partitioning, plan_.steps[id].slice));
        // Windows hold both bounds of a range: the last second is the partition's own.
        widen(second_at(slot.local_begin, std::chrono::seconds(0)), second_at(slot.local_end, std::chrono::seconds(1)),
              upstream.path);
      }
    }
    return range;
  }

  /// "2026-07-04T23:59:59", so long before a wall time.
  static std::string second_at(const std::string& wall, std::chrono::seconds before) {
    const auto read = calendar::parse_instant(wall);
    return read ? calendar::format_instant(*read - before).substr(0, 19) : wall;
  }

  /// Whether the step is built, and why.
  void settle(Step& step) {
    if (step.action == Action::Gated || step.action == Action::Skip || (step.slice.empty() && !step.reason.empty()))
      return;
    // Windows that are all there need no look at the inputs: what changed is for a backfill.
    const bool is_done = !step.reason.empty();
    const auto reason = is_done ? std::optional<std::string>()
                                : reason_to_build(step, plan_, world_, options_.force || options_.full_refresh, {});
    if (!is_done) step.action = reason ? Action::Build : Action::Fresh;
    step.needs_audit = needs_audit(step, world_);
    if (reason)
      step.reason = *reason;
    else if (step.needs_audit)
      step.reason = step.model->tests.empty() ? "only its contract has to be checked" : "only its tests have to run";
    else if (!is_done)
      step.reason = "nothing that it depends on has changed";
  }

  const Graph& graph_;
  const std::map<std::string, std::string>& fingerprints_;
  const World& world_;
  const Options& options_;
  Plan plan_;
  /// Model -> its first step and the one behind its last.
  std::map<std::size_t, std::pair<std::size_t, std::size_t>> steps_of_model_;
  /// Why the last model looked at has no counterparts of the partitions that it reads.
  std::string why_not_;
};

}  // namespace

Result<Plan> make_plan(const Graph& graph, const std::set<std::string>& selected,
                       const std::map<std::string, std::string>& fingerprints, const World& world,
                       const Options& options) {
  WEIR_CHECK(check_arguments(graph, selected, options));
  Planner planner(graph, fingerprints, world, options);
  for (std::size_t i = 0; i < graph.models().size(); ++i) {
    const Model& model = graph.models()[i];
    // An ephemeral model is computed by those that read it.
    if (!selected.contains(model.path) || model.is_macro_library || model.plane == Plane::Ephemeral) continue;
    WEIR_CHECK(planner.add(i));
  }
  return planner.take();
}

namespace {

bool is_foreign(const Reference& reference) { return reference.asset.kind == AssetKind::Datatable; }

/// Why one input recorded in the ledger counts as changed, or nothing.
std::optional<std::string> input_changed(const state::InputRecord& input, const Plan& plan, const World& world) {
  if (input.asset == kTestsInput || input.asset == kTimeInput) return std::nullopt;  // they change no row
  if (input.asset.starts_with("file:")) {
    const std::string file = input.asset.substr(5);
    const auto now = world.files.find(file);
    if (now == world.files.end() || !now->second || *now->second != input.version)
      return fmt::format("file {} changed", file);
    return std::nullopt;
  }
  const auto lake =
      world.lakes.find(input.asset.substr(std::string("ducklake://").size(), input.asset.find('/', 11) - 11));
  if (lake == world.lakes.end()) return fmt::format("the version of {} is not known", input.asset);
  const auto key = plan.change_keys.find(input.asset);
  const std::string& changing = key == plan.change_keys.end() ? input.asset : key->second;
  const auto changed = lake->second.changed.find(changing);
  const std::int64_t version = std::stoll(input.version);
  if (version < lake->second.since) return fmt::format("the version of {} is not known", input.asset);
  if (changed != lake->second.changed.end() && changed->second > version)
    return fmt::format("{} changed in version {}", input.asset, changed->second);
  // Once the version that dropped it has expired, nothing else tells.
  if (!lake->second.made.contains(changing)) return fmt::format("{} is gone", input.asset);
  return std::nullopt;
}

}  // namespace

Proof proof_of(const state::SliceRecord& record, const Asset& target, const World& world) {
  if (target.kind == AssetKind::Other && world.gone.contains(target.key()))
    return {Proof::Kind::Gone, "its file is gone"};
  if (target.kind != AssetKind::Lake) return {};
  const auto lake = world.lakes.find(text::lower(target.place));
  if (lake == world.lakes.end()) return {};
  const std::int64_t version = record.snapshot_id.value_or(0);
  const auto made = lake->second.made.find(target.key());
  if (made == lake->second.made.end()) return {Proof::Kind::Gone, "its table is gone"};
  if (made->second > version)
    return {Proof::Kind::Gone, fmt::format("its table was made anew in version {}", made->second)};
  const auto foreign = lake->second.foreign.find(target.key());
  if (foreign == lake->second.foreign.end() || foreign->second <= version) return {};
  return {Proof::Kind::Foreign, fmt::format("somebody else wrote to it in version {}", foreign->second)};
}

std::optional<std::string> reason_to_build(const Step& step, const Plan& plan, const World& world, bool force,
                                           const std::map<std::size_t, std::int64_t>& ended) {
  const Model& model = *step.model;
  if (force) return "asked for with --force";
  if (!step.due.empty()) return step.due;
  if (model.plane == Plane::Manual) return "manual scripts always run";
  // What left once is not sent again unless something changed: nobody could take it back.
  if (model.strategy == Strategy::Append && !is_delivery(model)) return "append always runs";
  if (names_time(model.file_path)) return "its path names the time";
  // A view without tests is its definition: new rows below it change nothing about it.
  const bool is_definition_only = model.plane == Plane::View && model.tests.empty();
  if (!is_definition_only && std::any_of(model.references.begin(), model.references.end(), is_foreign))
    return "it reads a database, whose changes weir does not see";
  if (model.is_volatile && !is_definition_only) return "its query calls a function whose result may change at any time";
  if (!model.files) return "its query reads a file whose name is not constant";
  const std::string key = model.target->key();
  const state::SliceRecord* record = world.slice(key, step.basis);
  if (record == nullptr) return "first build";
  if (record->status != "materialized")
    return fmt::format("the last run {}", record->status == "failed" ? "failed" : "did not finish");
  if (record->fingerprint.empty())
    return record->rows.value_or(0) == 0 ? "a restore put back a version without it"
                                         : "a restore put back rows that no run vouches for";
  if (record->fingerprint != step.fingerprint) return "its definition changed";
  if (record->arguments_hash != step.arguments_hash) return "its arguments changed";
  for (const std::size_t producer : step.reads) {
    const Step& upstream = plan.steps[producer];
    if (is_definition_only || upstream.action == Action::Fresh || ended.contains(producer)) continue;
    return fmt::format("{} is built in this run", upstream.model->path);
  }
  for (const std::string& file : *model.files) {
    const auto now = world.files.find(file);
    if (now == world.files.end() || !now->second) return fmt::format("the identity of file {} is not known", file);
    const bool recorded = std::any_of(record->inputs.begin(), record->inputs.end(),
                                      [&](const state::InputRecord& input) { return input.asset == "file:" + file; });
    if (!recorded) return fmt::format("it did not read file {} before", file);
  }
  for (const state::InputRecord& input : record->inputs)
    if (auto reason = input_changed(input, plan, world); reason && !is_definition_only) return reason;
  for (const std::string& table : step.tables) {
    const bool recorded = std::any_of(record->inputs.begin(), record->inputs.end(),
                                      [&](const state::InputRecord& input) { return input.asset == table; });
    if (!recorded) return fmt::format("it did not read {} before", table);
  }
  if (Proof proof = proof_of(*record, *model.target, world); proof.kind != Proof::Kind::Holds)
    return std::move(proof.reason);
  return std::nullopt;
}

}  // namespace weir::plan
