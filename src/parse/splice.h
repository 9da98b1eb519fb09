// Replaces byte ranges of user SQL and remembers where every byte of the result came from, so that an engine error
// lands on the user's line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "duck/sql.h"

namespace weir::parse {

struct Replacement {
  Span span;
  std::string text;
};

/// User SQL with replacements made.
class Spliced {
 public:
  /// `range` selects the part of `source` that is wanted; replacements outside it are ignored; they must not overlap.
  /// `path` names the file where that is not the one at hand.
  static Spliced make(std::string_view source, Span range, std::vector<Replacement> replacements,
                      std::string path = {});

  /// SQL that weir wrote itself: no byte of it stands in the source.
  static Spliced generated(const duck::Sql& sql) {
    Spliced spliced;
    spliced.text_ = sql.text();
    return spliced;
  }

  const std::string& text() const { return text_; }
  /// The file that places lead to; empty: the model's own.
  const std::string& path() const { return path_; }
  duck::Sql sql() const { return duck::Sql::verbatim(text_); }
  /// The place in the source that byte `at` of text() stands for (a whole replaced range for replaced bytes); nothing
  /// beyond the end.
  std::optional<Span> source_of(std::uint32_t at) const;
  /// What stands in text() for a range of the source that was replaced as a whole, or not at all; nothing for any other
  /// range.
  std::optional<std::string> text_of(Span source) const;

 private:
  struct Piece {
    std::uint32_t begin;
    std::uint32_t end;
    Span source;
    bool replaced;
  };
  std::string text_;
  std::string path_;
  std::vector<Piece> pieces_;
};

}  // namespace weir::parse
