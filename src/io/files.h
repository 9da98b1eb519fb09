// Files: read whole, written so that a reader sees the old or the new content and never a part.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace weir::io {

/// Errors: W9010 not readable (names the path and the system's reason).
Result<std::string> read_file(const std::string& path);
/// Writes beside the target, syncs and renames into place; makes missing folders. Errors: W9011.
Result<void> write_file(const std::string& path, const std::string& bytes);
/// Regular files below `folder`, relative to it with `/`, sorted; entries whose name starts with `_` or `.` are left out with all below them.
/// A missing folder has none. Errors: W9010.
Result<std::vector<std::string>> list_files(const std::string& folder);
Result<void> make_folder(const std::string& path);

}  // namespace weir::io
