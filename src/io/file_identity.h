// Identities of files that models read: enough to tell that nothing changed, without reading them.
#pragma once

#include <optional>
#include <string>

namespace weir::io {

/// The identity of a file name or glob pattern as a model writes it (relative to `root`): size, modification time and
/// inode of every match. Nothing for remote names and for names that match nothing.
std::optional<std::string> file_identity(const std::string& root, const std::string& pattern);

}  // namespace weir::io
