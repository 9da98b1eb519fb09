// The few things weir does with files directly. Tables and Parquet are DuckDB's business, not this one's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace weir::io {

/// Reads all bytes of a file. Errors: W9010 it cannot be read (missing, a folder, no permission).
Result<std::string> read_file(const std::string& path);

/// Puts `bytes` at `path`: a reader sees the old file or the whole new one, also after a power cut.
/// Folders on the way are made. Errors: W9011 it cannot be written (disk full, no permission).
Result<void> write_file(const std::string& path, std::string_view bytes);

/// Makes a folder and those above it; one that exists is fine. Errors: W9011.
Result<void> make_folder(const std::string& path);

/// Deletes a file or a whole folder; one that is not there is fine. Errors: W9011.
Result<void> remove_all(const std::string& path);

struct FileState {
  std::uint64_t size = 0;
  /// Nanoseconds since 1970.
  std::int64_t modified_ns = 0;
  std::uint64_t inode = 0;
};

/// Lists the regular files below a folder, relative to it with '/' between the parts, sorted. Entries whose name starts
/// with '_' or '.' are left out with all below them; links are followed. A missing folder has none.
/// Errors: W9010 a folder cannot be read.
Result<std::vector<std::string>> list_files(const std::string& folder);

/// What tells one state of a file from another without reading it, following links. Errors: W9010.
Result<FileState> state_of_file(const std::string& path);

/// True if something is there, of whatever kind.
bool exists(const std::string& path);
/// True if a folder is there, also through a link.
bool is_folder(const std::string& path);

}  // namespace weir::io
