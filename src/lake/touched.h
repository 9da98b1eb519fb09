// Where in a table rows changed after a version, as far as the lake's own records tell: which of its files came, went
// or lost rows, what values a column has in them, and what weir said of the slices that it wrote.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lake/lakes.h"

namespace weir::lake {

/// One file of a table in a version that changed it.
struct TouchedFile {
  std::int64_t version = 0;
  /// The file's value of the partition column; nothing if it has none.
  std::optional<std::string> partition;
  /// The column's least and greatest value in the file, in microseconds: since 1970 in UTC, or what clocks show.
  /// Nothing: not known.
  std::optional<std::pair<std::int64_t, std::int64_t>> bounds;
};

struct Touched {
  /// Changes up to this version may lie anywhere in the table: columns changed, files were merged, rows lay in the
  /// catalog, or versions have expired.
  std::int64_t anywhere_until = 0;
  std::vector<TouchedFile> files;
  /// What the commit records of weir say: version -> the slices of the table that it wrote there, by strategies that
  /// leave others alone.
  std::map<std::int64_t, std::set<std::string>> slices;
};

/// `column` is one of DATE, TIMESTAMP or TIMESTAMP WITH TIME ZONE, or the partition column. Slices are told in full
/// only for versions that also have files. Errors: W6003 the lake cannot be read.
Result<Touched> touched_after(duck::Connection& connection, const Lake& lake, const Asset& table,
                              const std::string& column, std::int64_t after);

}  // namespace weir::lake
