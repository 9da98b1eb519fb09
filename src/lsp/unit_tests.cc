#include "lsp/unit_tests.h"

#include <filesystem>

#include "io/files.h"

namespace weir::lsp {
namespace {

using text::same_word;

/// A key of a line: its indentation and place.
struct Key {
  std::size_t indent = 0;
  std::string name;
  Span span;
  /// Of the value on the same line.
  std::string value;
  Span value_span;
};

/// `name: value`, either of them in quotes or not; nothing for another line.
std::optional<Key> key_of_line(std::string_view text, std::uint32_t begin, std::uint32_t end) {
  const Piece line(text, {begin, end});
  Piece rest = line.trimmed();
  if (rest.empty() || rest.view().starts_with('#') || rest.view().starts_with('-')) return std::nullopt;
  Key key{.indent = rest.span().begin - begin};
  // A URI holds a colon, so the one that ends a key is followed by a blank or nothing.
  const std::string_view view = rest.view();
  std::size_t colon = view.find(':');
  while (colon != std::string_view::npos && colon + 1 < view.size() && !is_blank(view[colon + 1]))
    colon = view.find(':', colon + 1);
  if (colon == std::string_view::npos) return std::nullopt;
  const auto unquoted = [](Piece piece) {
    piece = piece.trimmed();
    const std::string_view inside = piece.view();
    const bool is_quoted =
        inside.size() > 1 && (inside.front() == '"' || inside.front() == '\'') && inside.back() == inside.front();
    return is_quoted ? piece.sub(1, inside.size() - 2) : piece;
  };
  const Piece name = unquoted(rest.sub(0, colon));
  const Piece value = unquoted(rest.sub(colon + 1));
  key.name = name.view();
  key.span = name.span();
  key.value = value.view();
  key.value_span = value.span();
  return key;
}

std::vector<Key> keys_of(std::string_view text) {
  std::vector<Key> keys;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (auto key = key_of_line(text, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)))
      keys.push_back(*std::move(key));
    begin = end + 1;
  }
  return keys;
}

bool names_asset(const std::string& name, const Asset& asset) {
  if (const auto uri = parse_asset(name); uri && name.find("://") != std::string::npos) return *uri == asset;
  return (same_word(name, asset.name) && same_word(asset.schema, "main")) ||
         same_word(name, asset.schema + "." + asset.name);
}

/// The last part of a name that ends with `last`.
Span own_part(Span span, const std::string& last) {
  return {span.end - static_cast<std::uint32_t>(std::min<std::size_t>(last.size(), span.size())), span.end};
}

void add_namings(const std::string& path, std::string_view text, const Model& model, const Asset& asset,
                 std::vector<Naming>& found) {
  const std::string last = model.path.substr(model.path.rfind('/') + 1);
  bool is_in_inputs = false;
  std::size_t below = 0;  // the indentation of the inputs' names; 0 until the first is seen
  for (const Key& key : keys_of(text)) {
    if (key.indent == 0) {
      is_in_inputs = key.name == "inputs";
      below = 0;
      if (key.name == "model" && (key.value == model.path || key.value == last))
        found.push_back({path, key.value_span, own_part(key.value_span, last), false, ThingKind::Model});
      continue;
    }
    if (!is_in_inputs) continue;
    if (below == 0) below = key.indent;
    if (key.indent == below && names_asset(key.name, asset))
      found.push_back({path, key.span, own_part(key.span, asset.name), false, ThingKind::Asset});
  }
}

}  // namespace

std::string text_of_file(const Session& session, const std::string& path) {
  const std::string absolute = session.root + "/" + path;
  if (const Document* open = session.documents.find_path(absolute)) return open->text;
  if (const Source* source = session.snapshot->project.source(path)) return source->text;
  auto bytes = io::read_file(absolute);
  return bytes.has_value() ? std::move(*bytes) : std::string();
}

std::vector<Naming> unit_test_namings(const Session& session, const Model& model, const Asset& asset) {
  std::vector<Naming> found;
  for (const std::string& root : session.snapshot->project.config.tests) {
    const auto names = io::list_files(session.root + "/" + root);
    if (!names.has_value()) continue;
    for (const std::string& name : *names) {
      if (!name.ends_with(".yaml") && !name.ends_with(".yml")) continue;
      const std::string path = (std::filesystem::path(root) / name).lexically_normal().string();
      add_namings(path, text_of_file(session, path), model, asset, found);
    }
  }
  return found;
}

}  // namespace weir::lsp
