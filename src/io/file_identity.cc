#include "io/file_identity.h"

#include <fmt/format.h>
#include <glob.h>
#include <sys/stat.h>

#include <vector>

#include "io/hash.h"

namespace weir::io {
namespace {

std::optional<std::string> identity_of_one(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
  return fmt::format("{}-{}.{:09}-{}", found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec, found.st_ino);
}

}  // namespace

std::optional<std::string> file_identity(const std::string& root, const std::string& pattern) {
  if (pattern.find("://") != std::string::npos) return std::nullopt;
  const std::string path = pattern.starts_with('/') ? pattern : root + "/" + pattern;
  if (pattern.find_first_of("*?[") == std::string::npos) return identity_of_one(path);
  // The C library's glob knows no `**`, so a pattern with it has no identity that could be trusted.
  if (pattern.find("**") != std::string::npos) return std::nullopt;
  glob_t found{};
  std::optional<std::string> identity;
  if (glob(path.c_str(), 0, nullptr, &found) == 0) {
    std::string all;
    for (std::size_t i = 0; i < found.gl_pathc; ++i)
      all += fmt::format("{}:{};", found.gl_pathv[i], identity_of_one(found.gl_pathv[i]).value_or("?"));
    identity = fmt::format("{} files {}", found.gl_pathc, io::xxh3_hex(all));
  }
  globfree(&found);
  return identity;
}

}  // namespace weir::io
