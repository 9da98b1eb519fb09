#include <unistd.h>

#include <clocale>
#include <iostream>

#include "cli/command.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  weir::cli::Streams streams{.out = std::cout,
                             .err = std::cerr,
                             .out_is_terminal = ::isatty(STDOUT_FILENO) != 0,
                             .err_is_terminal = ::isatty(STDERR_FILENO) != 0};
  return static_cast<int>(weir::cli::run_command_line(argc, argv, streams));
}
