// Runs another program: its input from memory, its output into memory.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::io {

struct Finished {
  /// Exit code; 128 and the signal's number if one ended it.
  int code = 0;
  std::string out;
  std::string err;
};

/// The path of a program by its name on PATH; nothing if it is not there.
std::optional<std::string> find_program(std::string_view name);

/// Runs `command` (its first word a path) and waits for its end. Nothing if it cannot be started.
std::optional<Finished> run_program(const std::vector<std::string>& command, std::string_view input);

}  // namespace weir::io
