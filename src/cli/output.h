// How results and problems reach a terminal, a file or another program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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
void print(const Diagnostics& diagnostics, const Project* project, Streams& streams, std::string_view typed = {});
/// Prints them and returns the exit code that they call for. `typed` is the text of the command line that diagnostics
/// without a file are placed in.
Exit refuse(const Diagnostics& diagnostics, const Project* project, Streams& streams, std::string_view typed = {});

/// 2 for an invalid project or misuse, 3 when interrupted, otherwise 1.
Exit exit_for(const Diagnostics& diagnostics);

/// A plain table: columns padded, the first row bold on terminals, no blanks at the end of lines. Control characters in
/// cells are shown escaped, so that no value can move the cursor. Numbers stand at the right: in the columns that
/// `numeric` marks, or without it in those whose cells all look like numbers.
void print_table(const std::vector<std::vector<std::string>>& rows, Streams& streams,
                 const std::vector<bool>* numeric = nullptr);

/// The beginning of a text that fits into so many columns of a terminal, with `…` in place of what was cut.
std::string cut_to(const std::string& text, std::size_t columns);

/// A word as a shell takes it back: quoted where it holds more than letters, digits and `_-./:=,@%+`.
std::string quoted_word(const std::string& word);

/// 12408 -> "12,408".
std::string grouped(std::int64_t number);
/// 1 -> "1 row", 12408 -> "12,408 rows".
std::string counted(std::int64_t number, const std::string& what);
/// "2026-07-05T08:00:01.5Z" -> "2026-07-05 08:00:01Z"; other texts as they are.
std::string short_time(const std::string& time);
/// Bytes as "1.2 MB".
std::string bytes_text(std::int64_t bytes);

}  // namespace weir::cli
