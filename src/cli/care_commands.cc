// Commands that make or mend: init, doctor, state rebuild, completion.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "ops/doctor.h"
#include "ops/project_files.h"
#include "ops/state.h"

namespace weir::cli {
namespace {

Exit new_data_test(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  // The positionals are `folder model`: with --data-test NAME the first of them is the model.
  const auto made = ops::init_data_test(*workspace, *args.text("data-test"), args.text("model").value_or(args.text("folder", "")));
  if (!made) return refuse(made.error(), workspace->loaded(), streams);
  if (args.flag("json")) {
    streams.out << nlohmann::json{{"file", made->file}, {"line", made->line}}.dump() << "\n";
    return Exit::Done;
  }
  streams.out << fmt::format("made {}\nadd this line to the model's header:\n  {}\n", made->file, made->line);
  return Exit::Done;
}

/// Words that a shell completes at the first place.
std::string command_words() {
  std::string words;
  for (const Command& command : commands()) {
    const std::string name = command.name;
    words += (words.empty() ? "" : " ") + name.substr(0, name.find(' '));
  }
  return words;
}

std::string option_words(const Command& command) {
  std::string words;
  for (const auto* options : {&command.options, &common_options()})
    for (const Option& option : *options)
      if (option.names[0] == '-') words += (words.empty() ? "--" : " --") + key_of(option);
  return words;
}

std::string bash_completion() {
  std::string cases;
  for (const Command& command : commands()) {
    const std::string name = command.name;
    cases += fmt::format("    {}) words=\"{}\" ;;\n", name.substr(0, name.find(' ')), option_words(command));
  }
  return fmt::format(R"bash(_weir() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{}" -- "$word"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{}  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
    *) COMPREPLY=($(compgen -W "$(weir ls --json 2>/dev/null | sed -n 's/.*"model": "\(.*\)".*/\1/p')" -- "$word") $(compgen -f -- "$word")) ;;
  esac
}}
complete -F _weir weir
)bash",
                     command_words(), cases);
}

std::string zsh_completion() { return "#compdef weir\nautoload -U +X bashcompinit && bashcompinit\n" + bash_completion(); }

std::string fish_completion() {
  std::string script = "complete -c weir -f\n";
  for (const Command& command : commands()) {
    const std::string name = command.name;
    const std::string first = name.substr(0, name.find(' '));
    script += fmt::format("complete -c weir -n __fish_use_subcommand -a {} -d '{}'\n", first, command.summary);
    for (const Option& option : command.options)
      if (option.names[0] == '-') script += fmt::format("complete -c weir -n '__fish_seen_subcommand_from {}' -l {} -d '{}'\n", first, key_of(option), option.help);
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
  if (!args.flag("quiet")) streams.out << fmt::format("now: {}weir run\n", folder == "." ? "" : fmt::format("cd {} && ", folder));
  return Exit::Done;
}

Exit doctor_command(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  const std::vector<ops::Finding> findings = ops::doctor(*workspace);
  bool all_good = true;
  nlohmann::json list = nlohmann::json::array();
  for (const ops::Finding& finding : findings) {
    all_good = all_good && finding.is_good;
    list.push_back({{"what", finding.what}, {"good", finding.is_good}, {"found", finding.found}, {"advice", finding.advice}});
    if (args.flag("json")) continue;
    streams.out << (finding.is_good ? paint(streams, Color::Good, "✓") : paint(streams, Color::Bad, "✗")) << " " << finding.what << ": " << finding.found << "\n";
    if (!finding.advice.empty()) streams.out << "    " << finding.advice << "\n";
  }
  if (args.flag("json")) streams.out << nlohmann::json{{"findings", list}}.dump(2) << "\n";
  return all_good ? Exit::Done : Exit::Failed;
}

Exit state_rebuild_command(const Args& args, Streams& streams) {
  auto workspace = ops::Workspace::open(args.text("directory", "."));
  if (!workspace) return refuse(workspace.error(), nullptr, streams);
  Progress progress(streams, args.flag("quiet"), false);
  const auto rebuilt = ops::rebuild_state(*workspace, progress);
  if (!rebuilt) return refuse(rebuilt.error(), workspace->loaded(), streams);
  if (args.flag("json")) {
    streams.out << nlohmann::json{{"commits", rebuilt->commits}, {"slices", rebuilt->slices}, {"only_in_state", rebuilt->only_in_state}}.dump(2) << "\n";
    return Exit::Done;
  }
  streams.out << fmt::format("{} from {}\n", counted(rebuilt->slices, "slice"), counted(rebuilt->commits, "commit"));
  for (const std::string& slice : rebuilt->only_in_state) streams.out << "only the state knew " << slice << "\n";
  return Exit::Done;
}

Exit completion_command(const Args& args, Streams& streams) {
  const std::string shell = args.text("shell", "bash");
  if (shell == "bash") streams.out << bash_completion();
  else if (shell == "zsh") streams.out << zsh_completion();
  else if (shell == "fish") streams.out << fish_completion();
  else {
    streams.err << fmt::format("error: no completion for {}\nhint: bash, zsh or fish\n", shell);
    return Exit::Misuse;
  }
  return Exit::Done;
}

}  // namespace weir::cli
