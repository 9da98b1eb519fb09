// Names: of runs, of this host, of moments.
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>

#include <fmt/format.h>

#include "io/clock.h"
#include "state/store.h"

namespace weir::state {
namespace {

using Bytes = std::array<unsigned char, 16>;

std::string crockford(const Bytes& bytes) {
  constexpr std::string_view kDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  // 128 bits are 26 digits of five bits; the first carries only three.
  std::string text(26, '0');
  unsigned pending = 0, bits = 0;
  std::size_t at = text.size();
  for (std::size_t i = bytes.size(); i-- > 0;) {
    pending |= static_cast<unsigned>(bytes[i]) << bits;
    bits += 8;
    for (; bits >= 5; bits -= 5, pending >>= 5) text[--at] = kDigits[pending & 31];
  }
  text[0] = kDigits[pending & 31];
  return text;
}

void fill_random(unsigned char* to, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const auto got = getrandom(to + done, size - done, 0);
    if (got > 0) done += static_cast<std::size_t>(got);
  }
}

/// Adds one to the random part. Returns false if it overflowed.
bool increase(Bytes& bytes) {
  for (std::size_t i = bytes.size(); i-- > 6;)
    if (++bytes[i] != 0) return true;
  return false;
}

std::string iso(std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds> time) {
  const std::int64_t micros = time.time_since_epoch().count();
  const std::int64_t fraction = ((micros % 1000000) + 1000000) % 1000000;
  const auto seconds = static_cast<std::time_t>((micros - fraction) / 1000000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, fraction);
}

}  // namespace

std::string new_run_id() {
  static std::mutex mutex;
  static Bytes last{};
  const std::lock_guard guard(mutex);
  const auto millis = static_cast<std::uint64_t>(io::now().time_since_epoch().count() / 1000);
  Bytes next{};
  for (std::size_t i = 0; i < 6; ++i) next[i] = static_cast<unsigned char>(millis >> (8 * (5 - i)));
  // Within one millisecond ids count on, so that the order of making is the order of the text.
  if (std::equal(next.begin(), next.begin() + 6, last.begin()) && increase(last)) return crockford(last);
  fill_random(next.data() + 6, 10);
  next[6] &= 0x7f;  // room to count
  last = next;
  return crockford(last);
}

std::string now_text() { return iso(io::now()); }

std::string machine_time_text() {
  return iso(std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now()));
}

std::string host_identity() {
  if (const char* given = std::getenv("WEIR_HOST"); given != nullptr && *given != '\0') return given;
  std::string machine;
  std::ifstream("/etc/machine-id") >> machine;
  std::array<char, 256> name{};
  // A name cut short or not known is still no other host's, thanks to the machine's id.
  if (gethostname(name.data(), name.size() - 1) != 0) name[0] = '\0';
  return machine.empty() ? std::string(name.data()) : fmt::format("{}/{}", name.data(), machine);
}

}  // namespace weir::state
