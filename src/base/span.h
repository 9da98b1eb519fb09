// A byte range of one source text. Lines and columns are derived from it at the edge, never stored.
#pragma once

#include <cstdint>

namespace weir {

struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  std::uint32_t size() const { return end - begin; }
  bool empty() const { return end <= begin; }
  friend bool operator==(const Span&, const Span&) = default;
};

}  // namespace weir
