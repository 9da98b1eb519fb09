#include "ops/test.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "ops/selection.h"

namespace weir::ops {
namespace {

/// Of a model's outcomes the newest in one environment: the assets of environments have one name.
class OutcomesOf {
 public:
  OutcomesOf(state::Store& store, std::string environment) : store_(store), environment_(std::move(environment)) {}

  Result<std::vector<state::TestRecord>> newest(const Asset& asset, const std::optional<std::string>& partition,
                                                std::size_t limit) {
    for (std::size_t looked_at = limit;; looked_at *= 4) {
      WEIR_TRY(std::vector<state::TestRecord> all, store_.tests(asset.key(), looked_at));
      const bool is_all = all.size() < looked_at;
      std::vector<state::TestRecord> found;
      for (state::TestRecord& one : all) {
        if (found.size() == limit) return found;
        if (partition && one.slice != *partition) continue;
        WEIR_TRY(const bool is_ours, is_of_environment(one.run));
        if (is_ours) found.push_back(std::move(one));
      }
      if (is_all || found.size() == limit) return found;
    }
  }

 private:
  Result<bool> is_of_environment(const std::string& run) {
    const auto [at, is_new] = known_.try_emplace(run, false);
    if (is_new) {
      WEIR_TRY(const std::optional<state::RunRecord> row, store_.run(run));
      at->second = row && row->environment == environment_;
    }
    return at->second;
  }

  state::Store& store_;
  const std::string environment_;
  std::map<std::string, bool> known_;
};

}  // namespace

Result<Tested> test(Workspace& workspace, const std::vector<std::string>& selectors,
                    const std::vector<std::string>& exclude, const std::optional<std::string>& partition) {
  WEIR_TRY(const Project* project, workspace.project());
  Diagnostics warnings;
  WEIR_TRY(Chosen chosen, choose(workspace, selection_of(workspace, selectors, exclude), warnings));
  Tested tested;
  tested.errors = std::move(chosen.errors);
  WEIR_TRY(const env::Placed* placed, workspace.placed());
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(false));
  WEIR_TRY(state::Store * store, workspace.store());
  WEIR_TRY(tested.tables,
           run::test_tables(*project, *placed, chosen.sound, *lakes, *store, workspace.environment(), partition));
  for (const auto& [path, fault] : chosen.blocked)
    tested.tables.push_back({.model = path, .asset = {}, .skipped = "blocked by " + fault.by()});
  return tested;
}

Result<std::vector<state::TestRecord>> test_history(Workspace& workspace, const std::vector<std::string>& select,
                                                    const std::vector<std::string>& exclude,
                                                    const std::optional<std::string>& partition, std::size_t limit) {
  Diagnostics warnings;
  WEIR_TRY(const Chosen chosen, choose(workspace, selection_of(workspace, select, exclude), warnings));
  WEIR_TRY(const Graph* graph, workspace.whole_graph());
  WEIR_TRY(state::Store * store, workspace.store_if_there());
  std::vector<state::TestRecord> found;
  if (store == nullptr) return found;
  OutcomesOf outcomes(*store, workspace.environment());
  for (const Model& model : graph->models()) {
    if (!model.target || (!chosen.sound.contains(model.path) && !chosen.blocked.contains(model.path))) continue;
    const bool is_delivery = model.plane == Plane::Table || model.plane == Plane::File;
    WEIR_TRY(std::vector<state::TestRecord> own,
             outcomes.newest(is_delivery ? *model.target : model.relation, partition, limit));
    std::move(own.begin(), own.end(), std::back_inserter(found));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.run == b.run ? a.at < b.at : a.run > b.run; });
  if (found.size() > limit) found.resize(limit);
  return found;
}

}  // namespace weir::ops
