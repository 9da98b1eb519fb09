#include "io/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace weir::io {
namespace {

namespace fs = std::filesystem;

Failed system_failure(Code code, const char* doing, const std::string& path, const std::string& reason) {
  return fail(Diagnostic{.code = code, .message = fmt::format("cannot {} {}: {}", doing, path, reason)});
}

bool write_all(int file, const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = ::write(file, bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    done += static_cast<std::size_t>(wrote);
  }
  return ::fsync(file) == 0;
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return system_failure(Code::W9010, "read", path, std::strerror(errno));
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) return system_failure(Code::W9010, "read", path, std::strerror(errno));
  return bytes;
}

Result<void> make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return system_failure(Code::W9011, "make the folder", path, error.message());
  return {};
}

Result<void> write_file(const std::string& path, const std::string& bytes) {
  if (const fs::path parent = fs::path(path).parent_path(); !parent.empty()) WEIR_CHECK(make_folder(parent.string()));
  const std::string beside = fmt::format("{}.{}.tmp", path, ::getpid());
  const int file = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return system_failure(Code::W9011, "write", path, std::strerror(errno));
  const bool written = write_all(file, bytes);
  const std::string reason = std::strerror(errno);
  ::close(file);
  if (!written || ::rename(beside.c_str(), path.c_str()) != 0) {
    ::unlink(beside.c_str());
    return system_failure(Code::W9011, "write", path, written ? std::strerror(errno) : reason);
  }
  return {};
}

Result<std::vector<std::string>> list_files(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  if (!fs::exists(folder, error)) return files;
  fs::recursive_directory_iterator walk(folder, fs::directory_options::follow_directory_symlink, error);
  for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
    const std::string name = walk->path().filename().string();
    if (name.starts_with('_') || name.starts_with('.')) {
      if (walk->is_directory()) walk.disable_recursion_pending();
      continue;
    }
    if (walk->is_regular_file()) files.push_back(walk->path().lexically_relative(folder).generic_string());
  }
  if (error) return system_failure(Code::W9010, "list", folder, error.message());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace weir::io
