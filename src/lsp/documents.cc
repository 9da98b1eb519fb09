#include "lsp/documents.h"

#include <filesystem>

#include "text/lexer.h"

namespace weir::lsp {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape =
        text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0;
    if (!is_escape) {
      decoded += text[i];
      continue;
    }
    decoded += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
    i += 2;
  }
  return decoded;
}

}  // namespace

void Documents::open(Document document) { by_uri_[document.uri] = std::move(document); }

bool Documents::change(const std::string& uri, std::int64_t version, const std::vector<Change>& changes,
                       Encoding encoding) {
  const auto found = by_uri_.find(uri);
  if (found == by_uri_.end()) return false;
  Document& document = found->second;
  document.version = version;
  for (const Change& change : changes) {
    if (!change.range) {
      document.text = change.text;
      continue;
    }
    const Positions positions(document.text, encoding);
    const std::uint32_t begin = positions.offset(change.range->start);
    const std::uint32_t end = std::max(begin, positions.offset(change.range->end));
    document.text.replace(begin, end - begin, change.text);
  }
  return true;
}

bool Documents::close(const std::string& uri) { return by_uri_.erase(uri) > 0; }

const Document* Documents::find(const std::string& uri) const {
  const auto found = by_uri_.find(uri);
  return found == by_uri_.end() ? nullptr : &found->second;
}

const Document* Documents::find_path(std::string_view path) const {
  for (const auto& [uri, document] : by_uri_)
    if (document.path == path) return &document;
  return nullptr;
}

std::optional<std::string> path_of_uri(std::string_view uri) {
  constexpr std::string_view kScheme = "file://";
  if (!text::same_word(uri.substr(0, kScheme.size()), kScheme)) return std::nullopt;
  uri.remove_prefix(kScheme.size());
  const auto slash = uri.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  return std::filesystem::path(percent_decoded(uri.substr(slash))).lexically_normal().string();
}

std::string uri_of_path(std::string_view path) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string uri = "file://";
  for (const char c : path) {
    if (kPlain.find(c) != std::string_view::npos) {
      uri += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    uri += '%';
    uri += kDigits[byte >> 4U];
    uri += kDigits[byte & 15U];
  }
  return uri;
}

std::optional<std::string> below(std::string_view root, std::string_view path) {
  if (!path.starts_with(root)) return std::nullopt;
  path.remove_prefix(root.size());
  if (root.ends_with('/')) return std::string(path);
  if (!path.starts_with('/')) return std::nullopt;
  return std::string(path.substr(1));
}

}  // namespace weir::lsp
