#include "ops/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "env/placement.h"
#include "io/files.h"
#include "io/hash.h"
#include "lake/table_sizes.h"
#include "ops/run.h"
#include "ops/selection.h"
#include "plan/fingerprint.h"
#include "text/lexer.h"

namespace weir::ops {
namespace {

using plan::ChangeKind;
using plan::ModelChange;

bool is_terminal(const Model& model) { return model.plane == Plane::Table || model.plane == Plane::File; }

bool delivers_in(const Model& model, const std::string& environment) {
  return std::find(model.environments.begin(), model.environments.end(), environment) != model.environments.end();
}

PlanAction action_of(const ModelChange& change, const std::string& environment) {
  if (change.kind == ChangeKind::Removed) return PlanAction::Demote;
  const Model& model = *change.model;
  if (change.kind == ChangeKind::Unchanged) return PlanAction::Nothing;
  if (is_terminal(model)) {
    if (!delivers_in(model, environment)) return PlanAction::Gated;
    // Allowed only now: nothing was delivered so far.
    const bool is_first = change.before == nullptr || !delivers_in(*change.before, environment);
    return change.reuse && !is_first ? PlanAction::Reuse : PlanAction::Deliver;
  }
  if (model.plane == Plane::Ephemeral) return PlanAction::Nothing;
  if (change.reuse) return PlanAction::Reuse;
  if (model.plane == Plane::Managed && model.partitioning) return PlanAction::Nothing;
  return PlanAction::Build;
}

std::string note_of(const PlannedModel& planned) {
  const ModelChange& change = planned.change;
  if (change.kind == ChangeKind::Removed || change.kind == ChangeKind::Unchanged) return {};
  const Model& model = *change.model;
  if (model.plane == Plane::Ephemeral) return "put into its readers";
  if (planned.action == PlanAction::Gated) {
    std::string list;
    for (const std::string& one : model.environments) list += (list.empty() ? "" : ", ") + one;
    return "delivered in " + list + " only";
  }
  if (model.plane != Plane::Managed || !model.partitioning || change.reuse) return {};
  if (change.kind == ChangeKind::Added) return "`weir run` builds its partitions";
  if (planned.outdated_partitions == 0) return "no partition is outdated";
  return fmt::format("`weir backfill --outdated` redoes {} partition{}", planned.outdated_partitions,
                     planned.outdated_partitions == 1 ? "" : "s");
}

class Planner {
 public:
  Planner(Workspace& workspace, PlanReport& report) : workspace_(workspace), report_(report) {}

  Result<void> run() {
    WEIR_TRY(state::Store * store, workspace_.store_if_there());
    if (store != nullptr) {
      WEIR_TRY(const Graph* graph, workspace_.sound_graph());
      WEIR_TRY(environment_, env::look(*store, environment(), *graph));
    }
    WEIR_TRY(report_.changes, changes_in(workspace_, environment(), report_.request.forward_only));
    report_.warnings = report_.changes.warnings;
    WEIR_CHECK(choose());
    WEIR_CHECK(look_for_tables());
    WEIR_CHECK(count_partitions());
    WEIR_CHECK(look_at_lakes());
    for (PlannedModel& planned : report_.models)
      if (planned.note.empty()) planned.note = note_of(planned);
    return note_basis();
  }

 private:
  const std::string& environment() const { return report_.request.environment; }

  /// The selected models and the changed ones above them. Models that are gone take part in a plan of everything.
  Result<void> choose() {
    WEIR_TRY(const Graph* graph, workspace_.graph());
    const PlanRequest& request = report_.request;
    Selection selection = selection_of(workspace_, request.select, request.exclude);
    WEIR_TRY(std::set<std::string> selected, select(*graph, selection, report_.warnings));
    selected = with_changed_above(*graph, report_.changes, std::move(selected));
    const bool is_whole = request.select.empty() && request.exclude.empty();
    for (const ModelChange& change : report_.changes.changes) {
      if (change.kind == ChangeKind::Removed ? !is_whole : !selected.contains(change.path)) continue;
      report_.models.push_back({.change = change, .action = action_of(change, environment())});
    }
    return {};
  }

