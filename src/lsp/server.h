// The language server: one thread that reads messages, keeps the documents and answers; a second one (analysis.h)
// understands the project. An edit starts a short wait, so that a burst of keystrokes is understood once.
#pragma once

#include <string>

namespace weir::lsp {

struct ServerOptions {
  int input = 0;
  int output = 1;
  /// Where a project is looked for if the editor names none.
  std::string folder;
  std::string version;
  /// How long no edit must come before the project is looked at. Units: milliseconds.
  int quiet_ms = 150;
};

/// Serves until `exit` or the end of the input. Returns the exit code that the protocol asks for: 0 after `shutdown`,
/// otherwise 1.
int serve(const ServerOptions& options);

}  // namespace weir::lsp
