#include "io/clock.h"

#include <cstdio>
#include <cstdlib>

namespace weir::io {

namespace {

/// Microseconds of a fraction such as ".25"; digits beyond the sixth are left out.
int micros_of(const char* text) {
  if (*text != '.') return 0;
  int micros = 0;
  for (int unit = 100'000; unit > 0 && *++text >= '0' && *text <= '9'; unit /= 10) micros += (*text - '0') * unit;
  return micros;
}

}  // namespace

std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds> now() {
  using namespace std::chrono;
  if (const char* text = std::getenv("WEIR_NOW"); text != nullptr) {
    int y = 0, mo = 1, d = 1, h = 0, mi = 0, s = 0, read = 0;
    if (std::sscanf(text, "%d-%d-%dT%d:%d:%d%n", &y, &mo, &d, &h, &mi, &s, &read) >= 3) {
      const sys_days day{year{y} / month{static_cast<unsigned>(mo)} / std::chrono::day{static_cast<unsigned>(d)}};
      return day + hours{h} + minutes{mi} + seconds{s} + microseconds{read > 0 ? micros_of(text + read) : 0};
    }
  }
  return time_point_cast<microseconds>(system_clock::now());
}

}  // namespace weir::io
