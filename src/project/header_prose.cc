#include "project/header_prose.h"

#include "project/header_near.h"
#include "project/piece.h"
#include "text/suggest.h"

namespace weir {
namespace {

bool is_letter(char c) { return is_name_char(c) && c != '_' && !(c >= '0' && c <= '9'); }

/// Letters, with hyphens and apostrophes inside and punctuation around; a lone dash or ellipsis is a word too.
bool is_prose_word(std::string_view word) {
  constexpr std::string_view kAround = ".,:;!?()\"'`…–—";
  while (!word.empty() && kAround.find(word.front()) != std::string_view::npos) word.remove_prefix(1);
  while (!word.empty() && kAround.find(word.back()) != std::string_view::npos) word.remove_suffix(1);
  for (const char c : word)
    if (!is_letter(c) && c != '-' && c != '\'') return false;
  return true;
}

}  // namespace

bool looks_like_prose(const KeywordEntry& keyword, std::string_view tail) {
  // `data_test` is no word of any language.
  if (keyword.name == "data_test") return false;
  if (keyword.name == "partitioned" && is_partition_in_words(tail)) return false;
  std::size_t words = 0;
  Piece rest(tail, {0, static_cast<std::uint32_t>(tail.size())});
  while (true) {
    const auto word = rest.take_word().view();
    if (word.empty()) break;
    if (!is_prose_word(word)) return false;
    // Something that the keyword nearly knows is an attempt, not a sentence.
    if (words++ == 0 && text::nearest(word, keyword.heads) && keyword.repeats != Repeats::Flag &&
        keyword.name != "trigger")
      return false;
  }
  return words >= (keyword.repeats == Repeats::Flag ? 1 : 2);
}

bool has_annotation_shape(std::string_view tail) {
  for (const std::string_view mark : {"://", "->", "<-", "="})
    if (tail.find(mark) != std::string_view::npos) return true;
  for (const auto kind : keyword_named("partitioned")->heads)
    if (tail == kind) return true;
  return false;
}

}  // namespace weir
