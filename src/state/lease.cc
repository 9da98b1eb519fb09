// Leases: who may write which slice. A row outlives its holder, so that fencing numbers only ever grow; a free one has
// an empty run.
#include <fmt/format.h>

#include <algorithm>

#include <map>
#include <set>

#include "state/liveness.h"
#include "state/sql_store.h"

namespace weir::state {
namespace {

using Key = std::pair<std::string, std::string>;

std::string slice_text(const Lease& lease) {
  return lease.slice.empty() ? lease.asset : fmt::format("{} ({})", lease.asset, lease.slice);
}

Diagnostic held_by(const Lease& holder, const std::string& since) {
  return {.code = Code::W6101,
          .message = fmt::format("{} is being written by run {} on {} (process {}) since {}", slice_text(holder),
                                 holder.run, holder.host, holder.pid, since),
          .path = {},
          .span = {},
          .hint = {}};
}

}  // namespace

std::vector<Lease> SqlStore::leases_of(const std::vector<Lease>& slices) {
  std::vector<Row> keys;
  for (const auto& lease : slices) keys.push_back({lease.asset, lease.slice});
  std::vector<Lease> found;
  for (const auto& row : session_->ask_keys(
           "SELECT asset, slice, run, host, pid, fence, heartbeat FROM lease WHERE (asset, slice) IN", keys, "", 7))
    found.push_back({.asset = *row[0],
                     .slice = *row[1],
                     .run = *row[2],
                     .host = *row[3],
                     .pid = std::stoll(*row[4]),
                     .fence = std::stoll(*row[5]),
                     .heartbeat = *row[6]});
  return found;
}

Result<std::vector<Lease>> SqlStore::claim(const std::vector<Lease>& wanted,
                                           const std::vector<std::string>& dead_runs) {
  const std::lock_guard guard(mutex_);
  const std::set<std::string> dead(dead_runs.begin(), dead_runs.end());
  std::vector<Lease> claimed;
  WEIR_CHECK(session_->write("lease", [&]() -> Result<void> {
    claimed.clear();
    const std::string now = session_->lease_now();
    std::map<Key, Lease> present;
    for (auto& lease : leases_of(wanted)) present.emplace(Key{lease.asset, lease.slice}, lease);
    std::map<Key, Row> rows;
    for (Lease lease : wanted) {
      auto& before = present[{lease.asset, lease.slice}];
      const bool free = before.run.empty() || before.run == lease.run || dead.contains(before.run);
      if (!free && (before.host == lease.host || !is_expired(before.heartbeat, now))) {
        const auto since = session_->ask("SELECT since FROM lease WHERE asset = :asset AND slice = :slice",
                                         {before.asset, before.slice}, 1);
        return fail(held_by(before, *since.front().front()));
      }
      lease.fence = before.fence + 1;
      lease.heartbeat = now;
      before = lease;
      rows[{lease.asset, lease.slice}] = {
          lease.asset, lease.slice, lease.run, lease.host, std::to_string(lease.pid), std::to_string(lease.fence),
          now,         now};
      claimed.push_back(std::move(lease));
    }
    std::vector<Row> values;
    for (auto& [key, row] : rows) values.push_back(std::move(row));
    session_->insert(
        "INSERT INTO lease (asset, slice, run, host, pid, fence, since, heartbeat)", values,
        "ON CONFLICT (asset, slice) DO UPDATE SET run = excluded.run, host = excluded.host, pid = excluded.pid, "
        "fence = excluded.fence, since = excluded.since, heartbeat = excluded.heartbeat");
    return {};
  }));
  return claimed;
}

Result<void> SqlStore::check(const std::vector<Lease>& held) {
  const std::lock_guard guard(mutex_);
  return session_->read([&]() -> Result<void> {
    std::map<Key, Lease> present;
    for (auto& lease : leases_of(held)) present.emplace(Key{lease.asset, lease.slice}, lease);
    for (const auto& lease : held) {
      const auto found = present.find({lease.asset, lease.slice});
      if (found != present.end() && found->second.fence == lease.fence && found->second.run == lease.run) continue;
      const std::string by =
          found == present.end() || found->second.run.empty() ? "given back" : "taken over by run " + found->second.run;
      return fail({.code = Code::W6102,
                   .message = fmt::format("the lease of run {} on {} was {}, so nothing may be written", lease.run,
                                          slice_text(lease), by),
                   .path = {},
                   .span = {},
                   .hint = "run it again"});
    }
    return {};
  });
}

Result<void> SqlStore::heartbeat(const std::string& run) {
  const std::lock_guard guard(mutex_);
  return session_->write("", [&]() -> Result<void> {
    session_->run("UPDATE lease SET heartbeat = :now WHERE run = :run", {session_->lease_now(), run});
    return {};
  });
}

Result<void> SqlStore::release(const std::string& run) {
  const std::lock_guard guard(mutex_);
  return session_->write("", [&]() -> Result<void> {
    session_->run("UPDATE lease SET run = '' WHERE run = :run", {run});
    return {};
  });
}

Result<std::vector<Lease>> SqlStore::leases() {
  WEIR_TRY(
      auto found,
      rows("SELECT asset, slice, run, host, pid, fence, heartbeat FROM lease WHERE run <> '' ORDER BY asset, slice", {},
           7));
  std::vector<Lease> all;
  for (const auto& row : found)
    all.push_back({.asset = *row[0],
                   .slice = *row[1],
                   .run = *row[2],
                   .host = *row[3],
                   .pid = std::stoll(*row[4]),
                   .fence = std::stoll(*row[5]),
                   .heartbeat = *row[6]});
  return all;
}

Result<std::string> SqlStore::lease_time() {
  const std::lock_guard guard(mutex_);
  std::string now;
  WEIR_CHECK(session_->read([&]() -> Result<void> {
    now = session_->lease_now();
    return {};
  }));
  return now;
}

}  // namespace weir::state
