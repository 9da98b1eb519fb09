// Commands that make or mend: init, doctor, state rebuild, completion.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "ops/doctor.h"
#include "ops/project_files.h"
#include "ops/state.h"

namespace weir::cli {
namespace {

Exit new_data_test(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  // The positionals are `folder model`: with --data-test NAME the first of them is the model.
  const auto made =
      ops::init_data_test(*workspace, *args.text("data-test"), args.text("model").value_or(args.text("folder", "")));
  if (!made) return refuse(made.error(), workspace->loaded(), streams);
  if (args.flag("json")) {
    streams.out << nlohmann::json{{"file", made->file}, {"line", made->line}}.dump() << "\n";
    return Exit::Done;
  }
  streams.out << fmt::format("made {}\nadd this line to the model's header:\n  {}\n", made->file, made->line);
  return Exit::Done;
}

/// Words in lines, as the shell's IFS cuts them: names of models may hold blanks.
std::string lines_of(const std::set<std::string>& words) { return fmt::format("{}", fmt::join(words, "\\n")); }

/// Where a command is reached by two words, the first of them.
std::string first_word(const Command& command) {
  const std::string name = command.name;
  return name.substr(0, name.find(' '));
}

/// What the shell does to complete a value.
std::string completer(const std::string& completes) {
  if (completes == "model") return "_weir_models";
  if (completes == "file") return "compgen -f -- \"$word\"";
  if (completes == "folder") return "compgen -d -- \"$word\"";
  if (completes == "code") return "compgen -W \"$(weir explain 2>/dev/null | cut -d' ' -f1)\" -- \"$word\"";
  if (completes.empty()) return ":";
  std::string words = completes;
  for (std::size_t at = 0; (at = words.find('|', at)) != std::string::npos; at += 2) words.replace(at, 1, "\\n");
  return fmt::format("compgen -W $'{}' -- \"$word\"", words);
}

/// "--format" and "-f" of one option as patterns of a shell's case, for one command or (`*`) all.
std::string patterns_of(const std::string& command, const Option& option) {
  std::string patterns;
  std::istringstream names(option.names);
  for (std::string name; std::getline(names, name, ',');)
    patterns += fmt::format("{}{}:{}", patterns.empty() ? "" : "|", command, name);
  return patterns;
}

std::string bash_completion() {
  std::set<std::string> names;
  std::string values;
  std::string words;
  std::string positionals;
  std::map<std::string, std::string> nested;
  const auto add_value = [&values](const std::string& command, const Option& option) {
    if (option.names[0] == '-' && option.kind != Kind::Flag)
      values += fmt::format("    {}) COMPREPLY=($({})); return ;;\n", patterns_of(command, option),
                            completer(option.completes));
  };
  for (const Command& command : commands()) {
    const std::string first = first_word(command);
    names.insert(first);
    std::set<std::string> options{"--help"};
    std::string positional;
    for (const Option& option : command.options) {
      add_value(first, option);
      if (option.names[0] == '-')
        options.insert("--" + key_of(option));
      else if (positional.empty())
        positional = completer(option.completes);
    }
    for (const Option& option : common_options()) options.insert("--" + key_of(option));
    words += fmt::format("    {}) words=$'{}' ;;\n", first, lines_of(options));
    // The second word of a command stands where others have an argument.
    if (std::string(command.name) != first) {
      std::string& seconds = nested[first];
      seconds += (seconds.empty() ? "" : "|") + std::string(command.name).substr(first.size() + 1);
      continue;
    }
    positionals += fmt::format("    {}) COMPREPLY=($({})) ;;\n", first, positional.empty() ? ":" : positional);
  }
  for (const auto& [first, seconds] : nested)
    positionals += fmt::format("    {}) COMPREPLY=($({})) ;;\n", first, completer(seconds));
  std::string with_value;
  for (const Option& option : common_options()) {
    add_value("*", option);
    if (option.kind == Kind::Flag) continue;
    std::string alternatives = option.names;
    std::replace(alternatives.begin(), alternatives.end(), ',', '|');
    with_value += (with_value.empty() ? "" : "|") + alternatives;
  }
  return fmt::format(R"bash(_weir_models() {{
  compgen -W "$(weir ls --json 2>/dev/null | sed -n 's/.*"model": "\(.*\)".*/\1/p')" -- "$word"
}}
_weir() {{
  local IFS=$'\n' word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" command="" words="" i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "${{COMP_WORDS[i]}}" in
      {}) i=$((i + 1)) ;;
      -*) ;;
      *) command="${{COMP_WORDS[i]}}"; break ;;
    esac
  done
  case "$command:$before" in
{}  esac
  if [ -z "$command" ]; then
    COMPREPLY=($(compgen -W $'{}' -- "$word"))
    return
  fi
  case "$command" in
{}  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$word")); return ;;
  esac
  case "$command" in
{}  esac
}}
complete -o filenames -F _weir weir
)bash",
                     with_value, values, lines_of(names), words, positionals);
}

