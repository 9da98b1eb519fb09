#include "text/line_index.h"

#include <algorithm>

namespace weir::text {

std::uint32_t byte_order_mark(std::string_view text) { return text.starts_with("\xEF\xBB\xBF") ? 3 : 0; }

LineIndex::LineIndex(std::string_view text) : text_(text) {
  begins_.push_back(byte_order_mark(text));
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n') begins_.push_back(static_cast<std::uint32_t>(i + 1));
}

Position LineIndex::position(std::uint32_t at) const {
  at = std::min<std::uint32_t>(at, static_cast<std::uint32_t>(text_.size()));
  const auto after = std::upper_bound(begins_.begin(), begins_.end(), at);
  if (after == begins_.begin()) return {};
  const auto begin = *(after - 1);
  Position found{static_cast<std::uint32_t>(after - begins_.begin()), 1};
  for (std::uint32_t i = begin; i < at; ++i)
    if ((static_cast<unsigned char>(text_[i]) & 0xC0) != 0x80) ++found.column;
  // An offset inside a character stands for that character.
  if (at < text_.size() && at > begin && (static_cast<unsigned char>(text_[at]) & 0xC0) == 0x80) --found.column;
  return found;
}

Span LineIndex::line(std::uint32_t line) const {
  const auto begin = begins_[line - 1];
  auto end = line < begins_.size() ? begins_[line] - 1 : static_cast<std::uint32_t>(text_.size());
  if (end > begin && text_[end - 1] == '\r') --end;
  return {begin, end};
}

}  // namespace weir::text
