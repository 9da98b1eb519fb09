// The files that an editor holds open: their text is the editor's, whatever the disk says.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lsp/positions.h"

namespace weir::lsp {

struct Document {
  /// As the editor spells it; answers about the file use the same spelling.
  std::string uri;
  /// Absolute; empty for a text without a file (`untitled:`).
  std::string path;
  std::int64_t version = 0;
  std::string text;
};

/// One edit of a document: a range and what takes its place, or a whole new text.
struct Change {
  std::optional<Range> range;
  std::string text;
};

class Documents {
 public:
  void open(Document document);
  /// Applies edits in order. False if no such document is open.
  bool change(const std::string& uri, std::int64_t version, const std::vector<Change>& changes, Encoding encoding);
  bool close(const std::string& uri);

  /// Null if it is not open.
  const Document* find(const std::string& uri) const;
  const Document* find_path(std::string_view path) const;
  const std::map<std::string, Document>& all() const { return by_uri_; }

 private:
  std::map<std::string, Document> by_uri_;
};

/// The absolute path of a `file:` URI, percent signs undone, dots resolved; nothing for another scheme.
std::optional<std::string> path_of_uri(std::string_view uri);
std::string uri_of_path(std::string_view path);
/// `path` relative to the folder `root`, with `/`; nothing if it lies outside.
std::optional<std::string> below(std::string_view root, std::string_view path);

}  // namespace weir::lsp
