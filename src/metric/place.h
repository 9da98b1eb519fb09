// Where in a file a part of a declaration's text stands.
#pragma once

#include <string>

#include "project/model.h"

namespace weir::metric {

/// The place of `part` of `text`, which was written within `written`. YAML can write a text otherwise (quotes, folded
/// lines): then the whole of it.
inline Span place_of(const Source& source, Span written, const std::string& text, Span part) {
  const std::string_view bytes = std::string_view(source.text).substr(written.begin, written.size());
  const auto at = bytes.find(text);
  if (at == std::string_view::npos || part.empty()) return written;
  const std::uint32_t begin = written.begin + static_cast<std::uint32_t>(at);
  return {begin + part.begin, begin + part.end};
}

}  // namespace weir::metric
