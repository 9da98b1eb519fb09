// What one editor's connection knows: its files, what it can do, and the project as last understood.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "lsp/documents.h"
#include "lsp/snapshot.h"

namespace weir::lsp {

struct Session {
  Encoding encoding = Encoding::Utf16;
  /// The editor can rename files as part of an edit.
  bool renames_files = false;
  /// Absolute folder of the project; empty until one is found.
  std::string root;
  Documents documents;
  /// Null until the project was first understood.
  std::shared_ptr<const Snapshot> snapshot;

  /// The path of an open document below the project's folder; empty if it lies elsewhere.
  std::string path_of(const Document& document) const {
    if (root.empty() || document.path.empty()) return {};
    return below(root, document.path).value_or("");
  }
  /// How the editor spells a file of the project.
  std::string uri_of(const std::string& path) const {
    const std::string absolute = root + "/" + path;
    const Document* open = documents.find_path(absolute);
    return open != nullptr ? open->uri : uri_of_path(absolute);
  }
};

/// Why a request has no answer.
struct Refusal {
  int code = 0;
  std::string message;
};
inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;
inline constexpr int kNotInitialized = -32002;
inline constexpr int kRequestFailed = -32803;
inline constexpr int kContentModified = -32801;
inline constexpr int kRequestCancelled = -32800;

}  // namespace weir::lsp
