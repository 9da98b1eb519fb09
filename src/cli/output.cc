#include "cli/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "project/project.h"
#include "text/render.h"

namespace weir::cli {
namespace {

/// Columns a text takes on a terminal: code points, which is right for all that weir itself prints.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

void apply_color(const Args& args, Streams& streams) {
  const std::string wish = args.text("color", "auto");
  const char* no_color = std::getenv("NO_COLOR");
  const bool refused = no_color != nullptr && *no_color != '\0';
  streams.color = wish == "always" || (wish == "auto" && !refused && streams.out_is_terminal && streams.err_is_terminal);
}

std::string paint(const Streams& streams, Color color, const std::string& text) {
  if (!streams.color) return text;
  const char* code = "";
  switch (color) {
    case Color::Plain: return text;
    case Color::Good: code = "32"; break;
    case Color::Bad: code = "31"; break;
    case Color::Warning: code = "33"; break;
    case Color::Dim: code = "2"; break;
    case Color::Bold: code = "1"; break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

void print(const Diagnostics& diagnostics, const Project* project, Streams& streams) {
  const auto source = [project](std::string_view path) -> std::optional<std::string_view> {
    const Source* found = project == nullptr ? nullptr : project->source(path);
    if (found == nullptr) return std::nullopt;
    return found->text;
  };
  Diagnostics placed;
  for (const Diagnostic& found : diagnostics) {
    if (!found.path.empty()) {
      placed.push_back(found);
      continue;
    }
    streams.err << paint(streams, found.severity == Severity::Error ? Color::Bad : Color::Warning, std::string(name_of(found.severity)))
                << ": " << found.message << " (" << name_of(found.code) << ")\n";
    if (!found.hint.empty()) streams.err << "hint: " << found.hint << "\n";
  }
  if (!placed.empty()) streams.err << text::render_text(placed, source);
}

Exit refuse(const Diagnostics& diagnostics, const Project* project, Streams& streams) {
  print(diagnostics, project, streams);
  Exit exit = Exit::Failed;
  for (const Diagnostic& found : diagnostics) {
    const std::string_view code = name_of(found.code);
    if (found.code == Code::W7010) return Exit::Interrupted;
    // W00 configuration … W03 references, W20 graph and selection, W80 command line: the project or the command is not valid.
    if (code.starts_with("W00") || code.starts_with("W01") || code.starts_with("W02") || code.starts_with("W03") ||
        code.starts_with("W20") || code.starts_with("W80"))
      exit = Exit::Misuse;
  }
  return exit;
}

void print_table(const std::vector<std::vector<std::string>>& rows, Streams& streams) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line += std::string(widths[i] - width_of(row[i]) + 2, ' ');
    }
    streams.out << (&row == &rows.front() ? paint(streams, Color::Bold, line) : line) << "\n";
  }
}

std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number < 0 ? -number : number);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) text.insert(static_cast<std::size_t>(at), ",");
  return number < 0 ? "-" + text : text;
}

std::string bytes_text(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace weir::cli
