// Where an asset is to be read while a run goes on: a stage or after-image of a step of this run, or the committed
// table.
//
// An after-image such as "the table plus the appended rows" is true only until its commit: afterwards the table holds
// those rows already. Therefore a reader first pins the version of every lake that it reads in its transaction and then
// asks, both while it shares the lock of the commits, which the publisher holds alone from COMMIT until the new version
// is noted here. So a reader sees the image and the table of before the commit, or the table of after it, never a mix.
// One that reads images which stand alone has nothing to pin and goes on during a commit.
#pragma once

#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>

#include "duck/sql.h"
#include "lake/lakes.h"
#include "project/asset.h"

namespace weir::run {

class Images {
 public:
  struct Image {
    std::size_t step = 0;
    duck::Sql relation;
    /// True for a relation that does not read its target (the stage of a whole-table replace): right before and after
    /// the commit.
    bool stands_alone = false;
    /// Its rows, where they are known.
    std::optional<std::int64_t> rows = {};
    /// Of one that is written by windows: the least and the greatest time of the rows computed.
    std::optional<std::pair<std::string, std::string>> times = {};
    /// The version of the target that the relation adds to; nothing for one that stands alone.
    std::optional<std::int64_t> base = {};
    /// The version of the commit that published it.
    std::optional<std::int64_t> published = {};
  };

  /// What a reader got.
  struct Found {
    duck::Sql relation;
    /// The step whose image it is; nothing: the committed table.
    std::optional<std::size_t> step;
    std::optional<std::int64_t> rows = {};
    std::optional<std::pair<std::string, std::string>> times = {};
    std::optional<std::int64_t> base = {};
  };

  /// Taken before `mutex`, where both are.
  std::shared_mutex& commits() { return commits_under_way_; }
  std::shared_mutex& mutex() { return mutex_; }

  /// Requires: the mutex is held (exclusively for the first three, shared suffices for the others).
  void add(const Asset& asset, Image image);
  void remove_step(std::size_t step);
  void set_published(std::size_t step, std::int64_t version);

  /// The image that a transaction pinned at `version` of the asset's lake has to read; nothing: read the committed
  /// table.
  std::optional<Found> find(const Asset& asset, std::int64_t version) const;
  /// The version of the commit that published the step, once there is one; also of a step that shows no image.
  std::optional<std::int64_t> published(std::size_t step) const;
  /// True if the asset's image reads its target, so that the reader must pin the lake's version.
  bool needs_pin(const Asset& asset) const;

 private:
  std::shared_mutex commits_under_way_;
  std::shared_mutex mutex_;
  std::map<std::string, Image> images_;
  /// The assets that a step has images of: its target, and the view of a history.
  std::multimap<std::size_t, std::string> keys_;
  std::map<std::size_t, std::int64_t> commits_;
};

}  // namespace weir::run
