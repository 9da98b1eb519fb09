// The nearest of some known words to one that is not known, for "did you mean".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::text {

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`. Units: half edits; a difference
/// in case alone is one half.
std::size_t distance(std::string_view a, std::string_view b);

/// The nearest word, if it is near enough to be a slip: at most one edit per three letters (at least one). Ties go to
/// the earlier word.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string_view>& known);
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace weir::text
