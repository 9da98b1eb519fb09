// The registry of environments.
#include <fmt/format.h>

#include "state/sql_store.h"
#include "state/store.h"

namespace weir::state {

Result<std::vector<EnvironmentRecord>> SqlStore::environments() {
  WEIR_TRY(auto found,
           rows("SELECT environment, parent, settings_json, created FROM environment ORDER BY environment", {}, 4));
  std::vector<EnvironmentRecord> all;
  for (Row& row : found)
    all.push_back({row[0].value_or(""), row[1].value_or(""), row[2].value_or(""), row[3].value_or("")});
  return all;
}

Result<void> SqlStore::create_environment(const EnvironmentRecord& environment) {
  const std::lock_guard guard(mutex_);
  return session_->write("create_environment", [&]() -> Result<void> {
    const auto known =
        session_->ask("SELECT environment FROM environment WHERE lower(environment) = lower(:environment)",
                      {environment.environment}, 1);
    if (!known.empty())
      return fail(Diagnostic{.code = Code::W5403,
                             .message = fmt::format("there is an environment {}", known.front()[0].value_or("")),
                             .hint = "`weir env ls` lists them"});
    session_->run("INSERT INTO environment VALUES (:environment, :parent, :settings, :created)",
                  {environment.environment, environment.parent, environment.settings_json, environment.created});
    return {};
  });
}

Result<void> SqlStore::drop_environment(const std::string& environment, const std::vector<std::string>& lakes) {
  const std::lock_guard guard(mutex_);
  return session_->write("drop_environment", [&]() -> Result<void> {
    session_->run("DELETE FROM environment WHERE environment = :environment", {environment});
    session_->run("DELETE FROM promotion WHERE environment = :environment", {environment});
    // What an environment built of owned models may be shown by others, and is collected when it is not.
    session_->run("DELETE FROM slice WHERE environment = :environment AND asset NOT IN (SELECT asset FROM snapshot)",
                  {environment});
    session_->run("DELETE FROM asset_schema WHERE environment = :environment", {environment});
    for (const char* table : {"deployment", "model", "asset", "edge", "data_metric", "macro", "library", "cascade_run",
                              "dispatch_event", "join_pending_input", "verified", "taken_out"})
      session_->run(fmt::format("DELETE FROM {} WHERE environment = :environment", table), {environment});
    for (const std::string& lake : lakes) session_->run("DELETE FROM reconciliation WHERE lake = :lake", {lake});
    note_references(now_text());
    return {};
  });
}

}  // namespace weir::state
