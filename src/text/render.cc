#include "text/render.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "text/line_index.h"

namespace weir::text {
namespace {

// Longer source lines are cut to a window around the place.
constexpr std::size_t kWidth = 140;
constexpr std::size_t kBefore = 60;
constexpr std::string_view kMargin = "  ";

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Files of many diagnostics are indexed once.
class Indexed {
 public:
  explicit Indexed(const SourceText& sources) : sources_(sources) {}

  struct File {
    std::string_view text;
    LineIndex index;
  };
  const File* file(const std::string& path) {
    if (path.empty() || !sources_) return nullptr;
    const auto known = files_.find(path);
    if (known != files_.end()) return known->second ? &*known->second : nullptr;
    const auto text = sources_(path);
    auto& made = files_[path];
    if (text) made.emplace(File{*text, LineIndex(*text)});
    return made ? &*made : nullptr;
  }

 private:
  const SourceText& sources_;
  std::map<std::string, std::optional<File>> files_;
};

/// The source line and a mark under the bytes of `span` that lie in it.
void show_line(std::string& out, const Indexed::File& file, Span span) {
  const auto position = file.index.position(span.begin);
  const auto line = file.index.line(position.line);
  std::size_t begin = line.begin;
  std::size_t end = line.end;
  const std::size_t at = std::min<std::size_t>(std::max(span.begin, line.begin), line.end);
  if (end - begin > kWidth) {
    if (at - begin > kBefore) begin = at - kBefore;
    end = std::min<std::size_t>(end, begin + kWidth);
    while (begin < at && continues(file.text[begin])) ++begin;
    while (end > at && end < line.end && continues(file.text[end])) --end;
  }
  const std::size_t until = std::min<std::size_t>(std::max<std::size_t>(span.end, at), end);
  out += kMargin;
  out += file.text.substr(begin, end - begin);
  out += '\n';
  out += kMargin;
  for (std::size_t i = begin; i < at; ++i)
    if (!continues(file.text[i])) out += file.text[i] == '\t' ? '\t' : ' ';
  std::size_t marks = 0;
  for (std::size_t i = at; i < until; ++i) marks += continues(file.text[i]) ? 0 : 1;
  out.append(std::max<std::size_t>(marks, 1), '^');
  out += '\n';
}

}  // namespace

void sort_diagnostics(Diagnostics& diagnostics) {
  const auto order = [](const Diagnostic& d) { return std::tie(d.path, d.span.begin, d.span.end, d.code, d.message); };
  std::stable_sort(diagnostics.begin(), diagnostics.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return order(a) < order(b); });
  const auto same = [&](const Diagnostic& a, const Diagnostic& b) {
    return order(a) == order(b) && a.severity == b.severity && a.hint == b.hint;
  };
  diagnostics.erase(std::unique(diagnostics.begin(), diagnostics.end(), same), diagnostics.end());
}

std::string render_text(const Diagnostics& diagnostics, const SourceText& sources) {
  Indexed files(sources);
  std::string out;
  for (const auto& found : diagnostics) {
    const auto* file = found.span.empty() ? nullptr : files.file(found.path);
    if (!found.path.empty()) {
      out += found.path;
      if (file != nullptr) {
        const auto position = file->index.position(found.span.begin);
        out += ':' + std::to_string(position.line) + ':' + std::to_string(position.column);
      }
      out += ": ";
    }
    out += std::string(name_of(found.severity)) + ' ' + std::string(name_of(found.code)) + ": " + found.message + '\n';
    if (file != nullptr) show_line(out, *file, found.span);
    if (!found.hint.empty()) out += std::string(kMargin) + "hint: " + found.hint + '\n';
  }
  return out;
}

nlohmann::json render_json(const Diagnostics& diagnostics, const SourceText& sources) {
  Indexed files(sources);
  auto list = nlohmann::json::array();
  for (const auto& found : diagnostics) {
    nlohmann::json one = {
        {"code", name_of(found.code)}, {"severity", name_of(found.severity)}, {"message", found.message}};
    if (!found.path.empty()) one["path"] = found.path;
    if (!found.hint.empty()) one["hint"] = found.hint;
    if (const auto* file = found.span.empty() ? nullptr : files.file(found.path)) {
      const auto begin = file->index.position(found.span.begin);
      const auto end = file->index.position(found.span.end);
      one["line"] = begin.line;
      one["column"] = begin.column;
      one["end_line"] = end.line;
      one["end_column"] = end.column;
    }
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace weir::text
