#include "project/macro_place.h"

#include <algorithm>
#include <map>

#include "project/macros.h"

namespace weir {

std::optional<std::size_t> macro_of_fault(duck::Connection& connection, const std::vector<const parse::Spliced*>& setup,
                                          const duck::Sql& failing, const duck::Failure& failure) {
  if (!failure.position) return std::nullopt;
  std::map<std::size_t, std::size_t> by_blanks;
  for (std::size_t i = 0; i < setup.size(); ++i) {
    const std::string& text = setup[i]->text();
    const auto head = read_macro_head(text, {0, static_cast<std::uint32_t>(text.size())});
    if (!head) continue;
    // As far from its old place as no other macro: OR REPLACE may have made the text longer.
    constexpr std::string_view kHead = "CREATE OR REPLACE TEMP MACRO";
    std::size_t blanks = by_blanks.empty() ? 1 : by_blanks.rbegin()->first + 1;
    blanks = std::max(blanks, kHead.size() > head->words.size() ? kHead.size() - head->words.size() : 0);
    std::string anew(head->words.size() + blanks - kHead.size(), ' ');
    anew += std::string(kHead) + text.substr(head->words.end);
    if (!connection.execute(duck::Sql::verbatim(anew))) return std::nullopt;
    by_blanks.emplace(blanks, i);
  }
  if (by_blanks.empty()) return std::nullopt;
  const auto again = connection.describe(failing);
  if (again || !again.error().position || *again.error().position < *failure.position) return std::nullopt;
  const auto found = by_blanks.find(*again.error().position - *failure.position);
  return found == by_blanks.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace weir
