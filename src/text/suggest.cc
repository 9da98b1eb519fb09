#include "text/suggest.h"

#include <algorithm>

namespace weir::text {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::size_t cost(char a, char b) {
  if (a == b) return 0;
  return lower(a) == lower(b) ? 1 : 2;
}

bool same_but_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

// Longer words are no slips of a keyword, and the table below would be large for them.
constexpr std::size_t kLongest = 128;

}  // namespace

std::size_t distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> table((a.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return table[i * width + j]; };
  for (std::size_t i = 0; i <= a.size(); ++i) at(i, 0) = 2 * i;
  for (std::size_t j = 0; j <= b.size(); ++j) at(0, j) = 2 * j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t best = std::min(at(i - 1, j) + 2, at(i, j - 1) + 2);
      best = std::min(best, at(i - 1, j - 1) + cost(a[i - 1], b[j - 1]));
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
        best = std::min(best, at(i - 2, j - 2) + 2);
      at(i, j) = best;
    }
  }
  return at(a.size(), b.size());
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string_view>& known) {
  if (word.empty() || word.size() > kLongest) return std::nullopt;
  std::optional<std::string> best;
  std::size_t best_distance = 2 * std::max<std::size_t>(1, word.size() / 3);
  for (const auto candidate : known) {
    if (candidate.size() > kLongest) continue;
    std::size_t found = distance(word, candidate);
    // A word all in the wrong case is one slip, however long it is.
    if (same_but_case(word, candidate)) found = std::min<std::size_t>(found, 1);
    // A word that shares nothing with the candidate is no slip of it, however short both are.
    if (found >= 2 * std::max(word.size(), candidate.size())) continue;
    if (found < best_distance || (found == best_distance && !best)) {
      best = std::string(candidate);
      best_distance = found;
    }
  }
  return best;
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
  return nearest(word, std::vector<std::string_view>(known.begin(), known.end()));
}

}  // namespace weir::text
