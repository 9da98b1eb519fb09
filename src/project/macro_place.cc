#include "project/macro_place.h"

#include "project/macros.h"

namespace weir {
namespace {

constexpr std::string_view kAgain = "CREATE OR REPLACE TEMP MACRO";
/// Room for what weir writes around a statement.
constexpr std::size_t kMargin = 4096;

}  // namespace

MacroPlaces::MacroPlaces(std::size_t longest) : next_(2 * longest + kMargin) {}

duck::Sql MacroPlaces::apart(const parse::Spliced& setup, bool again) {
  const std::string& text = setup.text();
  const auto head = read_macro_head(text, {0, static_cast<std::uint32_t>(text.size())});
  if (!head) return setup.sql();
  std::string sent(next_, ' ');
  std::ptrdiff_t shift = static_cast<std::ptrdiff_t>(next_);
  if (again) {
    sent += std::string(kAgain) + text.substr(head->words.end);
    shift += static_cast<std::ptrdiff_t>(kAgain.size()) - static_cast<std::ptrdiff_t>(head->words.end);
  } else {
    sent += text;
  }
  made_.push_back({setup, next_, sent.size(), shift});
  next_ = sent.size();
  return duck::Sql::verbatim(sent);
}

std::optional<MacroPlaces::Place> MacroPlaces::find(std::uint32_t position) const {
  for (const Made& made : made_)
    if (position >= made.begin && position < made.end) {
      const std::ptrdiff_t byte = static_cast<std::ptrdiff_t>(position) - made.shift;
      return Place{&made.sql, static_cast<std::uint32_t>(std::max<std::ptrdiff_t>(byte, 0))};
    }
  return std::nullopt;
}

}  // namespace weir
