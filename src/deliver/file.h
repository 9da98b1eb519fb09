// One file a delivery: written beside its place and renamed into it, so that a reader sees the old one or the whole new
// one. On its way to an object storage it is finished in the temp folder, and goes up whole.
#pragma once

#include <functional>
#include <string>

#include "build/stage.h"
#include "project/config.h"
#include "project/delivery.h"

namespace weir::deliver {

struct FileRequest {
  const Model& model;
  const build::Stage& stage;
  const Config& config;
  PathValues values;
  /// Tells this run's unfinished file from others'.
  std::string run;
  /// Asked before the file is put in place: is the slice still ours?
  std::function<Result<void>()> check_fence;
};

struct Delivered {
  /// Absolute path, or the object's URI.
  std::string path;
  std::int64_t bytes = 0;
};

/// Folders on the way are made. What an earlier run that died left unfinished beside the file goes. Failpoints:
/// before_rename, after_rename; before_upload. Errors: W6510 the path leads out of the project (through a
/// link, or by a partition's value), W6511 it cannot be written.
Result<Delivered> put_file(duck::Connection& connection, const FileRequest& request);

}  // namespace weir::deliver
