#include "project/piece.h"

#include <algorithm>

namespace weir {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v'; }

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         (static_cast<unsigned char>(c) & 0x80) != 0;
}

Piece Piece::trimmed() const {
  Span span = span_;
  while (span.begin < span.end && is_blank(source_[span.begin])) ++span.begin;
  while (span.end > span.begin && is_blank(source_[span.end - 1])) --span.end;
  return {source_, span};
}

Piece Piece::sub(std::size_t begin, std::size_t count) const {
  const std::size_t from = std::min<std::size_t>(begin, span_.size());
  const std::size_t size = std::min<std::size_t>(count, span_.size() - from);
  const auto at = static_cast<std::uint32_t>(span_.begin + from);
  return {source_, {at, static_cast<std::uint32_t>(at + size)}};
}

Piece Piece::take_word() {
  *this = trimmed();
  std::size_t size = 0;
  while (size < span_.size() && !is_blank(view()[size])) ++size;
  const Piece taken = sub(0, size);
  *this = sub(size).trimmed();
  return taken;
}

Piece Piece::take_quoted_word() {
  *this = trimmed();
  if (!view().starts_with('"')) return take_word();
  const auto text = view();
  std::size_t size = 1;
  while (size < text.size()) {
    if (text[size] == '"' && size + 1 < text.size() && text[size + 1] == '"') {
      size += 2;
    } else if (text[size++] == '"') {
      break;
    }
  }
  const Piece taken = sub(0, size);
  *this = sub(size).trimmed();
  return taken;
}

Word Piece::unquoted() const {
  const auto text = view();
  if (text.size() >= 2 && text.front() == text.back() && (text.front() == '"' || text.front() == '\''))
    return {std::string(text.substr(1, text.size() - 2)), span_};
  return word();
}

Word Piece::name() const {
  const auto text = view();
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return word();
  std::string name;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    name += text[i];
    if (text[i] == '"' && text[i + 1] == '"' && i + 2 < text.size()) ++i;
  }
  return {std::move(name), span_};
}

}  // namespace weir
