#include "ops/metric_warnings.h"

#include <algorithm>

#include "metric/judge.h"
#include "ops/binding.h"

namespace weir::ops {
namespace {

/// True if the columns begin with the captured ones, by name: a capture leaves out what weir adds behind them.
bool begins_with(const bind::Columns& columns, const bind::Columns& captured) {
  return columns.size() >= captured.size() &&
         std::equal(captured.begin(), captured.end(), columns.begin(),
                    [](const duck::Column& a, const duck::Column& b) { return a.name == b.name; });
}

}  // namespace

Result<Diagnostics> metric_warnings(Workspace& workspace, const Project& project, const bind::Bound& bound) {
  if (std::all_of(project.models.begin(), project.models.end(), [](const Model& one) { return one.metrics.empty(); }))
    return Diagnostics{};
  bind::KnownSchemas captured;
  const auto table_of = [&](const Model& model) -> std::optional<metric::KnownTable> {
    const bind::Columns* columns = bound.columns_of(*model.target);
    const auto known = captured.find(model.target->key());
    if (columns == nullptr && known == captured.end()) return std::nullopt;
    metric::KnownTable table;
    if (columns != nullptr) {
      table.columns = *columns;
    } else {
      table.columns = known->second.columns;
      if (model.partitioning) table.columns.push_back({"_wm_partition", "VARCHAR"});
    }
    // The version is that of what readers have now, as long as the query still gives it.
    if (known != captured.end() && begins_with(table.columns, known->second.columns)) {
      table.version = known->second.version;
      table.captured = known->second.captured;
    }
    return table;
  };
  const auto parser = Workspace::lazy_parser();
  metric::FitTexts fit(metric::bound_cache_of(project));
  // The state is asked only where something is wrong, or a query does not tell its columns.
  const bool needs_captures = std::any_of(project.models.begin(), project.models.end(), [&](const Model& model) {
    return !model.metrics.empty() && bound.columns_of(*model.target) == nullptr;
  });
  Diagnostics found;
  if (!needs_captures) {
    WEIR_TRY(found, metric::bound_warnings(project, table_of, *parser, fit));
  }
  if (needs_captures || !found.empty()) {
    WEIR_TRY(captured, captured_columns(workspace));
    WEIR_TRY(found, metric::bound_warnings(project, table_of, *parser, fit));
  }
  fit.save();
  return found;
}

}  // namespace weir::ops
