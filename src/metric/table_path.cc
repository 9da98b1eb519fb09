#include "metric/table_path.h"

#include <algorithm>

#include "text/lexer.h"

namespace weir::metric {
namespace {

constexpr std::size_t kLongestPath = 510;
constexpr std::size_t kLongestName = 255;

bool is_safe(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == '/';
}

}  // namespace

std::string table_path(const Asset& table) {
  return table.place + "/" + (table.schema.empty() ? "main" : table.schema) + "." + table.name;
}

std::string table_key(std::string_view path) { return text::lower(path); }

std::optional<std::string> table_path_of(std::string_view spelling) {
  std::optional<Asset> table;
  if (spelling.find(':') != std::string_view::npos)
    table = parse_asset(spelling);
  else if (spelling.find('/') != std::string_view::npos)
    table = parse_asset("ducklake://" + std::string(spelling));
  if (!table || table->kind != AssetKind::Lake || table->place.empty() || table->name.empty()) return std::nullopt;
  return table_path(*table);
}

Asset table_of(std::string_view path) {
  const auto slash = path.find('/');
  const auto dot = path.find('.', slash);
  return {.kind = AssetKind::Lake,
          .place = std::string(path.substr(0, slash)),
          .schema = std::string(path.substr(slash + 1, dot - slash - 1)),
          .name = std::string(path.substr(dot + 1))};
}

bool is_safe_path(std::string_view path) {
  return !path.empty() && path.size() <= kLongestPath && std::all_of(path.begin(), path.end(), is_safe);
}

bool is_name_short_enough(std::string_view name) {
  const auto characters = std::count_if(name.begin(), name.end(), [](char c) { return (c & 0xC0) != 0x80; });
  return static_cast<std::size_t>(characters) <= kLongestName;
}

}  // namespace weir::metric
