// The writers' lock of a lake. The kernel (or the server) releases it with the process, so a killed writer never leaves
// it behind.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "lake/lakes.h"
#include "lake/postgres.h"

namespace weir::lake {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds(20);

class FileLock final : public LakeLock {
 public:
  explicit FileLock(int file) : file_(file) {}
  ~FileLock() override { ::close(file_); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  bool is_held() override { return true; }

 private:
  int file_;
};

class AdvisoryLock final : public LakeLock {
 public:
  explicit AdvisoryLock(PostgresSession session) : session_(std::move(session)) {}
  // Session locks end with their session: an answer is all it takes.
  bool is_held() override { return session_.is_alive(); }

 private:
  PostgresSession session_;
};

Failed cannot(const LakeConfig& lake, const std::string& reason) {
  return fail(
      Diagnostic{.code = Code::W6004,
                 .message = fmt::format("the lock of lake {} cannot be taken: {}", lake.name, mask_secrets(reason)),
                 .path = {},
                 .span = {},
                 .hint = {}});
}

Failed interrupted(const LakeConfig& lake) {
  return fail(Diagnostic{.code = Code::W6103,
                         .message = fmt::format("stopped while waiting for another writer of lake {}", lake.name),
                         .path = {},
                         .span = {},
                         .hint = {}});
}

Result<std::unique_ptr<LakeLock>> lock_file(const LakeConfig& lake, const std::atomic<bool>& stop) {
  // Two spellings of one catalog must meet in one lock.
  std::error_code error;
  auto catalog = std::filesystem::weakly_canonical(lake.catalog.target, error);
  if (error) catalog = lake.catalog.target;
  const std::string path = catalog.string() + ".lock";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return cannot(lake, fmt::format("{}: {}", path, std::strerror(errno)));
  auto held = std::make_unique<FileLock>(file);
  while (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return cannot(lake, fmt::format("{}: {}", path, std::strerror(errno)));
    if (stop.load()) return interrupted(lake);
    std::this_thread::sleep_for(kPollInterval);
  }
  return std::unique_ptr<LakeLock>(std::move(held));
}

// One schema of a database holds one lake. The key: "weir" in ASCII, and 1 for the lake in the database's own schema, a
// number of its name's for any other.
std::int32_t number_of(const std::string& schema) {
  std::uint32_t number = 2166136261U;  // FNV-1a: the same on every host
  for (const unsigned char c : schema) number = (number ^ c) * 16777619U;
  return schema.empty() ? 1 : static_cast<std::int32_t>(number);
}

Result<std::unique_ptr<LakeLock>> lock_advisory(const LakeConfig& lake, const std::atomic<bool>& stop) {
  auto session = PostgresSession::open(lake.catalog.target);
  if (!session) return cannot(lake, session.error());
  const std::string question =
      fmt::format("SELECT pg_try_advisory_lock(2003134834, {})", number_of(lake.metadata_schema));
  while (true) {
    const auto taken = session->ask(question.c_str());
    if (!taken) return cannot(lake, taken.error());
    if (*taken == "t") return std::unique_ptr<LakeLock>(std::make_unique<AdvisoryLock>(std::move(*session)));
    if (stop.load()) return interrupted(lake);
    std::this_thread::sleep_for(kPollInterval);
  }
}

}  // namespace

Result<std::unique_ptr<LakeLock>> lock_of(const LakeConfig& lake, const std::atomic<bool>& stop) {
  return lake.catalog.kind == DatabaseLocation::Kind::Postgres ? lock_advisory(lake, stop) : lock_file(lake, stop);
}

Result<std::unique_ptr<LakeLock>> Lake::lock(const std::atomic<bool>& stop) const { return lock_of(config_, stop); }

}  // namespace weir::lake
