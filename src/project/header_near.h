// Comments that are nearly annotations: a keyword misspelt, in two words or in another case, an annotation below the
// query, a block header under nearly the right key. Each would switch something off without a word.
#pragma once

#include <string_view>

#include "project/header.h"
#include "project/header_options.h"

namespace weir {

/// Judges a line of the header whose first word `head` is no keyword; `tail` is what follows it. A line that is written
/// like an annotation is a warning, one that may be meant as one a hint, and a sentence nothing.
void judge_near_keyword(Piece head, Piece tail, Findings& findings);

/// True if `tail` behind `partitioned` says by what in other words: `by day`, `every month`.
bool is_partition_in_words(std::string_view tail);
/// The kind of partition that such words mean; empty if none.
std::string_view kind_in_words(std::string_view tail);

/// Warns of whole-line comments below the header that are written like annotations.
void judge_lines_below(std::string_view text, const HeaderRegion& region, Findings& findings);

/// Warns of a block comment above the query whose top-level key is nearly `weir`. Requires: the file has no block
/// header.
void judge_near_block(std::string_view text, Findings& findings);

}  // namespace weir