  /// Whether an owned model is built depends on more than its definition: the table of a definition may be there,
  /// because it was shown before or another environment shows it, and one whose definition stayed is built where the
  /// environment has rows of its own for it to read. The run's own plan says so.
  Result<void> look_for_tables() {
    const bool is_settled = std::all_of(report_.models.begin(), report_.models.end(), [](const PlannedModel& one) {
      return one.change.kind == ChangeKind::Unchanged;
    });
    WEIR_TRY(const state::Store* store, workspace_.store_if_there());
    if (store == nullptr || (is_settled && environment() == env::kProd)) return {};
    std::map<std::string, PlannedModel*> owned;
    std::set<std::string> selected;
    for (PlannedModel& planned : report_.models) {
      selected.insert(planned.change.path);
      if (planned.change.model != nullptr && env::is_owned(*planned.change.model))
        owned.emplace(planned.change.path, &planned);
    }
    WEIR_TRY(const Work work, work_of(workspace_, report_.changes, selected));
    const bool has_owned = std::any_of(work.models.begin(), work.models.end(),
                                       [&](const std::string& path) { return owned.contains(path); });
    if (!has_owned) return {};
    RunRequest request{.models = work.models, .reused = work.reused};
    request.options.environment = environment();
    request.options.forward_only = report_.request.forward_only;
    WEIR_TRY(const DryRun dry, dry_run(workspace_, request));
    for (const plan::Step& step : dry.planned.plan.steps)
      if (const auto found = owned.find(step.model->path); found != owned.end()) settle(step, *found->second);
    return {};
  }

  void settle(const plan::Step& step, PlannedModel& planned) const {
    const auto deferred = report_.changes.deployed.deferred.find(planned.change.path);
    const bool is_deferred = deferred != report_.changes.deployed.deferred.end();
    if (step.action == plan::Action::Fresh) {
      if (planned.action == PlanAction::Build) planned.note = "its table is there already";
      if (planned.action == PlanAction::Nothing && is_deferred) planned.note = "as " + deferred->second + " has it";
      if (!planned.note.empty()) planned.action = PlanAction::Reuse;
    } else if (step.action == plan::Action::Build && planned.action == PlanAction::Nothing) {
      planned.action = PlanAction::Build;
      planned.note = step.reason;
    }
  }

  Result<void> count_partitions() {
    const auto is_partitioned = [](const PlannedModel& planned) {
      const Model* model = planned.change.model;
      return model != nullptr && model->plane == Plane::Managed && model->partitioning && planned.change.before;
    };
    if (std::none_of(report_.models.begin(), report_.models.end(), is_partitioned)) return {};
    WEIR_TRY(state::Store * store, workspace_.store());
    for (PlannedModel& planned : report_.models) {
      if (!is_partitioned(planned) || planned.change.kind == ChangeKind::Unchanged || planned.change.reuse) continue;
      WEIR_TRY(const auto slices, store->slices(environment(), planned.change.model->target->key()));
      planned.outdated_partitions = std::count_if(slices.begin(), slices.end(), [&](const state::SliceRecord& slice) {
        return !slice.slice.empty() && slice.status == "materialized" &&
               slice.fingerprint != planned.change.fingerprint;
      });
    }
    return {};
  }