std::string zsh_completion() {
  return "#compdef weir\nautoload -U +X bashcompinit && bashcompinit\n" + bash_completion();
}

std::string fish_completion() {
  std::string script = "complete -c weir -f\n";
  for (const Command& command : commands()) {
    const std::string name = command.name;
    const std::string first = name.substr(0, name.find(' '));
    script += fmt::format("complete -c weir -n __fish_use_subcommand -a {} -d '{}'\n", first, command.summary);
    for (const Option& option : command.options)
      if (option.names[0] == '-')
        script += fmt::format("complete -c weir -n '__fish_seen_subcommand_from {}' -l {} -d '{}'\n", first,
                              key_of(option), option.help);
  }
  return script;
}

}  // namespace

Exit init_command(const Args& args, Streams& streams) {
  if (args.text("data-test")) return new_data_test(args, streams);
  const std::string folder = args.text("folder", args.text("directory", "."));
  const auto made = ops::init(folder);
  if (!made) return refuse(made.error(), nullptr, streams);
  if (args.flag("json")) {
    streams.out << nlohmann::json{{"made", *made}}.dump() << "\n";
    return Exit::Done;
  }
  for (const std::string& file : *made) streams.out << "made " << file << "\n";
  if (!args.flag("quiet"))
    streams.out << fmt::format(
        "now: {}weir run\n",
        folder == "." ? ""
                      : fmt::format("cd {} && ", folder.find(' ') == std::string::npos ? folder : "'" + folder + "'"));
  return Exit::Done;
}

Exit doctor_command(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  const std::vector<ops::Finding> findings = ops::doctor(*workspace);
  bool all_good = true;
  nlohmann::json list = nlohmann::json::array();
  for (const ops::Finding& finding : findings) {
    all_good = all_good && finding.is_good;
    list.push_back(
        {{"what", finding.what}, {"good", finding.is_good}, {"found", finding.found}, {"advice", finding.advice}});
    if (args.flag("json")) continue;
    streams.out << (finding.is_good ? paint(streams, Color::Good, "✓") : paint(streams, Color::Bad, "✗")) << " "
                << finding.what << ": " << finding.found << "\n";
    if (!finding.advice.empty()) streams.out << "    " << finding.advice << "\n";
  }
  if (args.flag("json")) streams.out << nlohmann::json{{"findings", list}}.dump(2) << "\n";
  return all_good ? Exit::Done : Exit::Failed;
}

Exit state_rebuild_command(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."), args.text("env", "prod"));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  Progress progress(streams, args.flag("quiet"), false);
  const auto rebuilt = ops::rebuild_state(*workspace, progress, stop_requested());
  if (!rebuilt) return refuse(rebuilt.error(), workspace->loaded(), streams);
  if (args.flag("json")) {
    streams.out << nlohmann::json{{"commits", rebuilt->commits},
                                  {"slices", rebuilt->slices},
                                  {"only_in_state", rebuilt->only_in_state}}
                       .dump(2)
                << "\n";
    return Exit::Done;
  }
  streams.out << fmt::format("{} from {}\n", counted(rebuilt->slices, "slice"), counted(rebuilt->commits, "commit"));
  for (const std::string& slice : rebuilt->only_in_state) streams.out << "only the state knew " << slice << "\n";
  return Exit::Done;
}

Exit completion_command(const Args& args, Streams& streams) {
  const std::string shell = args.text("shell", "bash");
  if (shell == "bash")
    streams.out << bash_completion();
  else if (shell == "zsh")
    streams.out << zsh_completion();
  else if (shell == "fish")
    streams.out << fish_completion();
  else {
    streams.err << fmt::format("error: no completion for {}\nhint: bash, zsh or fish\n", shell);
    return Exit::Misuse;
  }
  return Exit::Done;
}

}  // namespace weir::cli
