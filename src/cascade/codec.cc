#include "cascade/codec.h"

#include <nlohmann/json.hpp>

namespace weir::cascade {
namespace {

using Json = nlohmann::json;

Json parsed(const std::string& text) { return Json::parse(text, nullptr, /*allow_exceptions=*/false); }
std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string text_of(const Json& object, const char* name) {
  return object.is_object() && object.contains(name) && object[name].is_string() ? object[name].get<std::string>()
                                                                                 : std::string();
}

}  // namespace

std::string to_json(const Carried& carried) {
  Json json{{"value", carried.value}, {"at", calendar::format_instant(carried.at)}};
  if (carried.of) {
    json["kind"] = calendar::name_of(carried.of->kind);
    json["tz"] = carried.of->tz;
    json["format"] = carried.of->format;
  }
  return dumped(json);
}

Carried carried_from(const std::string& json) {
  const Json object = parsed(json);
  Carried carried{.of = {}, .value = text_of(object, "value"), .at = {}};
  if (const auto at = calendar::parse_instant(text_of(object, "at"))) carried.at = *at;
  if (const auto kind = calendar::kind_named(text_of(object, "kind"))) {
    carried.of = calendar::Partitioning{.kind = *kind};
    carried.of->tz = text_of(object, "tz");
    carried.of->format = text_of(object, "format");
  }
  return carried;
}

std::string to_json(const std::vector<std::string>& names) { return dumped(Json(names)); }

std::vector<std::string> names_from(const std::string& json) {
  std::vector<std::string> names;
  const Json list = parsed(json);
  if (!list.is_array()) return names;
  for (const Json& one : list)
    if (one.is_string()) names.push_back(one.get<std::string>());
  return names;
}

std::string logged(const std::string& log_json, const std::string& time, const std::string& words) {
  Json list = parsed(log_json);
  if (!list.is_array()) list = Json::array();
  list.push_back({time, words});
  return dumped(list);
}

std::vector<std::pair<std::string, std::string>> log_from(const std::string& json) {
  std::vector<std::pair<std::string, std::string>> lines;
  const Json list = parsed(json);
  if (!list.is_array()) return lines;
  for (const Json& one : list)
    if (one.is_array() && one.size() == 2 && one[0].is_string() && one[1].is_string())
      lines.emplace_back(one[0].get<std::string>(), one[1].get<std::string>());
  return lines;
}

}  // namespace weir::cascade
