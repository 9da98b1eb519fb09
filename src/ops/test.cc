#include "ops/test.h"

#include "ops/selection.h"

namespace weir::ops {

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
  WEIR_TRY(tested.tables, run::test_tables(*project, *placed, chosen.sound, *lakes, *store, partition));
  for (const auto& [path, fault] : chosen.blocked)
    tested.tables.push_back({.model = path, .asset = {}, .skipped = "blocked by " + fault.by()});
  return tested;
}

}  // namespace weir::ops
