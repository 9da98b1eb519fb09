// An installed weir is found from its own path, so that a prefix can be moved; a built one knows its tree.
#include "io/installation.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "io/files.h"

namespace weir::io {

std::string extension_folder() {
  if (const char* named = std::getenv("WEIR_EXTENSIONS"); named != nullptr && *named != '\0') return named;
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    std::string beside = (program.parent_path().parent_path() / "lib/weir/extensions").string();
    if (is_folder(beside)) return beside;
  }
  return WEIR_BUILT_WITH_EXTENSIONS;
}

}  // namespace weir::io
