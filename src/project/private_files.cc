#include "project/private_files.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>

#include "text/lexer.h"

namespace weir {
namespace {

// DuckDB takes `file:/x`, `file:///x` and `file://localhost/x` for `/x`, the scheme in any case.
std::string_view without_scheme(std::string_view name) {
  constexpr std::string_view kScheme = "file:/";
  if (!text::same_word(name.substr(0, kScheme.size()), kScheme)) return name;
  name.remove_prefix(kScheme.size() - 1);
  if (!name.starts_with("//")) return name;
  const auto slash = name.find('/', 2);
  return slash == std::string_view::npos ? name.substr(1) : name.substr(slash);
}

std::string path_of(const std::string& root, std::string_view name) {
  std::error_code problem;
  const std::filesystem::path full =
      (std::filesystem::path(root) / std::filesystem::path(std::string(without_scheme(name)))).lexically_normal();
  const auto real = std::filesystem::weakly_canonical(full, problem);
  return problem ? full.string() : real.string();
}

}  // namespace

bool is_remote(std::string_view name) {
  return without_scheme(name) == name && name.find("://") != std::string_view::npos;
}

std::string normal_path(const Config& config, std::string_view name) { return path_of(config.root, name); }

std::string before_pattern(std::string_view name) {
  const auto star = name.find_first_of("*?[{");
  if (star == std::string_view::npos) return std::string(name);
  const auto slash = name.rfind('/', star);
  return slash == std::string_view::npos ? std::string(".") : std::string(name.substr(0, slash + 1));
}

bool lies_under(std::string_view path, std::string_view place) {
  while (place.ends_with('/')) place.remove_suffix(1);
  return path.starts_with(place) && (path.size() == place.size() || path[place.size()] == '/');
}

PrivateFiles::PrivateFiles(const Config& config)
    : root_(config.root), folder_(normal_path(config, ".weir")), files_{normal_path(config, ".env")} {
  const auto add = [this, &config](const DatabaseLocation& place) {
    if (place.kind == DatabaseLocation::Kind::Postgres || place.target.empty()) return;
    const std::string path = normal_path(config, place.target);
    for (const char* end : {"", "-wal", "-shm", "-journal"}) files_.push_back(path + end);
  };
  add(config.state);
  for (const LakeConfig& lake : config.lakes) add(lake.catalog);
}

bool PrivateFiles::hold(const std::string& name) const {
  if (is_remote(name)) return false;
  if (lies_under(path_of(root_, before_pattern(name)), folder_)) return true;
  // DuckDB's `*` finds names that begin with a dot, and `**/` is any number of folders, none too.
  const std::string path = path_of(root_, name);
  if (path.ends_with("/.env") || path.find("/.weir/") != std::string::npos) return true;
  const auto folders = path.find("**/");
  const std::string here = folders == std::string::npos ? path : std::string(path).erase(folders, 3);
  const int flags = path.find("**") == std::string::npos ? FNM_PATHNAME : 0;
  return std::any_of(files_.begin(), files_.end(), [&](const std::string& file) {
    return path == file || fnmatch(path.c_str(), file.c_str(), flags) == 0 ||
           fnmatch(here.c_str(), file.c_str(), flags) == 0;
  });
}

}  // namespace weir
