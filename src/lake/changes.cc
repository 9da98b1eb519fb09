#include "lake/changes.h"

#include <charconv>

namespace weir::lake {
namespace {

/// Takes one double-quoted name off the front; inner quotes are doubled.
std::optional<std::string> take_quoted(std::string_view& text) {
  if (text.empty() || text.front() != '"') return std::nullopt;
  std::string name;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] != '"') {
      name += text[i];
    } else if (i + 1 < text.size() && text[i + 1] == '"') {
      name += '"';
      ++i;
    } else {
      text.remove_prefix(i + 1);
      return name;
    }
  }
  return std::nullopt;
}

void take_value(std::string_view& text, Change& change) {
  if (auto first = take_quoted(text)) {
    change.name = std::move(*first);
    if (text.starts_with('.')) {
      text.remove_prefix(1);
      if (auto second = take_quoted(text)) {
        change.schema = std::move(change.name);
        change.name = std::move(*second);
      }
    }
    return;
  }
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc()) return;
  change.id = id;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
}

}  // namespace

bool Change::alters_content() const {
  return kind != "merge_adjacent" && kind != "rewrite_delete" && kind != "inline_flush";
}

std::vector<Change> parse_changes(std::string_view text) {
  std::vector<Change> changes;
  while (!text.empty()) {
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) break;
    Change change;
    change.kind = text.substr(0, colon);
    text.remove_prefix(colon + 1);
    take_value(text, change);
    changes.push_back(std::move(change));
    const auto comma = text.find(',');
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return changes;
}

}  // namespace weir::lake
