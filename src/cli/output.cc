#include "cli/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "io/files.h"
#include "project/project.h"
#include "text/render.h"

namespace weir::cli {
namespace {

/// What operations call the text of a query.
constexpr std::string_view kTypedPath = "query";
constexpr std::string_view kConfigFile = "weir.yaml";

/// Columns that a character takes on a terminal: none for marks that combine, two for wide scripts and pictures. The
/// ranges are coarse.
std::size_t width_of(char32_t character) {
  struct Range {
    char32_t first;
    char32_t last;
  };
  static constexpr Range kMarks[] = {{0x300, 0x36F}, {0x200B, 0x200F}, {0xFE00, 0xFE0F}};
  static constexpr Range kWide[] = {{0x1100, 0x115F}, {0x2E80, 0xA4CF}, {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
                                    {0xFE30, 0xFE6F}, {0xFF00, 0xFF60}, {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}};
  const auto within = [character](const Range& range) { return character >= range.first && character <= range.last; };
  if (std::any_of(std::begin(kMarks), std::end(kMarks), within)) return 0;
  return std::any_of(std::begin(kWide), std::end(kWide), within) ? 2 : 1;
}

std::size_t width_of(const std::string& text) {
  std::size_t width = 0;
  char32_t character = 0;
  const auto add = [&] {
    if (character != 0) width += width_of(character);
  };
  for (const char raw : text) {
    const auto byte = static_cast<unsigned char>(raw);
    if ((byte & 0xC0U) == 0x80U) {
      character = (character << 6U) | (byte & 0x3FU);
      continue;
    }
    add();
    character = byte < 0x80U ? byte : byte < 0xE0U ? byte & 0x1FU : byte < 0xF0U ? byte & 0x0FU : byte & 0x07U;
  }
  add();
  return width;
}

std::string printable(const std::string& text) {
  std::string shown;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      shown += "\\n";
    else if (c == '\t')
      shown += "\\t";
    else if (byte < 0x20 || byte == 0x7F)
      shown += fmt::format("\\x{:02x}", byte);
    else
      shown += c;
  }
  return shown;
}

bool looks_like_a_number(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || c == ',' || c == '.' || c == '-'; }) &&
         text.find('-', 1) == std::string::npos && text != "-";
}

std::vector<bool> number_columns(const std::vector<std::vector<std::string>>& rows, std::size_t columns) {
  std::vector<bool> numeric(columns, false);
  for (std::size_t i = 0; i < columns; ++i) {
    for (std::size_t row = 1; row < rows.size(); ++row) {
      if (i >= rows[row].size() || rows[row][i].empty()) continue;
      numeric[i] = looks_like_a_number(rows[row][i]);
      if (!numeric[i]) break;
    }
  }
  return numeric;
}

/// weir.yaml as it lies on disk: a project whose configuration cannot be read was never loaded.
std::optional<std::string> config_text(const Diagnostics& diagnostics, const Streams& streams) {
  const bool is_meant = std::any_of(diagnostics.begin(), diagnostics.end(),
                                    [](const Diagnostic& found) { return found.path == kConfigFile; });
  if (!is_meant) return std::nullopt;
  const auto root = find_project(streams.folder);
  if (!root) return std::nullopt;
  auto text = io::read_file(*root + "/" + std::string(kConfigFile));
  return text ? std::optional<std::string>(std::move(*text)) : std::nullopt;
}

}  // namespace

void apply_color(const Args& args, Streams& streams) {
  const std::string wish = args.text("color", "auto");
  const char* no_color = std::getenv("NO_COLOR");
  const bool refused = no_color != nullptr && *no_color != '\0';
  streams.color =
      wish == "always" || (wish == "auto" && !refused && streams.out_is_terminal && streams.err_is_terminal);
}

