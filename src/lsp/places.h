// Where in the project a thing is made and where it is named: what "go to definition", references and rename share.
#pragma once

#include <string>
#include <vector>

#include "lsp/thing.h"

namespace weir::lsp {

struct FilePlace {
  /// Relative to the project.
  std::string path;
  Span span;
  friend auto operator<=>(const FilePlace& a, const FilePlace& b) {
    return std::tie(a.path, a.span.begin, a.span.end) <=> std::tie(b.path, b.span.begin, b.span.end);
  }
  friend bool operator==(const FilePlace&, const FilePlace&) = default;
};

/// Where it is made; empty for a source's tables and columns.
std::vector<FilePlace> definition_of(const Thing& thing, const Reading& reading, Encoding encoding);

/// One naming of a thing. `own` is what a rename replaces.
struct Naming {
  std::string path;
  Span span;
  Span own;
  bool is_sql = false;
  ThingKind kind = ThingKind::Asset;
};

/// Every naming in the files of the project, unit tests among them, by file and place. A table whose own name qualifies
/// columns is named there too; its aliases are names of their own.
std::vector<Naming> namings_of(const Thing& thing, const Reading& reading, const Session& session);

}  // namespace weir::lsp
