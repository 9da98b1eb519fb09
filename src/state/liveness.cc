// See liveness.h.
#include "state/liveness.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

namespace weir::state {
namespace {

constexpr std::int64_t kLeaseSeconds = 30;

std::filesystem::path lock_file(const std::filesystem::path& folder, const std::string& run) {
  return folder / (run + ".lock");
}

Failed cannot_lock(const std::filesystem::path& file, const std::string& why) {
  return fail({.code = Code::W7006,
               .message = fmt::format("the run's lock {} cannot be taken: {}", file.string(), why),
               .path = {},
               .span = {},
               .hint = "the folder .weir of the project must be writable"});
}

int try_flock(int descriptor, int how) {
  int result = -1;
  do {
    result = flock(descriptor, how);
  } while (result != 0 && errno == EINTR);
  return result;
}

/// True if the name still leads to what was opened.
bool is_file(int descriptor, const std::filesystem::path& file) {
  struct stat opened {};
  struct stat named {};
  return fstat(descriptor, &opened) == 0 && stat(file.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

std::optional<std::int64_t> seconds_of(const std::string& text) {
  std::tm parts{};
  if (std::sscanf(text.c_str(), "%d-%d-%dT%d:%d:%d", &parts.tm_year, &parts.tm_mon, &parts.tm_mday, &parts.tm_hour,
                  &parts.tm_min, &parts.tm_sec) != 6)
    return std::nullopt;
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  return static_cast<std::int64_t>(timegm(&parts));
}

}  // namespace

Result<RunLock> RunLock::take(const std::filesystem::path& folder, const std::string& run) {
  const auto file = lock_file(folder, run);
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return cannot_lock(file, failed.message());
  while (true) {
    const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0) return cannot_lock(file, std::generic_category().message(errno));
    // A probe (liveness_of) may hold a shared lock for a moment, so a refusal is final only if it lasts.
    for (int attempt = 0; try_flock(descriptor, LOCK_EX | LOCK_NB) != 0; ++attempt) {
      const int error = errno;
      if (error == EWOULDBLOCK && attempt < 50) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        continue;
      }
      close(descriptor);
      return cannot_lock(file,
                         error == EWOULDBLOCK ? "another process holds it" : std::generic_category().message(error));
    }
    if (is_file(descriptor, file)) return RunLock(file, descriptor);
    // forget_run() took it for a dead run's before it was locked.
    close(descriptor);
  }
}

RunLock::RunLock(RunLock&& other) noexcept
    : file_(std::move(other.file_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

RunLock& RunLock::operator=(RunLock&& other) noexcept {
  if (this == &other) return *this;
  give_back();
  file_ = std::move(other.file_);
  descriptor_ = std::exchange(other.descriptor_, -1);
  return *this;
}

RunLock::~RunLock() { give_back(); }

void RunLock::give_back() {
  if (descriptor_ < 0) return;
  // Removed while still locked: nobody can find the file unlocked and call a run dead that ended in order.
  unlink(file_.c_str());
  close(descriptor_);
  descriptor_ = -1;
}

Liveness liveness_of(const std::filesystem::path& folder, const std::string& run) {
  const int descriptor = open(lock_file(folder, run).c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return Liveness::Unknown;
  // Shared, so that two who ask at once do not take each other for the holder.
  const int refused = try_flock(descriptor, LOCK_SH | LOCK_NB);
  const int error = errno;
  close(descriptor);
  if (refused == 0) return Liveness::Dead;
  return error == EWOULDBLOCK ? Liveness::Alive : Liveness::Unknown;
}

bool is_alive(const std::filesystem::path& folder, const std::string& run) {
  return liveness_of(folder, run) == Liveness::Alive;
}

void forget_run(const std::filesystem::path& folder, const std::string& run) {
  const auto file = lock_file(folder, run);
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  // Removed while locked, so that a run which is about to lock it sees that it is gone.
  if (try_flock(descriptor, LOCK_EX | LOCK_NB) == 0 && is_file(descriptor, file)) unlink(file.c_str());
  close(descriptor);
}

std::vector<std::string> unheld_runs(const std::filesystem::path& folder) {
  std::vector<std::string> unheld;
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    std::string run = entry->path().stem().string();
    if (liveness_of(folder, run) == Liveness::Dead) unheld.push_back(std::move(run));
  }
  return unheld;
}

std::int64_t began(const std::filesystem::path& folder, const std::string& run, const std::string& started) {
  struct stat found {};
  if (stat(lock_file(folder, run).c_str(), &found) == 0) return found.st_mtim.tv_sec;
  return seconds_of(started).value_or(time(nullptr));
}

std::int64_t lease_seconds() {
  const char* given = std::getenv("WEIR_LEASE_SECONDS");
  const std::int64_t seconds = given == nullptr ? 0 : std::atoll(given);
  return seconds > 0 ? seconds : kLeaseSeconds;
}

std::chrono::milliseconds heartbeat_interval() {
  return std::min<std::chrono::milliseconds>(std::chrono::seconds(5),
                                             std::chrono::milliseconds(lease_seconds() * 1000 / 6));
}

bool is_expired(const std::string& heartbeat, const std::string& now) {
  const auto then = seconds_of(heartbeat);
  const auto today = seconds_of(now);
  // A time that cannot be read proves nothing, and one in the future (the clock was turned back) is young.
  return then && today && *today - *then > lease_seconds();
}

std::vector<std::string> dead_runs(const std::filesystem::path& folder, const std::vector<Lease>& leases,
                                   const std::string& now) {
  const std::string here = host_identity();
  std::set<std::string> dead;
  for (const auto& lease : leases) {
    if (lease.run.empty() || dead.contains(lease.run)) continue;
    const auto liveness = lease.host == here ? liveness_of(folder, lease.run) : Liveness::Unknown;
    if (liveness == Liveness::Dead || (liveness == Liveness::Unknown && is_expired(lease.heartbeat, now)))
      dead.insert(lease.run);
  }
  return {dead.begin(), dead.end()};
}

Heartbeat::Heartbeat(Store& store, std::string run, std::chrono::milliseconds interval)
    : store_(store), run_(std::move(run)), interval_(interval), thread_([this] { beat(); }) {}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard guard(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

Diagnostics Heartbeat::last_failure() const {
  const std::lock_guard guard(mutex_);
  return failure_;
}

void Heartbeat::beat() {
  std::unique_lock guard(mutex_);
  while (!wake_.wait_for(guard, interval_, [this] { return stop_; })) {
    guard.unlock();
    auto renewed = store_.heartbeat(run_);
    guard.lock();
    failure_ = renewed.has_value() ? Diagnostics() : std::move(renewed).error();
  }
}

}  // namespace weir::state
