#include "io/connection_string.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <memory>

namespace weir::io {
namespace {

std::string pair(const std::string& keyword, const std::string& value) {
  std::string text = keyword + "='";
  for (const char c : value) {
    if (c == '\'' || c == '\\') text += '\\';
    text += c;
  }
  return text + "' ";
}

}  // namespace

std::string as_pairs(const std::string& address, const std::string& server_options) {
  const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> options(
      PQconninfoParse(address.c_str(), nullptr), PQconninfoFree);
  if (options == nullptr) return address;
  std::string pairs;
  std::string all_options = server_options;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val == nullptr) continue;
    if (std::string_view(option->keyword) == "options")
      all_options += fmt::format("{}{}", all_options.empty() ? "" : " ", option->val);
    else
      pairs += pair(option->keyword, option->val);
  }
  if (!all_options.empty()) pairs += pair("options", all_options);
  return pairs;
}

}  // namespace weir::io
