// An installed weir is found from its own path, so that a prefix can be moved; a built one knows its tree.
#include "io/installation.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include "io/files.h"

namespace weir::io {
namespace {

/// A path under lib/weir of the installation that this program belongs to.
std::optional<std::filesystem::path> beside_program(const char* name) {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return std::nullopt;
  return program.parent_path().parent_path() / "lib/weir" / name;
}

}  // namespace

std::string extension_folder() {
  if (const char* named = std::getenv("WEIR_EXTENSIONS"); named != nullptr && *named != '\0') return named;
  if (const auto beside = beside_program("extensions"); beside && is_folder(beside->string())) return beside->string();
  return WEIR_BUILT_WITH_EXTENSIONS;
}

std::string duckdb_library() {
  std::error_code error;
  if (const auto beside = beside_program("libduckdb.so"); beside && std::filesystem::exists(*beside, error))
    return beside->string();
  return WEIR_BUILT_WITH_DUCKDB;
}

}  // namespace weir::io
