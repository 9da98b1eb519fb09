#include "project/header.h"

#include "project/header_block.h"
#include "project/piece.h"
#include "text/line_index.h"

namespace weir {
namespace {

/// Walks over SQL just far enough to tell block comments from strings that hold their marks.
class BlockComments {
 public:
  explicit BlockComments(std::string_view text) : text_(text), at_(text::byte_order_mark(text)) {}

  std::optional<HeaderRegion::Block> next() {
    while (at_ < text_.size()) {
      if (starts("--") || ((starts("//") || starts("#")) && first_of_line())) {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (starts("/*")) {
        return block();
      } else if (text_[at_] == '\'' || text_[at_] == '"') {
        quoted(text_[at_]);
      } else if (text_[at_] == '$') {
        dollar_quoted();
      } else {
        ++at_;
      }
    }
    return std::nullopt;
  }

 private:
  bool starts(std::string_view mark) const { return text_.substr(at_).starts_with(mark); }
  bool first_of_line() const {
    auto i = at_;
    while (i > 0 && text_[i - 1] != '\n' && is_blank(text_[i - 1])) --i;
    return i == text::byte_order_mark(text_) || i == 0 || text_[i - 1] == '\n';
  }
  std::optional<HeaderRegion::Block> block() {
    const auto begin = static_cast<std::uint32_t>(at_);
    int depth = 0;
    while (at_ < text_.size()) {
      if (starts("/*")) {
        ++depth;
        at_ += 2;
      } else if (starts("*/")) {
        at_ += 2;
        const auto end = static_cast<std::uint32_t>(at_);
        if (--depth == 0) return HeaderRegion::Block{{begin, end}, {begin + 2, end - 2}};
      } else {
        ++at_;
      }
    }
    return std::nullopt;
  }
  void quoted(char quote) {
    const bool escapes = quote == '\'' && at_ > 0 && (text_[at_ - 1] == 'E' || text_[at_ - 1] == 'e') &&
                         (at_ < 2 || !is_name_char(text_[at_ - 2]));
    ++at_;
    while (at_ < text_.size() && text_[at_] != quote) at_ += escapes && text_[at_] == '\\' ? 2 : 1;
    ++at_;
  }
  void dollar_quoted() {
    auto end = at_ + 1;
    while (end < text_.size() && is_name_char(text_[end])) ++end;
    const bool is_tag = end < text_.size() && text_[end] == '$' && (at_ == 0 || !is_name_char(text_[at_ - 1]));
    if (!is_tag) {
      at_ = end;
      return;
    }
    const auto tag = text_.substr(at_, end + 1 - at_);
    const auto close = text_.find(tag, end + 1);
    at_ = close == std::string_view::npos ? text_.size() : close + tag.size();
  }

  std::string_view text_;
  std::size_t at_;
};

std::uint32_t notation_size(std::string_view line) {
  if (line.starts_with("--") || line.starts_with("//")) return 2;
  return line.starts_with('#') ? 1 : 0;
}

void find_comments(std::string_view text, HeaderRegion& region) {
  auto at = static_cast<std::uint32_t>(text::byte_order_mark(text));
  while (at < text.size()) {
    const auto newline = text.find('\n', at);
    const auto next = static_cast<std::uint32_t>(newline == std::string_view::npos ? text.size() : newline + 1);
    const Piece line = Piece(text, {at, next}).trimmed();
    const auto notation = notation_size(line.view());
    if (notation > 0) {
      region.comments.push_back({line.span(), {line.span().begin + notation, line.span().end}});
    } else if (region.block && line.span().begin == region.block->whole.begin) {
      // What stands behind the block header on its last line is judged as a line of its own.
      at = region.block->whole.end;
      continue;
    } else if (!line.empty()) {
      return;
    }
    at = next;
  }
}

}  // namespace

HeaderRegion find_header(std::string_view text) {
  HeaderRegion region;
  BlockComments comments(text);
  while (auto block = comments.next()) {
    if (!is_block_header(text.substr(block->text.begin, block->text.size()))) continue;
    region.block = block;
    break;
  }
  find_comments(text, region);
  return region;
}

std::string blank_header(std::string_view text, const HeaderRegion& region) {
  std::string blanked(text);
  const auto blank = [&](Span span) {
    for (auto i = span.begin; i < span.end; ++i)
      if (blanked[i] != '\n' && blanked[i] != '\r') blanked[i] = ' ';
  };
  blank({0, text::byte_order_mark(text)});
  for (const auto& comment : region.comments) blank(comment.whole);
  if (region.block) blank(region.block->whole);
  return blanked;
}

}  // namespace weir
