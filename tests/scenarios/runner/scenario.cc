#include "scenario.h"

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace weir::scenario {
namespace {

const std::set<std::string>& step_words() {
  static const std::set<std::string> words = {"weir",   "start",    "wait", "signal", "sleep", "write",
                                              "append", "remove",   "env",  "sql",    "json",  "files",
                                              "let",    "parallel", "?",    "?=",     "!",     "is"};
  return words;
}

std::string first_word(const std::string& line) { return line.substr(0, line.find(' ')); }

std::string trim(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

bool takes_exit(const std::string& word) { return word == "weir" || word == "wait"; }

Step parse_step(const std::string& line, std::size_t number) {
  Step step;
  step.line = number;
  step.word = first_word(line);
  step.rest = line.size() > step.word.size() ? line.substr(step.word.size() + 1) : std::string();
  if (!takes_exit(step.word)) return step;
  static const std::regex exit_comment(R"((?:^|\s+)#\s*exit\s+(\d+|any)\s*$)");
  if (std::smatch found; std::regex_search(step.rest, found, exit_comment)) {
    if (found[1] == "any")
      step.any_exit = true;
    else
      step.exit = std::stoi(found[1]);
    step.rest = found.prefix();
  }
  return step;
}

/// Adds one line of the steps to the list that is open: the outer one or that of a parallel block.
bool add_line(const std::string& raw, std::size_t number, std::vector<Step>& steps, bool& in_parallel,
              std::string& problem) {
  const std::string line = trim(raw);
  if (line.empty() || line.starts_with("# ") || line == "#") return true;
  if (in_parallel && line == "}") {
    in_parallel = false;
    return true;
  }
  auto& open = in_parallel ? steps.back().inner : steps;
  if (step_words().contains(first_word(line))) {
    if (in_parallel && first_word(line) != "weir") {
      problem = "only weir commands may stand in a parallel block";
      return false;
    }
    open.push_back(parse_step(line, number));
    if (open.back().word == "parallel") in_parallel = true;
    return true;
  }
  if (open.empty() || (open.back().word != "weir" && open.back().word != "sql")) {
    problem = "unknown step: " + line;
    return false;
  }
  if (line == "(no rows)")
    open.back().expects_no_rows = true;
  else
    open.back().rows.push_back(line.starts_with("| ") ? line.substr(2) : line);
  return true;
}

bool header_line(const std::string& line, Scenario& scenario) {
  if (line.starts_with("# claim:")) {
    scenario.claim = trim(line.substr(8));
  } else if (line.starts_with("# catalogs:")) {
    std::istringstream words(line.substr(11));
    for (std::string word; words >> word;) scenario.catalogs.push_back(word);
  } else {
    return trim(line).empty() || line.starts_with("#");
  }
  return true;
}

}  // namespace

bool Scenario::runs_on(const std::string& catalog) const {
  return catalogs.empty() || std::find(catalogs.begin(), catalogs.end(), catalog) != catalogs.end();
}

std::optional<Scenario> read_scenario(const std::string& path, std::string& problem) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    problem = "cannot be read";
    return std::nullopt;
  }
  Scenario scenario;
  scenario.path = path;
  std::string section;
  bool in_parallel = false;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.starts_with("-- ") && line.ends_with(" --") && line.size() > 6) {
      section = line.substr(3, line.size() - 6);
      if (section != "steps" && section != "weir.yaml+") scenario.files[section];
      continue;
    }
    bool good = true;
    if (section.empty())
      good = header_line(line, scenario);
    else if (section == "steps")
      good = add_line(line, number, scenario.steps, in_parallel, problem);
    else if (section == "weir.yaml+")
      scenario.more_configuration += line + "\n";
    else
      scenario.files[section] += line + "\n";
    if (!good) {
      problem = "line " + std::to_string(number) + ": " + (problem.empty() ? "not a header line: " + line : problem);
      return std::nullopt;
    }
  }
  if (scenario.claim.empty()) problem = "it has no `# claim:` line";
  if (scenario.steps.empty()) problem = "it has no steps";
  if (in_parallel) problem = "a parallel block is not closed";
  if (!problem.empty()) return std::nullopt;
  return scenario;
}

std::vector<std::string> split_words(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == quote)
        quote = 0;
      else if (c == '\\' && quote == '"' && i + 1 < line.size() && (line[i + 1] == '"' || line[i + 1] == '\\'))
        word += line[++i];
      else
        word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      open = true;
    } else if (c == ' ' || c == '\t') {
      if (open) words.push_back(word);
      word.clear();
      open = false;
    } else {
      word += c;
      open = true;
    }
  }
  if (open) words.push_back(word);
  return words;
}

std::string unescape(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    if (c == 'n')
      out += '\n';
    else if (c == 't')
      out += '\t';
    else if (c == 'r')
      out += '\r';
    else if (c == '0')
      out += '\0';
    else if (c == 'x' && i + 2 < text.size()) {
      out += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else if (c == '\\')
      out += '\\';
    else
      out += std::string("\\") + c;
  }
  return out;
}

}  // namespace weir::scenario