std::string paint(const Streams& streams, Color color, const std::string& text) {
  if (!streams.color) return text;
  const char* code = "";
  switch (color) {
    case Color::Plain:
      return text;
    case Color::Good:
      code = "32";
      break;
    case Color::Bad:
      code = "31";
      break;
    case Color::Warning:
      code = "33";
      break;
    case Color::Dim:
      code = "2";
      break;
    case Color::Bold:
      code = "1";
      break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

void print(const Diagnostics& diagnostics, const Project* project, Streams& streams, std::string_view typed) {
  const std::optional<std::string> config = config_text(diagnostics, streams);
  const auto source = [&](std::string_view path) -> std::optional<std::string_view> {
    if (!typed.empty() && path == kTypedPath) return typed;
    if (const Source* found = project == nullptr ? nullptr : project->source(path); found != nullptr)
      return found->text;
    if (path == kConfigFile) return config;
    return std::nullopt;
  };
  Diagnostics placed;
  for (const Diagnostic& found : diagnostics) {
    if (!found.path.empty()) {
      placed.push_back(found);
      continue;
    }
    streams.err << paint(streams, found.severity == Severity::Error ? Color::Bad : Color::Warning,
                         std::string(name_of(found.severity)))
                << ": " << found.message << " (" << name_of(found.code) << ")\n";
    if (!found.hint.empty()) streams.err << "hint: " << found.hint << "\n";
  }
  if (!placed.empty()) streams.err << text::render_text(placed, source);
}

Exit refuse(const Diagnostics& diagnostics, const Project* project, Streams& streams, std::string_view typed) {
  print(diagnostics, project, streams, typed);
  if (streams.refused != nullptr) {
    const auto source = [project](std::string_view path) -> std::optional<std::string_view> {
      const Source* found = project == nullptr ? nullptr : project->source(path);
      return found == nullptr ? std::nullopt : std::optional<std::string_view>(found->text);
    };
    *streams.refused =
        text::render_json(diagnostics, source).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  return exit_for(diagnostics);
}

Exit exit_for(const Diagnostics& diagnostics) {
  Exit exit = Exit::Failed;
  for (const Diagnostic& found : diagnostics) {
    const std::string_view code = name_of(found.code);
    if (found.code == Code::W7010) return Exit::Interrupted;
    // W00 configuration … W03 references, W20 graph and selection, W22 metrics, W80 command line, names of
    // environments: the project or the command is not valid.
    if (code.starts_with("W00") || code.starts_with("W01") || code.starts_with("W02") || code.starts_with("W03") ||
        code.starts_with("W20") || code.starts_with("W21") || code.starts_with("W22") || code.starts_with("W80") ||
        code == "W6011" || code == "W6606" || code.starts_with("W663") || code == "W5401" || code == "W5402" ||
        code == "W5403" || code == "W5426" || code == "W5427")
      exit = Exit::Misuse;
  }
  return exit;
}

void print_table(const std::vector<std::vector<std::string>>& rows, Streams& streams,
                 const std::vector<bool>* numeric) {
  std::vector<std::vector<std::string>> cells = rows;
  std::vector<std::size_t> widths;
  for (auto& row : cells) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = printable(row[i]);
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  }
  const std::vector<bool> right = numeric != nullptr ? *numeric : number_columns(rows, widths.size());
  for (const auto& row : cells) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - width_of(row[i]), ' ');
      line += (i == 0 ? "" : "  ") + (right[i] ? padding + row[i] : row[i] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    streams.out << (&row == &cells.front() ? paint(streams, Color::Bold, line) : line) << "\n";
  }
}

std::string cut_to(const std::string& text, std::size_t columns) {
  if (width_of(text) <= columns || columns == 0) return text;
  std::string cut = text;
  while (!cut.empty() && width_of(cut) + 1 > columns) {
    while ((static_cast<unsigned char>(cut.back()) & 0xC0U) == 0x80U) cut.pop_back();
    cut.pop_back();
  }
  return cut + "…";
}

std::string quoted_word(const std::string& word) {
  const bool is_plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("_-./:=,@%+").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (is_plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number < 0 ? -number : number);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return number < 0 ? "-" + text : text;
}

std::string counted(std::int64_t number, const std::string& what) {
  return grouped(number) + " " + what + (number == 1 ? "" : "s");
}

std::string short_time(const std::string& time) {
  if (time.size() < 20 || time[10] != 'T' || time.back() != 'Z') return time;
  return time.substr(0, 10) + " " + time.substr(11, 8) + "Z";
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
