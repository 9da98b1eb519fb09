// Which environments there are, where each comes from, and which lakes it writes. Environments are created by command,
// or declared in weir.yaml; prod is built in.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "project/config.h"
#include "state/store.h"

namespace weir::env {

struct Settings {
  std::string name;
  /// The environment that it comes from; empty for prod.
  std::string parent;
  /// Lakes (in lower case) that are not forked: it writes what its parent writes.
  std::set<std::string> shared;
  /// Version by lake (in lower case) at which it reads what its parents have; those that it does not name move on.
  std::map<std::string, std::int64_t> pins;
  /// Tables that grow start from a copy of the parent's rows, not empty.
  bool copies = false;
  /// Empty for one that is only declared in weir.yaml.
  std::string created;
};

std::string settings_text(const Settings& settings);

/// A name for an environment: a letter, then letters, digits and single underscores, at most 30 characters, and none
/// that weir uses itself. Errors: W5402.
Result<void> judge_name(const std::string& name);

class Registry {
 public:
  /// Reads what was created and what weir.yaml declares; `store` may be null, when there is none yet.
  /// Errors: W5402 a declared name, W70xx.
  static Result<Registry> read(const Config& config, state::Store* store);

  /// All of them, prod first, then by name.
  const std::vector<Settings>& all() const { return all_; }
  /// Without case; nothing if there is none.
  const Settings* find(const std::string& name) const;
  /// The environment and those that it comes from, nearest first; prod is last. Names in their own case. Errors: W5401
  /// no such environment (of the chain), W5427 a circle.
  Result<std::vector<Settings>> chain(const std::string& name) const;
  /// Names of environments that come from this one directly.
  std::vector<std::string> children(const std::string& name) const;

 private:
  std::vector<Settings> all_;
};

/// True for a schema of views by which an environment reads its parent.
bool is_fork_schema(const std::string& schema);

/// The fork of a lake for an environment: named `<lake>@<environment>`, its catalog beside the lake's own (PostgreSQL:
/// a schema of its own), its data outside the lake's. Errors: W5422.
Result<LakeConfig> fork_of(const Config& config, const LakeConfig& lake, const std::string& environment);

/// Adds the forks of the chain to the lakes of the configuration, nearest first behind those of weir.yaml, and lets
/// only the environment's own, and the default lake, which holds the tables that weir owns, be written. A lake of
/// weir.yaml whose version is pinned is there once more behind its forks, as `<lake>@prod`. Requires: a chain of
/// Registry::chain(). Errors: W5422.
Result<void> add_forks(Config& config, const std::vector<Settings>& chain);

/// The lakes that an environment made from this chain would read, by the names that its pins have; none that are
/// `shared` (in lower case), nor any that the chain has pinned. Requires: add_forks(config, parents).
std::vector<std::string> lakes_to_pin(const Config& config, const std::set<std::string>& shared);

}  // namespace weir::env
