// The command line: parsed by CLI11 from the table of commands.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/command.h"
#include "cli/output.h"
#include "text/suggest.h"

namespace weir::cli {
namespace {

struct Bound {
  CLI::App* app = nullptr;
  const Command* command = nullptr;
  std::map<std::string, bool> flags;
  std::map<std::string, std::vector<std::string>> lists;
};

std::string whole_number(const std::string& text) {
  const bool is_number = !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? std::string() : "takes a whole number, not " + text;
}

void declare(Bound& bound, const Option& option) {
  const std::string key = key_of(option);
  switch (option.kind) {
    case Kind::Flag:
      bound.app->add_flag(option.names, bound.flags[key], option.help);
      return;
    case Kind::Text:
    case Kind::Number: {
      auto* added = bound.app->add_option(option.names, bound.lists[key], option.help)->expected(1);
      // Held in a list, an option would else take the positional arguments behind it for more of its values.
      if (std::string(option.names).starts_with('-')) added->allow_extra_args(false);
      if (option.kind == Kind::Number) added->type_name("NUMBER")->check(whole_number);
      return;
    }
    case Kind::List: {
      auto* added = bound.app->add_option(option.names, bound.lists[key], option.help);
      if (std::string(option.names).starts_with('-')) added->allow_extra_args(false);
      return;
    }
  }
}

/// The app of a command's name, made with the groups on its way ("state rebuild").
CLI::App* app_of(CLI::App& root, const Command& command) {
  std::string name = command.name;
  CLI::App* parent = &root;
  if (const auto space = name.find(' '); space != std::string::npos) {
    const std::string group = name.substr(0, space);
    name = name.substr(space + 1);
    const auto known = root.get_subcommands([&group](CLI::App* app) { return app->get_name() == group; });
    parent = known.empty() ? nullptr : known.front();
    if (parent == nullptr) {
      parent = root.add_subcommand(group, group + ":");
      parent->require_subcommand(1);
      parent->set_help_flag("-h,--help", "Show this help");
    }
    // What a group is about is told best by what it holds.
    parent->description(parent->get_description() + " " + name);
  }
  return parent->add_subcommand(name, command.summary);
}

Args arguments_of(const Bound& bound, int argc, const char* const* argv) {
  Args args;
  for (const auto& [name, given] : bound.flags)
    if (given) args.flags.insert(name);
  for (const auto& [name, values] : bound.lists)
    if (!values.empty()) args.lists.emplace(name, values);
  args.line = "weir";
  for (int i = 1; i < argc; ++i) args.line += std::string(" ") + argv[i];
  return args;
}

/// "--select", "-s" of "-s,--select"; nothing for a positional.
std::vector<std::string> spellings(const Option& option) {
  std::vector<std::string> found;
  if (option.names[0] != '-') return found;
  std::istringstream names(option.names);
  for (std::string name; std::getline(names, name, ',');) found.push_back(name);
  return found;
}

const Option* option_spelled(const std::vector<Option>& options, const std::string& word) {
  const std::string name = word.substr(0, word.starts_with("--") ? word.find('=') : std::string::npos);
  for (const Option& option : options)
    for (const std::string& spelling : spellings(option))
      if (spelling == name) return &option;
  return nullptr;
}

/// The command that the words begin with, and how many words it takes.
std::pair<const Command*, std::size_t> command_of(const std::vector<std::string>& words) {
  for (const Command& command : commands()) {
    const std::string name = command.name;
    const auto space = name.find(' ');
    if (space == std::string::npos && !words.empty() && words[0] == name) return {&command, 1};
    if (space != std::string::npos && words.size() > 1 && words[0] + " " + words[1] == name) return {&command, 2};
  }
  return {nullptr, 0};
}

/// Options of every command may also stand before it (`weir -C shop run`): they are put behind it.
std::vector<std::string> in_order(std::vector<std::string> words) {
  std::size_t leading = 0;
  while (leading < words.size()) {
    const Option* option = option_spelled(common_options(), words[leading]);
    if (option == nullptr) break;
    leading += option->kind == Kind::Flag || words[leading].find('=') != std::string::npos ? 1 : 2;
  }
  if (leading == 0 || leading >= words.size()) return words;
  const auto middle = words.begin() + static_cast<std::ptrdiff_t>(leading);
  const std::size_t taken = command_of({middle, words.end()}).second;
  if (taken > 0) std::rotate(words.begin(), middle, middle + static_cast<std::ptrdiff_t>(taken));
  return words;
}

/// `weir help run` is `weir run --help`.
std::vector<std::string> without_help(std::vector<std::string> words) {
  if (words.empty() || words[0] != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

/// The commands of a group, "state rebuild", a line each; nothing for what is no group.
std::string commands_of(const std::string& group) {
  std::size_t width = 0;
  for (const Command& command : commands()) width = std::max(width, std::string_view(command.name).size());
  std::string lines;
  for (const Command& command : commands()) {
    const std::string name = command.name;
    if (name.starts_with(group + " "))
      lines += "  weir " + name + std::string(width - name.size() + 2, ' ') + command.summary + "\n";
  }
  return lines;
}

/// A group's name alone, or with a word behind it that none of its commands has.
Exit misuse_of_group(const std::vector<std::string>& words, const std::string& list, Streams& streams) {
  const bool has_word = words.size() > 1 && !words[1].starts_with('-');
  const std::string wrong = words[0] + (has_word ? " " + words[1] : std::string());
  streams.err << "error: " << (has_word ? "there is no command " + wrong : words[0] + " takes one of these words")
              << "\n"
              << list;
  std::vector<std::string> known;
  for (const Command& command : commands()) known.emplace_back(command.name);
  if (const auto near = text::nearest(wrong, known); has_word && near)
    streams.err << "hint: did you mean `" << *near << "`?\n";
  return Exit::Misuse;
}

/// What is wrong with a line that the parser refused, where that is a slip in a name; otherwise the parser's own words.
Exit misuse(const std::vector<std::string>& words, const std::string& what, Streams& streams) {
  const Command* command = command_of(words).first;
  std::vector<std::string> known;
  std::string message = what;
  std::string wrong;
  if (command == nullptr && !words.empty()) {
    if (const std::string list = commands_of(words[0]); !list.empty()) return misuse_of_group(words, list, streams);
  }
  if (command == nullptr && !words.empty() && !words[0].starts_with('-')) {
    wrong = words[0];
    message = "there is no command " + wrong;
    for (const Command& one : commands()) known.emplace_back(one.name);
  }
  for (const std::string& word : words) {
    if (command == nullptr || !word.starts_with("--") || word.size() == 2) continue;
    if (option_spelled(command->options, word) != nullptr || option_spelled(common_options(), word) != nullptr ||
        word == "--help")
      continue;
    wrong = word.substr(0, word.find('='));
    message = std::string("weir ") + command->name + " has no option " + wrong;
    for (const auto* options : {&command->options, &common_options()})
      for (const Option& option : *options)
        for (std::string& spelling : spellings(option)) known.push_back(std::move(spelling));
    break;
  }
  const auto near = text::nearest(wrong, known);
  streams.err << "error: " << message << "\n";
  if (near)
    streams.err << "hint: did you mean `" << *near << "`?\n";
  else if (command != nullptr)
    streams.err << "hint: `weir " << command->name << " --help` lists its options\n";
  else
    streams.err << "hint: `weir --help` lists the commands\n";
  return Exit::Misuse;
}

}  // namespace

std::string key_of(const Option& option) {
  const std::string names = option.names;
  const auto last = names.rfind(',');
  const std::string name = last == std::string::npos ? names : names.substr(last + 1);
  return name.substr(name.find_first_not_of('-'));
}

namespace {

Exit run_words(int argc, const char* const* argv, Streams& streams) {
  CLI::App root("weir turns a folder of SQL files into tables that can be trusted", "weir");
  root.set_help_flag("-h,--help", "Show this help");
  bool version = false;
  root.add_flag("-V,--version", version, "Show weir's version");
  std::vector<std::unique_ptr<Bound>> bounds;
  const std::vector<std::string> words = without_help(in_order({argv + 1, argv + argc}));
  // Other commands are not made: `weir run history` names the model `history`, not a second command.
  const Command* named = command_of(words).first;
  for (const Command& command : commands()) {
    if (named != nullptr && named != &command) continue;
    auto bound = std::make_unique<Bound>();
    bound->command = &command;
    bound->app = app_of(root, command);
    bound->app->set_help_flag("-h,--help", "Show this help");
    for (const Option& option : command.options) declare(*bound, option);
    for (const Option& option : common_options()) declare(*bound, option);
    bound->app->footer(std::string("Examples:\n") + command.examples);
    bounds.push_back(std::move(bound));
  }
  try {
    root.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::Success)) return misuse(words, error.what(), streams);
    root.exit(error, streams.out, streams.err);
    return Exit::Done;
  }
  for (const auto& bound : bounds) {
    const bool asked = version ? std::string(bound->command->name) == "version" : bound->app->parsed();
    if (!asked) continue;
    Args args = arguments_of(*bound, argc, argv);
    const char* environment = std::getenv("WEIR_ENV");
    if (!args.lists.contains("env") && environment != nullptr && *environment != '\0')
      args.lists["env"].emplace_back(environment);
    apply_color(args, streams);
    std::error_code lost;
    streams.folder = std::filesystem::absolute(args.text("directory", "."), lost).string();
    if (lost) return misuse(words, "the working directory cannot be found: " + lost.message(), streams);
    return bound->command->run(args, streams);
  }
  streams.out << root.help();
  return argc > 1 ? Exit::Misuse : Exit::Done;
}

/// Writes to two places.
class Both : public std::streambuf {
 public:
  Both(std::streambuf* one, std::streambuf* other) : one_(one), other_(other) {}

