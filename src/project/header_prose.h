// Tells a sentence in a comment from an annotation gone wrong: the first deserves a hint, the second a warning.
#pragma once

#include <string_view>

#include "project/header_keywords.h"

namespace weir {

/// True if `tail` behind a keyword reads like a sentence: words of letters, at least two (one for a keyword that takes
/// nothing), the first of them not nearly a word that the keyword knows.
bool looks_like_prose(const KeywordEntry& keyword, std::string_view tail);

/// True if `tail` holds what only annotations do: a URI, an arrow, an assignment, or a partition's kind.
bool has_annotation_shape(std::string_view tail);

}  // namespace weir
