#include "ops/data.h"

namespace weir::ops {

Result<History> history(Workspace& workspace, const std::optional<std::string>& asset, std::size_t limit) {
  History history;
  WEIR_TRY(const Config* config, workspace.config());
  std::optional<Asset> wanted;
  Asset named;
  if (asset) {
    WEIR_TRY(named, workspace.asset_named(*asset));
    WEIR_TRY(wanted, workspace.located(named));
    history.asset = wanted->uri();
  }
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(false));
  const std::string place = wanted ? wanted->place : config->default_lake().name;
  if (config->lake(place) == nullptr)
    return fail(
        Diagnostic{.code = Code::W2012, .message = "there is no lake " + place, .hint = "weir.yaml lists the lakes"});
  const lake::Lake& lake = lakes->lake(place);
  WEIR_TRY(duck::Connection connection, lakes->connect());
  // Of an owned model the versions of its rows, not those of the view that shows them.
  std::optional<Asset> rows;
  if (wanted) {
    WEIR_TRY(rows, workspace.rows_of(named));
  }
  WEIR_TRY(history.versions, lake.history(connection, rows, limit));
  if (wanted && history.versions.empty()) {
    WEIR_TRY(const Graph* graph, workspace.whole_graph());
    const Model* producer = graph->producer(named);
    return fail(Diagnostic{
        .code = Code::W2012,
        .message = wanted->uri() + " has no versions",
        .hint = producer != nullptr ? "it is not built yet: weir run " + producer->path : workspace.hint_for(*asset)});
  }
  return history;
}

}  // namespace weir::ops
