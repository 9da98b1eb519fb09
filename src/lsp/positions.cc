#include "lsp/positions.h"

#include <algorithm>

namespace weir::lsp {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Units that the character which begins with `lead` takes.
std::uint32_t units_of(char lead, std::uint32_t bytes, Encoding encoding) {
  if (encoding == Encoding::Utf8) return bytes;
  const bool is_beyond_the_plane = (static_cast<unsigned char>(lead) & 0xF8U) == 0xF0U;
  return encoding == Encoding::Utf16 && is_beyond_the_plane ? 2 : 1;
}

}  // namespace

Positions::Positions(std::string_view text, Encoding encoding) : text_(text), encoding_(encoding) {
  begins_.push_back(0);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool ends_line = text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'));
    if (ends_line) begins_.push_back(static_cast<std::uint32_t>(i + 1));
  }
}

Span Positions::line(std::size_t index) const {
  const std::uint32_t begin = begins_[index];
  auto end = index + 1 < begins_.size() ? begins_[index + 1] : static_cast<std::uint32_t>(text_.size());
  while (end > begin && (text_[end - 1] == '\n' || text_[end - 1] == '\r')) --end;
  return {begin, end};
}

// Editors take the mark off the text that they show, so it has no width.
std::uint32_t Positions::first_of(std::size_t index) const {
  return index == 0 && text_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : begins_[index];
}

Place Positions::place(std::uint32_t at) const {
  at = std::min(at, static_cast<std::uint32_t>(text_.size()));
  const auto after = std::upper_bound(begins_.begin(), begins_.end(), at);
  Place found{static_cast<std::uint32_t>(after - begins_.begin() - 1), 0};
  const std::uint32_t until = std::min(at, line(found.line).end);
  for (std::uint32_t i = first_of(found.line); i < until;) {
    std::uint32_t next = i + 1;
    while (next < text_.size() && continues(text_[next])) ++next;
    if (next > until) break;
    found.character += units_of(text_[i], next - i, encoding_);
    i = next;
  }
  return found;
}

std::uint32_t Positions::offset(Place place) const {
  if (place.line >= begins_.size()) return static_cast<std::uint32_t>(text_.size());
  const Span whole = line(place.line);
  std::uint32_t at = first_of(place.line);
  for (std::uint32_t units = 0; at < whole.end && units < place.character;) {
    std::uint32_t next = at + 1;
    while (next < whole.end && continues(text_[next])) ++next;
    units += units_of(text_[at], next - at, encoding_);
    if (units > place.character) break;
    at = next;
  }
  return at;
}

}  // namespace weir::lsp