  /// The tables of a model's inputs, as the environment has them now.
  std::vector<std::optional<Asset>> inputs_of(const Model& model, const Graph& graph) const {
    std::vector<std::optional<Asset>> inputs;
    std::set<std::string> seen;
    for (const Reference& reference : model.references) {
      if (!seen.insert(reference.asset.key()).second) continue;
      const Model* producer = graph.producer(reference.asset);
      if (producer == nullptr || !env::is_owned(*producer)) {
        inputs.emplace_back(reference.asset);
        continue;
      }
      const state::ShownModel* shown = environment_.shown_model(producer->path);
      inputs.push_back(shown == nullptr ? std::nullopt : parse_asset(shown->data));
    }
    const std::size_t files = model.files ? model.files->size() : 1;
    for (std::size_t i = 0; i < files; ++i) inputs.emplace_back(std::nullopt);
    return inputs;
  }

  Result<void> look_at_lakes() {
    const auto works = [](const PlannedModel& planned) {
      return planned.action == PlanAction::Build || planned.action == PlanAction::Deliver;
    };
    WEIR_TRY(const Graph* graph, workspace_.graph());
    WEIR_TRY(lake::Lakes * lakes, workspace_.lakes(false));
    WEIR_TRY(duck::Connection connection, lakes->connect());
    std::map<std::string, lake::TableSize> sizes;
    const bool has_work = std::any_of(report_.models.begin(), report_.models.end(), works);
    for (const lake::Lake& lake : lakes->all()) {
      WEIR_TRY(report_.basis.lakes[lake.name()], lake.newest_version(connection));
      if (!has_work) continue;
      WEIR_TRY(const auto found, lake::table_sizes(connection, lake));
      sizes.insert(found.begin(), found.end());
    }
    std::set<std::string> tables;
    for (PlannedModel& planned : report_.models) {
      if (!works(planned)) continue;
      const Model& model = *planned.change.model;
      Estimate estimate;
      for (const auto& input : inputs_of(model, *graph)) {
        const auto size = input ? sizes.find(input->key()) : sizes.end();
        if (input) tables.insert(input->key());
        if (size == sizes.end()) {
          ++estimate.unknown;
          continue;
        }
        estimate.rows += size->second.rows;
        estimate.bytes += size->second.bytes;
      }
      planned.estimate = estimate;
      if (model.target && !env::is_owned(model)) tables.insert(model.target->key());
    }
    report_.basis.tables.assign(tables.begin(), tables.end());
    return {};
  }

  Result<void> note_basis() {
    WEIR_TRY(report_.basis.files, file_hashes(workspace_));
    report_.basis.generation = report_.changes.deployed.generation;
    report_.basis.deployed = report_.changes.deployed.digest();
    report_.created = state::now_text();
    return {};
  }

  Workspace& workspace_;
  PlanReport& report_;
  env::Environment environment_;
};

}  // namespace

Result<std::map<std::string, std::string>> file_hashes(Workspace& workspace) {
  WEIR_TRY(const Project* project, workspace.project());
  std::map<std::string, std::string> hashes;
  for (const auto& source : project->sources) hashes[source->path] = source->hash;
  WEIR_TRY(const std::string yaml, io::read_file(workspace.root() + "/weir.yaml"));
  hashes["weir.yaml"] = io::xxh3_hex(yaml);
  return hashes;
}

std::string_view name_of(PlanAction action) {
  switch (action) {
    case PlanAction::Nothing:
      return "nothing";
    case PlanAction::Build:
      return "build";
    case PlanAction::Reuse:
      return "reuse";
    case PlanAction::Deliver:
      return "deliver";
    case PlanAction::Gated:
      return "gated";
    case PlanAction::Demote:
      break;
  }
  return "demote";
}

std::int64_t PlanReport::count(PlanAction action) const {
  return std::count_if(models.begin(), models.end(), [&](const PlannedModel& one) { return one.action == action; });
}
std::int64_t PlanReport::count(plan::ChangeCategory category) const {
  return std::count_if(models.begin(), models.end(),
                       [&](const PlannedModel& one) { return one.change.category == category; });
}

Result<PlanReport> plan(Workspace& workspace, const PlanRequest& request) {
  PlanReport report{.request = request};
  WEIR_CHECK(Planner(workspace, report).run());
  return report;
}

}  // namespace weir::ops
