#include "player.h"

#include <fnmatch.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "table.h"

namespace weir::scenario {
namespace {

constexpr std::chrono::seconds kLimit{180};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += "    " + line + "\n";
  return text.empty() ? "    (nothing)\n" : text;
}

/// Splits "LEFT = RIGHT" at its first " = ".
std::pair<std::string, std::string> split_equals(const std::string& text) {
  const auto at = text.find(" = ");
  if (at == std::string::npos) return {text, ""};
  return {text.substr(0, at), text.substr(at + 3)};
}

std::pair<std::string, std::string> split_colon(const std::string& text) {
  const auto at = text.find(": ");
  if (at == std::string::npos) return {text.ends_with(":") ? text.substr(0, text.size() - 1) : text, ""};
  return {text.substr(0, at), text.substr(at + 2)};
}

}  // namespace

std::optional<std::string> Player::play() {
  for (const auto& step : scenario_.steps)
    if (auto problem = play(step))
      return scenario_.path + ":" + std::to_string(step.line) + ": " + step.word + " " + step.rest + "\n" + *problem +
             "  output:\n" + joined(lines_of(out_ + err_));
  return std::nullopt;
}

Player::Problem Player::play(const Step& step) {
  if (step.word == "weir") return weir(step);
  if (step.word == "parallel") return parallel(step);
  if (step.word == "start") return start(step);
  if (step.word == "wait") return wait(step);
  if (step.word == "signal") return signal(step);
  if (step.word == "sql") return foreign_sql(step);
  if (step.word == "?") return shown(step, true);
  if (step.word == "?=") return shown(step, true, true);
  if (step.word == "!") return shown(step, false);
  if (step.word == "is") return same_output(step);
  if (step.word == "json") return json(step);
  if (step.word == "files") return files(step);
  if (step.word == "let") return let(step);
  if (step.word == "sleep") {
    std::this_thread::sleep_for(std::chrono::milliseconds(std::stoi(step.rest)));
    return std::nullopt;
  }
  if (step.word == "env") {
    const auto at = step.rest.find('=');
    environment_[step.rest.substr(0, at)] = at == std::string::npos ? "" : with_variables(step.rest.substr(at + 1));
    return std::nullopt;
  }
  if (step.word == "remove") {
    std::error_code error;
    if (std::filesystem::remove_all(place_.folder() + "/" + step.rest, error) == 0) return "  there is no such file\n";
    return std::nullopt;
  }
  const auto [path, text] = split_colon(step.rest);
  if (!write_file(place_.folder(), path, unescape(with_variables(text)), step.word == "append"))
    return "  the file cannot be written\n";
  return std::nullopt;
}

std::string Player::with_variables(std::string text) const {
  auto variables = variables_;
  variables["ROOT"] = place_.folder();
  for (const auto& [name, value] : variables) {
    const std::string mark = "%" + name + "%";
    for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + value.size()))
      text.replace(at, mark.size(), value);
  }
  return text;
}

std::vector<std::string> Player::command(const std::string& rest) const {
  std::vector<std::string> arguments = {tools_.weir};
  for (auto& word : split_words(with_variables(rest))) arguments.push_back(std::move(word));
  return arguments;
}

Player::Problem Player::check_exit(const Step& step, int got) const {
  if (got == -1) return "  it did not end within " + std::to_string(kLimit.count()) + " s and was killed\n";
  if (step.any_exit || got == step.exit.value_or(0)) return std::nullopt;
  return "  expected exit " + std::to_string(step.exit.value_or(0)) + ", got " + std::to_string(got) + "\n";
}

Player::Problem Player::weir(const Step& step) {
  auto arguments = command(step.rest);
  const bool has_rows = !step.rows.empty() || step.expects_no_rows;
  if (has_rows && std::find(arguments.begin(), arguments.end(), "--format") == arguments.end()) {
    arguments.emplace_back("--format");
    arguments.emplace_back("json");
  }
  const auto process = Process::start(arguments, place_.folder(), environment_);
  if (process == nullptr) return "  the process cannot be started\n";
  const int code = process->wait(kLimit);
  out_ = process->out();
  err_ = process->err();
  seen_ = {};
  if (auto problem = check_exit(step, code)) return problem;
  if (!has_rows) return std::nullopt;
  std::string problem;
  const auto rows = rows_of_json(out_, problem);
  if (!rows) return "  " + problem + "\n";
  return compare_rows(step, *rows);
}

