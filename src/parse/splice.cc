#include "parse/splice.h"

#include <algorithm>

namespace weir::parse {

Spliced Spliced::make(std::string_view source, Span range, std::vector<Replacement> replacements, std::string path) {
  // Of those that begin at one place the first given wins.
  std::stable_sort(replacements.begin(), replacements.end(),
                   [](const Replacement& a, const Replacement& b) { return a.span.begin < b.span.begin; });
  Spliced spliced;
  spliced.path_ = std::move(path);
  const auto put = [&spliced](std::string_view text, Span from, bool replaced) {
    const auto begin = static_cast<std::uint32_t>(spliced.text_.size());
    spliced.text_ += text;
    const auto end = static_cast<std::uint32_t>(spliced.text_.size());
    if (end > begin) spliced.pieces_.push_back({begin, end, from, replaced});
  };
  std::uint32_t at = range.begin;
  for (const Replacement& replacement : replacements) {
    if (replacement.span.begin < at || replacement.span.end > range.end) continue;
    put(source.substr(at, replacement.span.begin - at), {at, replacement.span.begin}, false);
    put(replacement.text, replacement.span, true);
    at = replacement.span.end;
  }
  put(source.substr(at, range.end - at), {at, range.end}, false);
  return spliced;
}

std::optional<Span> Spliced::source_of(std::uint32_t at) const {
  const auto piece =
      std::upper_bound(pieces_.begin(), pieces_.end(), at,
                       [](std::uint32_t value, const Piece& candidate) { return value < candidate.end; });
  if (piece == pieces_.end()) return std::nullopt;
  if (piece->replaced) return piece->source;
  const std::uint32_t begin = piece->source.begin + (at - piece->begin);
  return Span{begin, begin + 1};
}

std::optional<std::string> Spliced::text_of(Span source) const {
  for (const Piece& piece : pieces_) {
    if (piece.replaced && piece.source == source) return text_.substr(piece.begin, piece.end - piece.begin);
    if (!piece.replaced && piece.source.begin <= source.begin && source.end <= piece.source.end)
      return text_.substr(piece.begin + (source.begin - piece.source.begin), source.size());
  }
  return std::nullopt;
}

}  // namespace weir::parse
