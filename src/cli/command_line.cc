// The command line: parsed by CLI11 from the table of commands.
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/output.h"

namespace weir::cli {
namespace {

struct Bound {
  CLI::App* app = nullptr;
  const Command* command = nullptr;
  std::map<std::string, bool> flags;
  std::map<std::string, std::vector<std::string>> lists;
};

void declare(Bound& bound, const Option& option) {
  const std::string key = key_of(option);
  switch (option.kind) {
    case Kind::Flag: bound.app->add_flag(option.names, bound.flags[key], option.help); return;
    case Kind::Text: {
      auto* added = bound.app->add_option(option.names, bound.lists[key], option.help)->expected(1);
      // Held in a list, an option would else take the positional arguments behind it for more of its values.
      if (std::string(option.names).starts_with('-')) added->allow_extra_args(false);
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
      parent = root.add_subcommand(group, "Commands about the " + group);
      parent->require_subcommand(1);
      parent->set_help_flag("-h,--help", "Show this help");
    }
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

Exit misuse(const std::string& what, Streams& streams) {
  streams.err << "error: " << what << "\n";
  streams.err << "hint: `weir --help` lists the commands, `weir COMMAND --help` the options of one\n";
  return Exit::Misuse;
}

}  // namespace

std::string key_of(const Option& option) {
  const std::string names = option.names;
  const auto last = names.rfind(',');
  const std::string name = last == std::string::npos ? names : names.substr(last + 1);
  return name.substr(name.find_first_not_of('-'));
}

Exit run_command_line(int argc, const char* const* argv, Streams& streams) {
  CLI::App root("weir turns a folder of SQL files into tables that can be trusted", "weir");
  root.set_help_flag("-h,--help", "Show this help");
  bool version = false;
  root.add_flag("-V,--version", version, "Show weir's version");
  std::vector<std::unique_ptr<Bound>> bounds;
  for (const Command& command : commands()) {
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
    root.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::Success)) return misuse(error.what(), streams);
    root.exit(error, streams.out, streams.err);
    return Exit::Done;
  }
  for (const auto& bound : bounds) {
    const bool asked = version ? std::string(bound->command->name) == "version" : bound->app->parsed();
    if (!asked) continue;
    const Args args = arguments_of(*bound, argc, argv);
    apply_color(args, streams);
    // Only prod has tables so far: another name must never write to them.
    if (const std::string environment = args.text("env", "prod"); environment != "prod")
      return misuse("there is no environment " + environment + " yet; the only one is prod", streams);
    return bound->command->run(args, streams);
  }
  streams.out << root.help();
  return argc > 1 ? Exit::Misuse : Exit::Done;
}

}  // namespace weir::cli
