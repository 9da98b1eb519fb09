#include "lsp/json.h"

namespace weir::lsp {
namespace {

int severity_of(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return 1;
    case Severity::Warning:
      return 2;
    case Severity::Hint:
      return 4;
  }
  return 1;
}

/// The place of a diagnostic about a whole file: its first line.
Range first_line(const Positions& positions) {
  const auto end = positions.text().find_first_of("\r\n");
  return positions.range(
      {0, static_cast<std::uint32_t>(end == std::string_view::npos ? positions.text().size() : end)});
}

}  // namespace

Json json_of(const Diagnostic& found, const Positions& positions) {
  const std::string message = found.hint.empty() ? found.message : found.message + "\nhint: " + found.hint;
  return {{"range", json_of(found.span.empty() ? first_line(positions) : positions.range(found.span))},
          {"severity", severity_of(found.severity)},
          {"code", name_of(found.code)},
          {"source", "weir"},
          {"message", message}};
}

Json text_edit(const Range& range, const std::string& text) { return {{"range", json_of(range)}, {"newText", text}}; }

Json location(const std::string& uri, const Range& range) { return {{"uri", uri}, {"range", json_of(range)}}; }

Json markdown(const std::string& text) { return {{"kind", "markdown"}, {"value", text}}; }

}  // namespace weir::lsp
