// A command is a value in an explicit table: its name, its options as data, its examples, and a function from arguments
// to an exit code. Help, parsing, shell completion and documentation are all made from the same table.
#pragma once

#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

namespace weir::cli {

/// Exit codes of every command.
enum class Exit { Done = 0, Failed = 1, Misuse = 2, Interrupted = 3, Internal = 4 };

/// Where a command writes. Results go to `out`, messages to `err`; both are injected so that tests can read them.
struct Streams {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool color = false;
  /// Serves an editor on standard input and output until it is done, and returns the exit code; `folder` is where a
  /// project is looked for if the editor names none. Given by main: no surface includes another.
  int (*serve_editor)(const std::string& folder) = nullptr;
  /// Where the project is looked for; set once the command line is read.
  std::string folder = ".";
  /// Under `--json`: takes what a command was refused for, as the text of a JSON array.
  std::string* refused = nullptr;
};

enum class Kind { Flag, Text, Number, List };

struct Option {
  /// "-s,--select", or "model" for a positional.
  const char* names;
  Kind kind;
  const char* help;
  /// What completes it: "", "model", "file", "folder", or fixed words "a|b|c".
  const char* completes = "";
};

/// What the user typed, by long name without dashes (positionals by their name).
class Args {
 public:
  bool flag(const std::string& name) const { return flags.contains(name); }
  std::optional<std::string> text(const std::string& name) const {
    const auto found = lists.find(name);
    if (found == lists.end() || found->second.empty()) return std::nullopt;
    return found->second.back();
  }
  std::string text(const std::string& name, const std::string& otherwise) const {
    return text(name).value_or(otherwise);
  }
  std::vector<std::string> list(const std::string& name) const {
    const auto found = lists.find(name);
    return found == lists.end() ? std::vector<std::string>{} : found->second;
  }

  std::set<std::string> flags;
  std::map<std::string, std::vector<std::string>> lists;
  /// The whole command line, for the run's record.
  std::string line;
};

struct Command {
  /// "run", or "state rebuild" for a nested one.
  const char* name;
  const char* summary;
  /// Lines of examples, shown by --help.
  const char* examples;
  std::vector<Option> options;
  Exit (*run)(const Args& args, Streams& streams);
};

/// All commands, in the order of --help.
const std::vector<Command>& commands();
/// Options that every command takes (--json, --env, -C, -q, -v, --color).
const std::vector<Option>& common_options();
/// The long name of an option, without dashes: its key in Args.
std::string key_of(const Option& option);

/// Parses and runs one command line. `argv` as main receives it.
Exit run_command_line(int argc, const char* const* argv, Streams& streams);

}  // namespace weir::cli
