#include <unistd.h>

#include <clocale>
#include <iostream>

#include "cli/command.h"
#include "lsp/server.h"
#include "ops/list.h"

namespace {

int serve_editor(const std::string& folder) {
  return weir::lsp::serve({.folder = folder, .version = weir::ops::version()});
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  weir::cli::Streams streams{.out = std::cout,
                             .err = std::cerr,
                             .out_is_terminal = ::isatty(STDOUT_FILENO) != 0,
                             .err_is_terminal = ::isatty(STDERR_FILENO) != 0,
                             .serve_editor = serve_editor};
  return static_cast<int>(weir::cli::run_command_line(argc, argv, streams));
}
