#include "ops/collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "base/failpoint.h"
#include "calendar/partition.h"
#include "env/environment.h"
#include "io/clock.h"
#include "lake/commit.h"
#include "run/recovery.h"
#include "run/report.h"

namespace weir::ops {
namespace {

/// Keys of tables that a newest generation of some environment shows.
Result<std::set<std::string>> needed_tables(state::Store& store, std::size_t keep) {
  std::set<std::string> needed;
  WEIR_TRY(const auto newest, store.newest_promotions());
  for (const state::PromotionRecord& one : newest) {
    WEIR_TRY(const auto generations, store.promotions(one.environment, std::max<std::size_t>(keep, 1)));
    for (const state::PromotionRecord& generation : generations)
      for (const state::ShownModel& model : generation.models)
        if (const auto asset = parse_asset(model.data)) needed.insert(asset->key());
  }
  return needed;
}

Result<std::set<std::string>> held_tables(state::Store& store) {
  std::set<std::string> held;
  WEIR_TRY(const auto leases, store.leases());
  for (const state::Lease& lease : leases) held.insert(lease.asset);
  return held;
}

Result<std::chrono::seconds> grace_of(const std::string& text) {
  if (text == "0") return std::chrono::seconds(0);
  if (const auto seconds = calendar::parse_duration(text)) return std::chrono::seconds(*seconds);
  return fail(Diagnostic{.code = Code::W8003,
                         .message = fmt::format("--grace {} is no duration", text),
                         .hint = "a whole number with s, m, h or d behind it: 7d; 0 for none"});
}

Result<bool> is_over(const std::string& since, std::chrono::seconds grace) {
  WEIR_TRY(const auto instant, calendar::parse_instant(since));
  return io::now() - instant >= grace;
}

/// Owned tables that nothing needs, and what lies in weir's schemas without being known.
class Search {
 public:
  Search(state::Store& store, std::size_t keep, std::chrono::seconds grace)
      : store_(store), keep_(keep), grace_(grace) {}

  Result<Collected> find(const std::map<std::string, bool>& there) {
    WEIR_TRY(const std::set<std::string> needed, needed_tables(store_, keep_));
    WEIR_TRY(const std::set<std::string> held, held_tables(store_));
    WEIR_TRY(const auto owned, store_.owned());
    std::set<std::string> known;
    Collected found;
    for (const state::OwnedRecord& one : owned) {
      known.insert(one.asset);
      bool goes = !needed.contains(one.asset) && !held.contains(one.asset) && !one.unreferenced.empty();
      if (goes) {
        WEIR_TRY(goes, is_over(one.unreferenced, grace_));
      }
      if (!goes) {
        ++found.kept;
        continue;
      }
      const auto at = there.find(one.asset);
      found.removed.push_back(
          {one.uri, one.model, fmt::format("not shown since {}", one.unreferenced), at != there.end() && at->second});
    }
    WEIR_TRY(const auto open, store_.open_runs());
    if (!open.empty()) return found;
    for (const auto& [key, is_view] : there)
      if (!known.contains(key) && !needed.contains(key))
        found.removed.push_back({key, "", "the state does not know it", is_view});
    return found;
  }

 private:
  state::Store& store_;
  std::size_t keep_;
  std::chrono::seconds grace_;
};

/// What lies in weir's schemas: key, and whether it is a view.
Result<std::map<std::string, bool>> physical_tables(const lake::Lake& lake, duck::Connection& connection) {
  WEIR_TRY(const auto changes, lake.changes_after(connection, 0));
  std::vector<Asset> assets;
  for (const auto& [key, version] : changes.made)
    if (auto asset = parse_asset(key); asset && env::is_physical(*asset)) assets.push_back(std::move(*asset));
  WEIR_TRY(const auto states, lake.observe(connection, assets, changes.newest));
  std::map<std::string, bool> there;
  for (const auto& [key, state] : states)
    if (state.exists) there.emplace(key, state.is_view);
  return there;
}

Result<void> remove(const lake::Lake& lake, lake::Lakes& lakes, const std::vector<Collected::Table>& tables,
                    const std::atomic<bool>& stop) {
  WEIR_TRY(duck::Connection writer, lakes.connect());
  WEIR_TRY(const auto lock, lake.lock(stop));
  auto transaction = duck::Transaction::begin(writer);
  if (!transaction) return fail(lake::explain(Code::W6020, "removing tables", transaction.error()));
  WEIR_TRY(const std::int64_t base, lake.base_version(writer));
  for (const Collected::Table& table : tables) {
    const Asset asset = *parse_asset(table.uri);
    const duck::TableName name = lake.writable(asset.schema, asset.name);
    const duck::Sql statement =
        table.is_view ? duck::Sql("DROP VIEW IF EXISTS {}", name) : duck::Sql("DROP TABLE IF EXISTS {}", name);
    if (auto done = writer.execute(statement); !done) {
      transaction->rollback();
      return fail(lake::explain(Code::W6020, "removing " + table.uri, done.error()));
    }
  }
  const lake::CommitRecord record{
      .weir = WEIR_VERSION, .token = state::new_run_id(), .run = "", .environment = std::string(env::kProd)};
  WEIR_TRY(const auto version,
           lake::commit(writer, lake, std::move(*transaction), record, lake::author(),
                        fmt::format("{} tables that nothing shows were removed", tables.size()), base));
  (void)version;
  failpoint("gc_committed");
  return {};
}

}  // namespace

Result<Collected> collect(Workspace& workspace, const CollectRequest& request, run::Listener& listener,
                          const std::atomic<bool>& stop) {
  WEIR_TRY(const std::chrono::seconds grace, grace_of(request.grace));
  WEIR_TRY(const Project* project, workspace.project());
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(true));
  WEIR_TRY(state::Store * store, workspace.store());
  WEIR_CHECK(run::recover(*project, *lakes, *store, listener, stop));
  const lake::Lake& lake = lakes->lake(project->config.lakes.front().name);
  WEIR_TRY(duck::Connection connection, lakes->connect());
  WEIR_TRY(const auto there, physical_tables(lake, connection));
  WEIR_TRY(Collected found, Search(*store, request.keep, grace).find(there));
  // Views first: none must outlive what it reads.
  std::stable_partition(found.removed.begin(), found.removed.end(),
                        [](const Collected::Table& table) { return table.is_view; });
  if (request.is_dry_run || found.removed.empty()) return found;
  WEIR_CHECK(remove(lake, *lakes, found.removed, stop));
  std::vector<std::string> gone;
  for (const Collected::Table& table : found.removed) gone.push_back(parse_asset(table.uri)->key());
  WEIR_CHECK(store->forget_owned(gone));
  return found;
}

}  // namespace weir::ops
