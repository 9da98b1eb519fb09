// Lines and columns of a text, derived from byte offsets at the edge where a person or an editor reads them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/span.h"

namespace weir::text {

/// Both count from 1. Units: column counts characters (UTF-8 code points), a byte order mark at the beginning is none.
struct Position {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
  friend bool operator==(const Position&, const Position&) = default;
};

/// Where lines begin. Keeps a view of the text. Threads: safe once made.
class LineIndex {
 public:
  explicit LineIndex(std::string_view text);

  /// The place of byte `at`; an offset beyond the end is the end.
  Position position(std::uint32_t at) const;
  /// The bytes of line `line` (from 1) without its end (`\n`, `\r\n`). Requires: line <= lines().
  Span line(std::uint32_t line) const;
  std::uint32_t lines() const { return static_cast<std::uint32_t>(begins_.size()); }

 private:
  std::string_view text_;
  std::vector<std::uint32_t> begins_;
};

/// The length of the byte order mark that `text` begins with: 3 or 0.
std::uint32_t byte_order_mark(std::string_view text);

}  // namespace weir::text
