// Whether a table has a past that another way of writing would destroy: what a history keeps is seen by its columns,
// and who wrote them by the records of the lake's commits.
#include <algorithm>

#include "lake/commit.h"
#include "publish/draft.h"

namespace weir::publish {
namespace {

bool has_usual_validity(const lake::TableState& table) {
  const auto columns = validity_columns({.plane = Plane::Managed}).columns();
  return std::all_of(columns.begin(), columns.end(), [&table](const auto& wanted) {
    const lake::ColumnState* column = table.column(wanted.first);
    return column != nullptr && column->type == wanted.second;
  });
}

// Under whatever names: two times and a truth.
bool may_have_validity(const lake::TableState& table) {
  const auto count = [&table](std::string_view type) {
    return std::count_if(table.columns.begin(), table.columns.end(),
                         [&](const lake::ColumnState& column) { return column.type == type; });
  };
  return count("TIMESTAMP") >= 2 && count("BOOLEAN") >= 1;
}

bool is_strategy(std::string_view name) {
  for (const Strategy one : {Strategy::Replace, Strategy::Append, Strategy::Merge, Strategy::FullMerge,
                             Strategy::HashMerge, Strategy::IncrementalByTime, Strategy::History})
    if (name == name_of(one)) return true;
  return false;
}

// The strategy of the newest commit that wrote the asset; nothing where no record tells.
std::optional<std::string> strategy_recorded(const std::vector<lake::VersionRecord>& versions, const Asset& asset) {
  for (const lake::VersionRecord& version : versions) {
    const auto record = lake::CommitRecord::from_json(version.extra_info);
    if (!record) continue;
    for (const lake::CommittedStep& step : record->steps)
      if (step.asset == asset.key() && is_strategy(step.strategy)) return step.strategy;
  }
  return std::nullopt;
}

}  // namespace

Result<bool> Draft::is_kept_as_history() {
  // Tables of the other planes belong to one definition each.
  if (request.model.plane != Plane::Managed || !target.exists || !may_have_validity(target)) return false;
  constexpr std::size_t kEveryVersion = 1'000'000;
  WEIR_TRY(const auto versions, request.lake.history(clean_, *request.model.target, kEveryVersion));
  if (const auto strategy = strategy_recorded(versions, *request.model.target))
    return *strategy == name_of(Strategy::History);
  // The records have expired with their versions: the view that every history has decides, and the usual names.
  if (!has_usual_validity(target)) return false;
  Asset view = *request.model.target;
  view.name += "_current";
  WEIR_TRY(const lake::TableState state, observe(view));
  return state.exists && state.is_view;
}

}  // namespace weir::publish
