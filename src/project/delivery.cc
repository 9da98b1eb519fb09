#include "project/delivery.h"

#include <algorithm>
#include <array>

namespace weir {
namespace {

constexpr std::array<std::string_view, 4> kPlaceholders = {"date", "datetime", "env", "partition"};

}  // namespace

std::vector<std::string> placeholders_of(std::string_view path) {
  std::vector<std::string> names;
  for (auto open = path.find('{'); open != std::string_view::npos; open = path.find('{', open + 1)) {
    const auto close = path.find('}', open);
    if (close == std::string_view::npos) break;
    names.emplace_back(path.substr(open + 1, close - open - 1));
  }
  return names;
}

bool is_placeholder(std::string_view name) {
  return std::find(kPlaceholders.begin(), kPlaceholders.end(), name) != kPlaceholders.end();
}

bool names_time(std::string_view path) {
  return path.find("{date}") != std::string_view::npos || path.find("{datetime}") != std::string_view::npos;
}

std::string filled_path(std::string_view path, const PathValues& values) {
  std::string filled;
  while (true) {
    const auto open = path.find('{');
    const auto close = open == std::string_view::npos ? open : path.find('}', open);
    filled += path.substr(0, close == std::string_view::npos ? path.size() : open);
    if (close == std::string_view::npos) return filled;
    const std::string_view name = path.substr(open + 1, close - open - 1);
    filled += name == "date"       ? values.date
              : name == "datetime" ? values.datetime
              : name == "env"      ? values.environment
                                   : values.partition;
    path.remove_prefix(close + 1);
  }
}

}  // namespace weir