Player::Problem Player::parallel(const Step& step) {
  std::vector<std::unique_ptr<Process>> processes;
  for (const auto& inner : step.inner)
    processes.push_back(Process::start(command(inner.rest), place_.folder(), environment_));
  out_.clear();
  err_.clear();
  seen_ = {};
  Problem first;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const int code = processes[i]->wait(kLimit);
    out_ += processes[i]->out();
    err_ += processes[i]->err();
    if (auto problem = check_exit(step.inner[i], code); problem && !first)
      first = "  weir " + step.inner[i].rest + "\n" + *problem;
  }
  return first;
}

Player::Problem Player::start(const Step& step) {
  const std::string rest = step.rest.starts_with("weir ") ? step.rest.substr(5) : step.rest;
  background_ = Process::start(command(rest), place_.folder(), environment_);
  return background_ == nullptr ? Problem("  the process cannot be started\n") : std::nullopt;
}

Player::Problem Player::wait(const Step& step) {
  if (background_ == nullptr) return "  nothing was started\n";
  const int code = background_->wait(kLimit);
  out_ = background_->out();
  err_ = background_->err();
  seen_ = {};
  background_.reset();
  return check_exit(step, code);
}

Player::Problem Player::signal(const Step& step) {
  static const std::map<std::string, int> numbers = {
      {"INT", SIGINT}, {"TERM", SIGTERM}, {"KILL", SIGKILL}, {"STOP", SIGSTOP}, {"CONT", SIGCONT}};
  if (background_ == nullptr) return "  nothing was started\n";
  const auto word = step.rest.substr(0, step.rest.find(' '));
  const auto number = numbers.find(word);
  if (number == numbers.end()) return "  no such signal\n";
  if (const auto at = step.rest.find(" after ");
      at != std::string::npos && !background_->wait_for(step.rest.substr(at + 7), std::chrono::seconds(60))) {
    err_ = background_->err();
    return "  the text did not come within 60 s\n";
  }
  background_->signal(number->second);
  return std::nullopt;
}

Player::Problem Player::foreign_sql(const Step& step) {
  const auto space = step.rest.find(' ');
  const std::string lake = step.rest.substr(0, space);
  const std::string text = space == std::string::npos ? "" : with_variables(step.rest.substr(space + 1));
  const ForeignWriter writer{place_, tools_.extension_folder};
  std::string problem;
  const auto rows = writer.run(lake, text, problem);
  if (!rows) return "  " + problem + "\n";
  if (step.rows.empty() && !step.expects_no_rows) return std::nullopt;
  return compare_rows(step, *rows);
}

Player::Problem Player::compare_rows(const Step& step, const std::vector<std::string>& got) const {
  std::vector<std::string> expected;
  for (const auto& row : step.rows) expected.push_back(with_variables(row));
  if (expected == got) return std::nullopt;
  return "  expected rows:\n" + joined(expected) + "  got rows:\n" + joined(got);
}

std::string Player::normalised(std::string text) const {
  for (auto at = text.find(place_.folder()); at != std::string::npos; at = text.find(place_.folder(), at))
    text.replace(at, place_.folder().size(), "$ROOT");
  static const std::vector<std::pair<std::regex, std::string>> forms = {
      {std::regex(R"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d(:?\d\d)?)?)"), "$$TIME"},
      {std::regex(R"(\b\d+(\.\d+)? ?(ms|s)\b)"), "$$TIME"},
      {std::regex(R"(\bweir \d+\.\d+\.\d+)"), "weir $$VERSION"},
      {std::regex(R"(\bv1\.\d+\.\d+\b)"), "$$VERSION"},
      {std::regex(R"(\brun[ -][0-9a-z-]{8,}\b)"), "run $$RUN"},
      {std::regex(R"(\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b)"), "$$RUN"}};
  for (const auto& [form, name] : forms) text = std::regex_replace(text, form, name);
  return text;
}