 protected:
  int overflow(int c) override {
    if (c == traits_type::eof()) return traits_type::not_eof(c);
    const char character = traits_type::to_char_type(c);
    other_->sputc(character);
    return one_->sputc(character);
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    other_->sputn(text, size);
    return one_->sputn(text, size);
  }
  int sync() override { return one_->pubsync(); }

 private:
  std::streambuf* one_;
  std::streambuf* other_;
};

/// What stands behind `name: ` at the beginning of a line of a message; empty if no line does.
std::string line_of(const std::string& told, const std::string& name) {
  std::istringstream lines(told);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(name + ": ")) return line.substr(name.size() + 2);
  return {};
}

/// Why a command gave no result, as one object.
std::string error_object(Exit exit, const std::string& refused, const std::string& told) {
  nlohmann::ordered_json error{{"exit", static_cast<int>(exit)}};
  auto diagnostics = nlohmann::ordered_json::parse(refused.empty() ? "[]" : refused);
  const bool has_words = !diagnostics.empty() && diagnostics[0].contains("message");
  error["message"] = has_words ? diagnostics[0]["message"].get<std::string>() : line_of(told, "error");
  if (const std::string hint = line_of(told, "hint"); !has_words && !hint.empty()) error["hint"] = hint;
  error["diagnostics"] = std::move(diagnostics);
  return nlohmann::ordered_json{{"error", error}}.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Exit run_command_line(int argc, const char* const* argv, Streams& streams) {
  if (std::find(argv + 1, argv + argc, std::string_view("--json")) == argv + argc)
    return run_words(argc, argv, streams);
  std::ostringstream results;
  std::ostringstream told;
  Both both(streams.err.rdbuf(), told.rdbuf());
  std::ostream err(&both);
  err << std::unitbuf;  // as std::cerr: what is said while a command works is seen at once
  std::string refused;
  Streams inner{.out = results,
                .err = err,
                .out_is_terminal = streams.out_is_terminal,
                .err_is_terminal = streams.err_is_terminal,
                .color = streams.color,
                .serve_editor = streams.serve_editor,
                .folder = streams.folder,
                .refused = &refused};
  const Exit exit = run_words(argc, argv, inner);
  // A result says itself what failed; what gave none is told as an object too.
  const bool has_result = exit == Exit::Done || !results.view().empty();
  streams.out << (has_result ? results.str() : error_object(exit, refused, told.str()) + "\n");
  return exit;
}

}  // namespace weir::cli
