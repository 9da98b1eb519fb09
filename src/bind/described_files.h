// The columns of files that queries read. DuckDB writes no plan for its readers of CSV and JSON, so each such call is
// described once, and a stand-in takes its place.
#pragma once

#include <functional>
#include <string>

#include "bind/bound_cache.h"
#include "bind/model_text.h"
#include "bind/stand_ins.h"

namespace weir::bind {

struct DescribedFile {
  /// Null if they are not known.
  SharedColumns columns;
  /// Why not.
  std::string because;
  /// The file is not there now.
  bool is_missing = false;
  /// Differs when the file does; empty if that cannot be told without reading it.
  std::string identity;
};

/// Describes a call, or remembers what it was at the same files' sizes and times. `connection` is asked for at the
/// first call that must be described.
DescribedFile describe_file(const FileCall& call, const std::string& root, BoundCache& cache,
                            const std::function<duck::Connection*()>& connection);

}  // namespace weir::bind
