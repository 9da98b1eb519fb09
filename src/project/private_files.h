// Files that no user SQL may read: they hold secrets, or weir's own books.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "project/config.h"

namespace weir {

/// True for an address beyond the local file system.
bool is_remote(std::string_view name);
/// The local path that a name or pattern stands for, links resolved as far as they exist. Requires: not remote.
std::string normal_path(const Config& config, std::string_view name);
/// The folder that a file name or pattern certainly lies in, or the file itself.
std::string before_pattern(std::string_view name);
/// True if `path` is `place` or lies below it.
bool lies_under(std::string_view path, std::string_view place);

/// A file `.env` and what a folder `.weir` holds, wherever they lie, the catalogs and the state file of a project.
/// Keeps no reference to `config`.
class PrivateFiles {
 public:
  explicit PrivateFiles(const Config& config);

  /// True for the name of one of them, or a pattern that finds one.
  bool hold(const std::string& name) const;

 private:
  std::string root_;
  std::string folder_;
  std::vector<std::string> files_;
};

}  // namespace weir
