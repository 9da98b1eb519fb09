#include "run/seed.h"

#include <fmt/format.h>

#include <cstdlib>
#include <vector>

#include "base/failpoint.h"
#include "lake/commit.h"
#include "state/store.h"

namespace weir::run {
namespace {

Diagnostic failed(const std::string& doing, const duck::Failure& failure) {
  return lake::explain(Code::W6020, doing, failure);
}

/// Those whose table is missing.
Result<std::vector<const env::Placement*>> missing(const lake::Lake& lake, duck::Connection& connection,
                                                   const std::vector<const env::Placement*>& wanted) {
  std::vector<Asset> assets;
  for (const env::Placement* one : wanted) assets.push_back(*one->data);
  WEIR_TRY(const std::int64_t version, lake.newest_version(connection));
  WEIR_TRY(const auto states, lake.observe(connection, assets, version));
  std::vector<const env::Placement*> found;
  for (const env::Placement* one : wanted)
    if (!states.at(one->data->key()).exists) found.push_back(one);
  return found;
}

}  // namespace

Result<void> seed_tables(const Config& config, lake::Lakes& lakes,
                         const std::map<std::string, env::Placement>& placements, const std::set<std::string>& models,
                         const std::string& run, const std::string& environment, const std::atomic<bool>& stop) {
  std::vector<const env::Placement*> wanted;
  for (const auto& [path, placement] : placements)
    if (placement.seed && models.contains(path)) wanted.push_back(&placement);
  if (wanted.empty()) return {};
  const lake::Lake& lake = lakes.lake(config.lakes.front().name);
  WEIR_TRY(duck::Connection writer, lakes.connect());
  WEIR_TRY(const auto lock, lake.lock(stop));
  {
    WEIR_TRY(duck::Connection reader, lakes.connect());
    WEIR_TRY(wanted, missing(lake, reader, wanted));
  }
  if (wanted.empty()) return {};
  auto transaction = duck::Transaction::begin(writer);
  if (!transaction) return fail(failed("copying rows", transaction.error()));
  WEIR_TRY(const std::int64_t base, lake.base_version(writer));
  for (const env::Placement* one : wanted) {
    const std::vector<duck::Sql> statements{
        duck::Sql("CREATE SCHEMA IF NOT EXISTS {}", duck::TableName{{}, lake.writer(), one->data->schema}),
        duck::Sql("CREATE TABLE {} AS SELECT * FROM {}", lake.writable(one->data->schema, one->data->name),
                  lake.readable(one->seed->schema, one->seed->name))};
    for (const duck::Sql& statement : statements) {
      const auto done = writer.execute(statement);
      if (done) continue;
      transaction->rollback();
      return fail(failed(fmt::format("copying {} to {}", one->seed->uri(), one->data->uri()), done.error()));
    }
  }
  const lake::CommitRecord record{
      .weir = WEIR_VERSION, .token = state::new_run_id(), .run = run, .environment = environment};
  WEIR_TRY(const auto version,
           lake::commit(writer, lake, std::move(*transaction), record, lake::author(),
                        fmt::format("{} tables start from rows that are there", wanted.size()), base));
  (void)version;
  failpoint("after_seed");
  return {};
}

}  // namespace weir::run
