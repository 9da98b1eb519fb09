#include <fmt/format.h>

#include <regex>

#include "lake/lakes.h"

namespace weir::lake {

// DuckDB puts the whole connection string into its messages. Both spellings that libpq knows are masked wherever they
// stand, and so are the keys of object stores; a message with a password that weir has not seen before is covered as
// well.
std::string mask_secrets(std::string text) {
  static const std::regex assigned(R"RE(((?:password|passwd|secret|token)\s*=\s*)('(?:[^'\\]|\\.)*'|[^\s"'&,;)]+))RE",
                                   std::regex::icase | std::regex::optimize);
  static const std::regex in_uri(R"RE((://[^:/@\s"']*:)[^\s"'/]*(@))RE", std::regex::optimize);
  // Attachments that write, and the catalogs' own tables, have a random part that only weir knows: DuckDB offers them
  // as "did you mean".
  static const std::regex closed(R"RE("?_weir_[wmn]_(\w*?)_[0-9a-f]{16}\w*"?)RE", std::regex::optimize);
  text = std::regex_replace(text, closed, "$1");
  // Readers' names are no secret, but nobody has typed them.
  static const std::regex reader(R"RE(_weir_r_(\w+))RE", std::regex::optimize);
  text = std::regex_replace(text, reader, "$1");
  text = std::regex_replace(text, assigned, "$1***");
  return std::regex_replace(text, in_uri, "$1***$2");
}

std::string reserved_name(std::string_view prefix, std::string_view name) {
  std::string reserved(prefix);
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') {
      reserved += static_cast<char>(c - 'A' + 'a');
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      reserved += c;
    } else if (c == '_') {
      reserved += "__";
    } else {
      reserved += fmt::format("_x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return reserved;
}

Diagnostic explain(Code code, const std::string& doing, const duck::Failure& failure) {
  std::string reason = mask_secrets(failure.message);
  while (!reason.empty() && (reason.back() == '\n' || reason.back() == '.' || reason.back() == ' ')) reason.pop_back();
  std::string hint;
  if (failure.type == duck::FailureType::Permission)
    hint = "files outside the project are reached only if `allow_paths:` in weir.yaml lists their folder";
  return {.code = code,
          .message = fmt::format("{}: {}", mask_secrets(doing), reason),
          .path = {},
          .span = {},
          .hint = std::move(hint)};
}

}  // namespace weir::lake
