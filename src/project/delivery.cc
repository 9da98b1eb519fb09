#include "project/delivery.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <filesystem>

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

bool is_among(std::string_view path, std::string_view read, std::string_view root) {
  const auto whole = [&](const std::string& one) {
    return one.find("://") != std::string::npos ? one : (std::filesystem::path(root) / one).lexically_normal().string();
  };
  const std::string written = whole(filled_path(path, {"0", "0", "0", "0"}));
  const std::string pattern = whole(std::string(read));
  // Two stars cross folders.
  const int flags = pattern.find("**") == std::string::npos ? FNM_PATHNAME : 0;
  return written == pattern || fnmatch(pattern.c_str(), written.c_str(), flags) == 0;
}

}  // namespace weir
