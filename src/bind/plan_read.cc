#include "bind/plan_read.h"

#include <fmt/format.h>

namespace weir::bind::plan {

std::optional<Element> member(Element of, std::string_view key) {
  Element found;
  if (of[key].get(found) != simdjson::SUCCESS || found.is_null()) return std::nullopt;
  return found;
}

std::vector<Element> members(Element of, std::string_view key) {
  std::vector<Element> all;
  simdjson::dom::array array;
  if (of[key].get(array) != simdjson::SUCCESS) return all;
  for (const Element each : array) all.push_back(each);
  return all;
}

std::string_view text(Element of, std::string_view key) {
  std::string_view found;
  if (of[key].get(found) != simdjson::SUCCESS) return {};
  return found;
}

std::uint64_t number(Element of, std::string_view key, std::uint64_t otherwise) {
  std::uint64_t found = 0;
  if (of[key].get(found) != simdjson::SUCCESS) return otherwise;
  return found;
}

std::vector<std::uint64_t> numbers(Element of, std::string_view key) {
  std::vector<std::uint64_t> all;
  for (const Element each : members(of, key)) {
    std::uint64_t one = 0;
    if (each.get(one) == simdjson::SUCCESS) all.push_back(one);
  }
  return all;
}

namespace {

std::string quoted(std::string_view name) {
  std::string all = "\"";
  for (const char c : name) all += c == '"' ? "\"\"" : std::string(1, c);
  return all + "\"";
}

std::string fields(Element info) {
  std::string all;
  for (const Element field : members(info, "child_types")) {
    if (!all.empty()) all += ", ";
    const std::string_view name = text(field, "first");
    if (!name.empty()) all += quoted(name) + " ";
    if (const auto type = member(field, "second")) all += spelling(*type);
  }
  return all;
}

}  // namespace

// Types nest only as deep as somebody wrote them, and DuckDB refuses to parse deep ones, hence plain recursion.
std::string spelling(Element type) {
  const std::string_view id = text(type, "id");
  const auto info = member(type, "type_info");
  // As duck::Column spells the type of a bare NULL.
  if (!info) return id == "NULL" ? "\"NULL\"" : std::string(id);
  if (const std::string_view alias = text(*info, "alias"); !alias.empty()) return std::string(alias);
  if (id == "DECIMAL") return fmt::format("DECIMAL({},{})", number(*info, "width"), number(*info, "scale"));
  if (id == "STRUCT") return "STRUCT(" + fields(*info) + ")";
  if (id == "LIST" || id == "MAP" || id == "ARRAY") {
    const auto child = member(*info, "child_type");
    if (!child) return std::string(id);
    if (id == "ARRAY") return fmt::format("{}[{}]", spelling(*child), number(*info, "size"));
    if (id == "LIST") return spelling(*child) + "[]";
    // A map is a list of structs of key and value.
    std::vector<Element> pair;
    if (const auto of = member(*child, "type_info")) pair = members(*of, "child_types");
    if (pair.size() != 2) return "MAP";
    return fmt::format("MAP({}, {})", spelling(*member(pair[0], "second")), spelling(*member(pair[1], "second")));
  }
  return std::string(id);
}

}  // namespace weir::bind::plan
