#include "base/diagnostic.h"

#include <algorithm>
#include <array>

namespace weir {
namespace {

struct Entry {
  std::string_view name;
  std::string_view title;
  std::string_view explanation;
};

constexpr auto kEntries = std::to_array<Entry>({
#define WEIR_CODE(id, title, explanation) {#id, title, explanation},
#include "base/codes.def"
#undef WEIR_CODE
});

const Entry& entry(Code code) { return kEntries[static_cast<std::size_t>(code)]; }

}  // namespace

std::string_view name_of(Code code) { return entry(code).name; }
std::string_view title_of(Code code) { return entry(code).title; }
std::string_view explanation_of(Code code) { return entry(code).explanation; }

const std::vector<Code>& all_codes() {
  static const std::vector<Code> codes = [] {
    std::vector<Code> all;
    for (std::size_t i = 0; i < kEntries.size(); ++i) all.push_back(static_cast<Code>(i));
    return all;
  }();
  return codes;
}

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "error";
    case Severity::Warning:
      return "warning";
    case Severity::Hint:
      return "hint";
  }
  return "error";
}

bool has_errors(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& found) { return found.severity == Severity::Error; });
}

}  // namespace weir