// Which stream's bytes come first is chance, so the order is asked of each stream alone.
Player::Problem Player::shown(const Step& step, bool wanted, bool is_whole_line) {
  const std::string text = with_variables(step.rest);
  const std::array<std::vector<std::string>, 2> streams = {lines_of(out_), lines_of(err_)};
  for (std::size_t stream = 0; stream < streams.size(); ++stream) {
    const auto& lines = streams[stream];
    for (std::size_t i = wanted ? seen_[stream] : 0; i < lines.size(); ++i) {
      const auto is_it = [&](const std::string& line) {
        const auto first = std::min(line.find_first_not_of(' '), line.size());
        return is_whole_line ? std::string_view(line).substr(first) == text : line.find(text) != std::string::npos;
      };
      if (!is_it(lines[i]) && !is_it(normalised(lines[i]))) continue;
      if (!wanted) return "  this must not be shown, but is in:\n    " + lines[i] + "\n";
      seen_[stream] = i;
      return std::nullopt;
    }
  }
  if (!wanted) return std::nullopt;
  return "  expected this text (from line " + std::to_string(seen_[0] + 1) + " of stdout or line " +
         std::to_string(seen_[1] + 1) + " of stderr on)\n";
}

Player::Problem Player::same_output(const Step& step) {
  const auto expected = scenario_.files.find("expected/" + step.rest);
  if (expected == scenario_.files.end()) return "  the scenario has no section expected/" + step.rest + "\n";
  const std::string got = normalised(out_ + err_);
  if (got == expected->second) return std::nullopt;
  if (!tools_.rewrite) return "  expected:\n" + joined(lines_of(expected->second)) + "  got:\n" + joined(lines_of(got));
  return rewrite_section(scenario_.path, "expected/" + step.rest, got) ? std::nullopt
                                                                       : Problem("  the section cannot be rewritten\n");
}

std::optional<nlohmann::ordered_json> Player::value_at(const std::string& path, std::string& problem) const {
  const auto document = nlohmann::ordered_json::parse(out_, nullptr, false);
  if (document.is_discarded()) {
    problem = "the output is no JSON";
    return std::nullopt;
  }
  return find_value(document, path);
}

Player::Problem Player::json(const Step& step) {
  const auto [path, raw] = split_equals(step.rest);
  const std::string expected = with_variables(raw);
  std::string problem;
  const auto got = value_at(with_variables(path), problem);
  if (!problem.empty()) return "  " + problem + "\n";
  if (expected == "absent") return got ? Problem("  expected nothing, got " + got->dump() + "\n") : std::nullopt;
  if (!got) return "  there is no such value\n";
  if (expected == "present") return std::nullopt;
  const auto wanted = nlohmann::ordered_json::parse(expected, nullptr, false);
  const bool same = wanted.is_discarded() ? got->is_string() && got->get<std::string>() == expected : *got == wanted;
  return same ? std::nullopt : Problem("  expected " + expected + ", got " + got->dump() + "\n");
}

Player::Problem Player::let(const Step& step) {
  const auto [name, path] = split_equals(step.rest);
  std::string problem;
  const auto got = value_at(path, problem);
  if (!got) return "  " + (problem.empty() ? "there is no such value" : problem) + "\n";
  variables_[name] = got->is_string() ? got->get<std::string>() : got->dump();
  return std::nullopt;
}

Player::Problem Player::files(const Step& step) const {
  const auto [glob, wanted] = split_equals(step.rest);
  std::vector<std::string> found;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(place_.folder(), error), end; at != end; at.increment(error)) {
    const auto path = std::filesystem::relative(at->path(), place_.folder()).string();
    if (at->is_regular_file() && fnmatch(glob.c_str(), path.c_str(), 0) == 0) found.push_back(path);
  }
  std::sort(found.begin(), found.end());
  if (std::to_string(found.size()) == wanted) return std::nullopt;
  return "  expected " + wanted + " files, got " + std::to_string(found.size()) + ":\n" + joined(found);
}

}  // namespace weir::scenario
