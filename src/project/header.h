// Which bytes of a file are its header, in either notation, and the same file without them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"

namespace weir {

/// The header of one file. Line comments count from the first line to the first that is neither blank nor a comment in
/// one of the three notations (`--`, `//`, `#`); a block header among them does not end them. The block header may lie
/// anywhere in the file.
struct HeaderRegion {
  struct Comment {
    /// The notation and what follows it, to the end of the line.
    Span whole;
    /// What follows the notation.
    Span text;
  };
  std::vector<Comment> comments;
  struct Block {
    /// From `/*` to `*/`.
    Span whole;
    /// What lies between them.
    Span text;
  };
  /// The first block comment that is a mapping with a top-level key `weir` or `interlace`.
  std::optional<Block> block;
};

HeaderRegion find_header(std::string_view text);

/// Returns `text` with its header (and a byte order mark) replaced by spaces: same length, same line ends.
std::string blank_header(std::string_view text, const HeaderRegion& region);

}  // namespace weir
