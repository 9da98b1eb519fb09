// Files that hold what can be found out again: checked when they are read, so that damaged bytes are as good as none,
// and written without waiting for the disk.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weir::io {

/// What write_cache() kept under this head; nothing if the file is missing, damaged, or has another head.
std::optional<std::string> read_cache(const std::string& path, std::string_view head);

/// A reader sees the old file or the new one. What cannot be kept costs time, and is no error.
void write_cache(const std::string& path, std::string_view head, std::string_view body);

}  // namespace weir::io
