// Files by POSIX calls: std::filesystem's errors arrive as exceptions and it cannot fsync.
#include "io/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace weir::io {
namespace {

namespace fs = std::filesystem;

Failed failed(Code code, std::string_view doing, const std::string& path, int error) {
  return fail(
      Diagnostic{.code = code,
                 .message = fmt::format("cannot {} {}: {}", doing, path, std::generic_category().message(error)),
                 .path = "",
                 .span = {},
                 .hint = error == ENOSPC ? "free some space and run again; nothing was replaced" : ""});
}

/// Closes on every way out.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }
  /// Closes now, because close may report a write that failed late. Returns 0 or an errno.
  int close() { return ::close(std::exchange(number_, -1)) == 0 ? 0 : errno; }

 private:
  int number_;
};

/// Returns 0 or an errno.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// Writes the new bytes beside the target. Returns 0 or an errno; on failure nothing is left.
int write_beside(const std::string& temporary, std::string_view bytes, mode_t mode) {
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (file.number() < 0) return errno;
  int error = write_all(file.number(), bytes);
  if (error == 0 && ::fsync(file.number()) != 0) error = errno;
  if (const int closing = file.close(); error == 0) error = closing;
  if (error != 0) ::unlink(temporary.c_str());
  return error;
}

/// Makes a rename durable. Returns 0 or an errno.
int sync_folder(const std::string& folder) {
  Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.number() < 0) return errno;
  // Some network file systems cannot sync a folder and say EINVAL; there the rename is as durable as it gets.
  if (::fsync(opened.number()) != 0 && errno != EINVAL) return errno;
  return 0;
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) return failed(Code::W9010, "read", path, errno);
  struct stat found {};
  if (::fstat(file.number(), &found) != 0) return failed(Code::W9010, "read", path, errno);
  if (S_ISDIR(found.st_mode)) return failed(Code::W9010, "read", path, EISDIR);
  std::string bytes;
  // One byte more than the size, so that the read that meets the end needs no second buffer. Files of /proc say 0.
  // No more than that: texts of thousands of small files are kept.
  bytes.resize(found.st_size > 0 ? static_cast<std::size_t>(found.st_size) + 1 : 4096);
  std::size_t filled = 0;
  for (;;) {
    if (filled == bytes.size()) bytes.resize(bytes.size() * 2);
    const ssize_t got = ::read(file.number(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0) {
      if (errno == EINTR) continue;
      return failed(Code::W9010, "read", path, errno);
    }
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

Result<void> write_file(const std::string& path, std::string_view bytes) {
  const fs::path target(path);
  const std::string folder = target.has_parent_path() ? target.parent_path().string() : ".";
  WEIR_CHECK(make_folder(folder));
  struct stat before {};
  const bool replaces = ::stat(path.c_str(), &before) == 0;
  // The process id keeps two writers apart, the counter two threads of one.
  static std::atomic<unsigned> counter{0};
  const std::string temporary = fmt::format("{}.{}-{}.tmp", path, ::getpid(), counter.fetch_add(1));
  if (const int error = write_beside(temporary, bytes, 0666); error != 0) {
    return failed(Code::W9011, "write", path, error);
  }
  if (replaces && ::chmod(temporary.c_str(), before.st_mode & 07777) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    return failed(Code::W9011, "write", path, error);
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    return failed(Code::W9011, "write", path, error);
  }
  if (const int error = sync_folder(folder); error != 0) return failed(Code::W9011, "write", path, error);
  return {};
}

Result<void> make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return failed(Code::W9011, "make folder", path, error.value());
  return {};
}

Result<void> remove_all(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) return failed(Code::W9011, "delete", path, error.value());
  return {};
}

Result<std::vector<std::string>> list_files(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> files;
  if (!exists(folder)) return files;
  fs::recursive_directory_iterator walk(folder, fs::directory_options::follow_directory_symlink, error);
  if (error) return failed(Code::W9010, "list", folder, error.value());
  // The folders around the one at hand: a link back to one of them would be followed for ever.
  std::vector<std::pair<dev_t, ino_t>> around;
  if (struct stat root{}; ::stat(folder.c_str(), &root) == 0) around.emplace_back(root.st_dev, root.st_ino);
  while (walk != fs::recursive_directory_iterator()) {
    const fs::path& at = walk->path();
    const char first = at.filename().native().front();
    struct stat found {};
    if (first == '.' || first == '_') {
      walk.disable_recursion_pending();
    } else if (::stat(at.c_str(), &found) == 0 && S_ISREG(found.st_mode)) {
      // A link that leads nowhere is no file; neither is what vanished while we looked.
      files.push_back(at.lexically_relative(folder).generic_string());
    } else if (S_ISDIR(found.st_mode)) {
      const std::pair self(found.st_dev, found.st_ino);
      around.resize(std::min(around.size(), static_cast<std::size_t>(walk.depth()) + 1));
      if (std::ranges::find(around, self) != around.end()) walk.disable_recursion_pending();
      around.push_back(self);
    }
    walk.increment(error);
    if (error) return failed(Code::W9010, "list", folder, error.value());
  }
  std::ranges::sort(files);
  return files;
}

Result<FileState> state_of_file(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return failed(Code::W9010, "read", path, errno);
  return FileState{
      .size = static_cast<std::uint64_t>(found.st_size),
      .modified_ns = static_cast<std::int64_t>(found.st_mtim.tv_sec) * 1'000'000'000 + found.st_mtim.tv_nsec,
      .inode = static_cast<std::uint64_t>(found.st_ino)};
}

bool exists(const std::string& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0;
}

bool is_folder(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

}  // namespace weir::io
