// A piece of a file that knows where it lies, so that whatever is cut from it still has its place.
#pragma once

#include <string>
#include <string_view>

#include "base/span.h"

namespace weir {

/// A value as the user wrote it (quotes gone), with its place (quotes included).
struct Word {
  std::string text;
  Span span;
};

bool is_blank(char c);
/// Letters, digits, underscore and everything beyond ASCII.
bool is_name_char(char c);

/// A view into a whole source text. Cutting keeps positions true.
class Piece {
 public:
  Piece() = default;
  Piece(std::string_view source, Span span) : source_(source), span_(span) {}

  std::string_view view() const { return source_.substr(span_.begin, span_.size()); }
  Span span() const { return span_; }
  bool empty() const { return span_.empty(); }
  std::string_view source() const { return source_; }

  /// Without blanks at both ends.
  Piece trimmed() const;
  /// `count` bytes from `begin` on, both relative to this piece.
  Piece sub(std::size_t begin, std::size_t count = std::string_view::npos) const;
  /// Takes the leading word (up to a blank) off this piece, together with the blanks around it. Empty if nothing is
  /// left.
  Piece take_word();
  /// The same, but a word that begins with a double quote ends at the closing one (doubled quotes stay inside).
  Piece take_quoted_word();

  Word word() const { return {std::string(view()), span_}; }
  /// As a word with one pair of matching quotes around it stripped.
  Word unquoted() const;
  /// As a name: without double quotes around it, doubled quotes inside undone.
  Word name() const;

 private:
  std::string_view source_;
  Span span_;
};

}  // namespace weir
