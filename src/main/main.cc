#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <iostream>

#include "cli/command.h"
#include "lsp/server.h"
#include "ops/list.h"

namespace {

int serve_editor(const std::string& folder) {
  return weir::lsp::serve({.folder = folder, .version = weir::ops::version()});
}

/// Whoever starts weir with a closed stream must not find our messages in the next file that we open: it would get the
/// stream's number. Opened for reading, so that results which nobody can get are an error.
void fill_closed_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream)
    if (::fcntl(stream, F_GETFD) == -1 && errno == EBADF && ::open("/dev/null", O_RDONLY) < 0) return;
}

/// Commands that have nothing to put in order leave at once, with the code that says so; a run has a handler of its
/// own.
void leave(int) { ::_exit(static_cast<int>(weir::cli::Exit::Interrupted)); }

/// Results that were cut off must not look like results: a full disk, or a reader that left.
weir::cli::Exit deliver(weir::cli::Exit exit) {
  errno = 0;
  std::cout.flush();
  if (std::cout) return exit;
  std::cerr << "error: the results could not be written" << (errno == 0 ? "" : ": ")
            << (errno == 0 ? "" : std::strerror(errno)) << "\n";
  return exit == weir::cli::Exit::Done ? weir::cli::Exit::Failed : exit;
}

}  // namespace

int main(int argc, char** argv) {
  fill_closed_streams();
  for (const int asked : {SIGINT, SIGTERM}) (void)std::signal(asked, leave);
  std::ios::sync_with_stdio(false);
  weir::cli::Streams streams{.out = std::cout,
                             .err = std::cerr,
                             .out_is_terminal = ::isatty(STDOUT_FILENO) != 0,
                             .err_is_terminal = ::isatty(STDERR_FILENO) != 0,
                             .serve_editor = serve_editor};
  try {
    return static_cast<int>(deliver(weir::cli::run_command_line(argc, argv, streams)));
  } catch (const std::exception& error) {
    std::cerr << "error: internal error: " << error.what() << "\nhint: this is a fault of weir; please report it\n";
    return static_cast<int>(weir::cli::Exit::Internal);
  }
}
