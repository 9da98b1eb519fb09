// Which lakes an environment other than prod writes and reads: a table that lies in its fork is read there, any other
// in the nearest environment that it comes from and that has one. Where the parents' versions are pinned, weir.yaml's
// lake is the last of those forks, read at its version.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "lake/lakes.h"
#include "project/asset.h"
#include "project/config.h"

namespace weir::env {

class Forks {
 public:
  Forks() = default;
  /// Looks at what lies in the forks among the configuration's lakes (see add_forks()); in prod there are none, and
  /// nothing is looked at. Errors: W6003 a fork that cannot be read.
  static Result<Forks> look(const Config& config, lake::Lakes& lakes, const std::string& environment);

  /// True in prod, and where every lake is shared all the way.
  bool empty() const { return levels_.empty(); }
  /// Where the environment writes what weir.yaml calls by this asset's lake.
  Asset written(const Asset& asset) const;
  /// Where the rows of an asset are read. `built`: the environment builds it now.
  Asset read(const Asset& asset, bool built = false) const;
  /// The environment whose own rows read() leads to, and the version where it is pinned; empty for those of weir.yaml's
  /// lake as it is now.
  std::string owner(const Asset& asset, bool built = false) const;
  /// The asset of weir.yaml's lake at the version that is pinned; as it is now, where none is.
  Asset pinned(const Asset& asset) const;
  /// True where the environment's own lake for this asset starts tables that grow from a copy.
  bool copies(const Asset& asset) const;
  /// True where what the environment comes from stands still.
  bool is_pinned() const { return !pinned_.empty(); }
  /// True for a lake that the environment may write.
  bool may_write(const std::string& lake) const { return !read_only_.contains(lake); }

 private:
  struct Level {
    std::string environment;
    std::string lake;  // of weir.yaml, in lower case
    std::string fork;
    std::optional<std::int64_t> version;
    bool is_last = false;          // everything is read there that no other level has
    std::set<std::string> tables;  // keys of assets in the fork
  };
  std::vector<const Level*> levels_of(const Asset& asset) const;
  std::vector<Level> levels_;                   // nearest first
  std::map<std::string, std::string> written_;  // lake of weir.yaml in lower case -> lake that is written
  std::set<std::string> read_only_;
  std::set<std::string> pinned_;
  std::set<std::string> copying_;  // forks that are written
};

}  // namespace weir::env
