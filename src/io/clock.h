// The clock: UTC in microseconds. WEIR_NOW (ISO 8601, for example 2026-07-05T10:00:00Z) stands in for it, so that tests
// can stop the time or turn it back.
#pragma once

#include <chrono>

namespace weir::io {

/// Now, UTC.
std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds> now();

}  // namespace weir::io
