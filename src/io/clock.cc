#include "io/clock.h"

#include <cstdio>
#include <cstdlib>

namespace weir::io {

std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds> now() {
  using namespace std::chrono;
  if (const char* text = std::getenv("WEIR_NOW"); text != nullptr) {
    int y = 0, mo = 1, d = 1, h = 0, mi = 0, s = 0;
    if (std::sscanf(text, "%d-%d-%dT%d:%d:%d", &y, &mo, &d, &h, &mi, &s) >= 3) {
      const sys_days day{year{y} / month{static_cast<unsigned>(mo)} / std::chrono::day{static_cast<unsigned>(d)}};
      return day + hours{h} + minutes{mi} + seconds{s} + microseconds{0};
    }
  }
  return time_point_cast<microseconds>(system_clock::now());
}

}  // namespace weir::io
