// Places as an editor counts them: lines from 0, and on a line the units that both sides agreed on.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/span.h"

namespace weir::lsp {

/// What `character` counts: bytes, UTF-16 code units (every editor knows it), or code points.
enum class Encoding { Utf8, Utf16, Utf32 };

struct Place {
  std::uint32_t line = 0;
  std::uint32_t character = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

struct Range {
  Place start;
  Place end;
  friend bool operator==(const Range&, const Range&) = default;
};

/// Keeps a view of the text. Lines end with `\n`, `\r\n` or `\r`; a byte order mark has no width. Threads: safe once
/// made.
class Positions {
 public:
  Positions(std::string_view text, Encoding encoding);

  /// The place of byte `at`; an offset beyond the end is the end, one inside a character is that character's.
  Place place(std::uint32_t at) const;
  Range range(Span span) const { return {place(span.begin), place(span.end)}; }
  /// The byte at a place. Beyond a line's end: the line's end; beyond the last line: the end of the text; inside a
  /// character: its first byte.
  std::uint32_t offset(Place place) const;
  std::string_view text() const { return text_; }

 private:
  Span line(std::size_t index) const;
  std::uint32_t first_of(std::size_t index) const;

  std::string_view text_;
  Encoding encoding_;
  std::vector<std::uint32_t> begins_;
};

}  // namespace weir::lsp
