// How results and problems reach a terminal, a file or another program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"

namespace weir {
struct Project;
}

namespace weir::cli {

/// Decides about colours: --color, NO_COLOR, terminal.
void apply_color(const Args& args, Streams& streams);

enum class Color { Plain, Good, Bad, Warning, Dim, Bold };
std::string paint(const Streams& streams, Color color, const std::string& text);

/// Prints diagnostics to `err`, each with its source line when the project has the file.
void print(const Diagnostics& diagnostics, const Project* project, Streams& streams);
/// Prints them and returns the exit code that they call for: 2 for an invalid project or misuse, 3 when interrupted, otherwise 1.
Exit refuse(const Diagnostics& diagnostics, const Project* project, Streams& streams);

/// A plain table: columns padded, the first row bold on terminals.
void print_table(const std::vector<std::vector<std::string>>& rows, Streams& streams);

/// 12408 -> "12,408".
std::string grouped(std::int64_t number);
/// Bytes as "1.2 MB".
std::string bytes_text(std::int64_t bytes);

}  // namespace weir::cli
