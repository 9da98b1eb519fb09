#include "io/cache_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "io/files.h"
#include "io/hash.h"

namespace weir::io {
namespace {

constexpr std::size_t kHash = 16;

}  // namespace

// The file is: head, hash of the body, body.
std::optional<std::string> read_cache(const std::string& path, std::string_view head) {
  auto bytes = read_file(path);
  if (!bytes || !bytes->starts_with(head) || bytes->size() < head.size() + kHash) return std::nullopt;
  const std::string_view body = std::string_view(*bytes).substr(head.size() + kHash);
  if (xxh3_hex(body) != std::string_view(*bytes).substr(head.size(), kHash)) return std::nullopt;
  bytes->erase(0, head.size() + kHash);
  return std::move(*bytes);
}

void write_cache(const std::string& path, std::string_view head, std::string_view body) {
  if (!make_folder(std::filesystem::path(path).parent_path().string())) return;
  // The process id keeps two writers apart, the counter two threads of one.
  static std::atomic<unsigned> counter{0};
  const std::string temporary = fmt::format("{}.{}-{}.tmp", path, ::getpid(), counter.fetch_add(1));
  std::ofstream file(temporary, std::ios::binary);
  file << head << xxh3_hex(body) << body;
  file.close();
  std::error_code failed;
  if (file) std::filesystem::rename(temporary, path, failed);
  if (!file || failed) std::filesystem::remove(temporary, failed);
}

}  // namespace weir::io
