// `weir lsp`: the door to the language server.
#include "cli/commands.h"

namespace weir::cli {

Exit lsp_command(const Args& args, Streams& streams) {
  if (streams.serve_editor == nullptr) return Exit::Internal;
  return static_cast<Exit>(streams.serve_editor(args.text("directory", ".")));
}

}  // namespace weir::cli
