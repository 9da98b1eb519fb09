#include "reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "base/diagnostic.h"
#include "cli/command.h"
#include "io/files.h"
#include "project/config.h"
#include "project/header_block.h"
#include "project/header_keywords.h"
#include "run/report.h"

namespace weir::docs {
namespace {

constexpr std::string_view kBegin = "<!-- generated: begin -->\n";
constexpr std::string_view kEnd = "<!-- generated: end -->\n";

/// A bar would end the cell of a table.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

template <class Words>
std::string words(const Words& all) {
  std::string text;
  for (const auto& word : all) text += fmt::format("{}`{}`", text.empty() ? "" : ", ", cell(word));
  return text;
}

void add_options(std::string& text, const std::vector<cli::Option>& options) {
  text += "| option | meaning |\n| --- | --- |\n";
  for (const cli::Option& option : options) {
    std::string names = option.names;
    for (std::size_t at = 0; (at = names.find(',', at)) != std::string::npos; at += 4) names.replace(at, 1, "`, `");
    text += fmt::format("| `{}`{} | {} |\n", names,
                        option.kind == cli::Kind::Flag     ? ""
                        : option.kind == cli::Kind::Text   ? " value"
                        : option.kind == cli::Kind::Number ? " number"
                                                           : " value, repeatable",
                        cell(option.help));
  }
}

std::string commands_part() {
  std::string text = "## Options of every command\n\n";
  add_options(text, cli::common_options());
  for (const cli::Command& command : cli::commands()) {
    text += fmt::format("\n## weir {}\n\n{}.\n\n", command.name, command.summary);
    if (!command.options.empty()) add_options(text, command.options);
    std::string examples = command.examples;
    examples = std::regex_replace(examples, std::regex("(^|\n)  "), "$1");
    text += fmt::format("{}```\n{}```\n", command.options.empty() ? "" : "\n", examples);
  }
  return text;
}

std::string_view repeats(Repeats how) {
  switch (how) {
    case Repeats::Adds:
      return "adds up";
    case Repeats::FirstWins:
      return "the first counts";
    case Repeats::LastWins:
      return "the last counts";
    case Repeats::Flag:
      return "no matter";
  }
  return "";
}

std::string values_of(const OptionEntry& option) {
  std::string name = fmt::format("`{}{}`", option.name, option.form == OptionForm::Flag ? "" : "=");
  return option.values.empty() ? name : name + " " + words(option.values);
}

std::string header_part() {
  std::string text = "## Line annotations\n\n| line | meaning | given twice |\n| --- | --- | --- |\n";
  for (const KeywordEntry& keyword : header_keywords())
    text += fmt::format("| `{}` | {} | {} |\n", cell(keyword.shape), cell(keyword.meaning), repeats(keyword.repeats));
  for (const KeywordEntry& keyword : header_keywords()) {
    if (keyword.heads.empty() && keyword.options.empty()) continue;
    text += fmt::format("\n### {}\n\n", keyword.name);
    if (!keyword.heads.empty())
      text += fmt::format("First word: {}.\n{}", words(keyword.heads), keyword.options.empty() ? "" : "\n");
    if (keyword.options.empty()) continue;
    text += "| option | meaning |\n| --- | --- |\n";
    for (const OptionEntry& option : keyword.options)
      text += fmt::format("| {} | {} |\n", values_of(option), cell(option.meaning));
  }
  text +=
      "\n## Block header\n\nKeys below `weir:`. A key marked with * takes part in deciding where and how the result is "
      "written, which only one of the notations may do.\n\n";
  text += "| key | values | meaning |\n| --- | --- | --- |\n";
  for (const BlockKeyEntry& key : block_keys()) {
    std::string name = fmt::format("`{}`{}", key.name, key.decides ? "*" : "");
    for (const auto& synonym : key.synonyms) name += fmt::format(", `{}`", synonym);
    text += fmt::format("| {} | {} | {} |\n", name, words(key.values), cell(key.meaning));
  }
  return text;
}

std::string diagnostics_part() {
  std::string text = "| code | title | cause and cure |\n| --- | --- | --- |\n";
  for (const Code code : all_codes())
    text += fmt::format("| `{}` | {} | {} |\n", name_of(code), cell(title_of(code)), cell(explanation_of(code)));
  return text;
}

/// Known keys of one mapping of weir.yaml: the reader lists them beside a key that is near to none.
std::vector<std::string> keys_beside(const std::string& before, const std::string& indent) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("weir-docs-{}", ::getpid());
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "weir.yaml") << "lakes: {main: {catalog: a.sqlite, data: a}}\n"
                                      << before << indent << "zqzqzqzqzqzq: 1\n";
  Diagnostics warnings;
  const auto config = load_config(folder.string(), warnings);
  std::filesystem::remove_all(folder);
  std::vector<std::string> keys;
  if (config) return keys;
  for (const Diagnostic& found : config.error()) {
    constexpr std::string_view kKnown = "known keys: ";
    if (found.code != Code::W0003 || !found.hint.starts_with(kKnown)) continue;
    std::istringstream list(found.hint.substr(kKnown.size()));
    for (std::string key; std::getline(list, key, ',');) keys.push_back(key.substr(key.find_first_not_of(' ')));
  }
  return keys;
}

void collect(const nlohmann::json& value, const std::string& path, std::set<std::string>& fields) {
  if (value.is_array()) {
    for (const auto& item : value) collect(item, path + "[]", fields);
    return;
  }
  if (!value.is_object()) return;
  for (const auto& [name, inner] : value.items()) {
    const std::string at = path.empty() ? name : path + "." + name;
    fields.insert(at);
    collect(inner, at, fields);
  }
}

}  // namespace

std::map<std::string, std::string> generated_parts() {
  return {{"commands", commands_part()}, {"header", header_part()}, {"diagnostics", diagnostics_part()}};
}

std::string with_part(const std::string& page, const std::string& part) {
  const auto begin = page.find(kBegin);
  const auto end = page.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos) return page;
  return page.substr(0, begin + kBegin.size()) + part + page.substr(end);
}

std::set<std::string> configuration_keys() {
  std::set<std::string> keys;
  const auto add = [&keys](const std::string& prefix, const std::vector<std::string>& names) {
    for (const std::string& name : names) keys.insert(prefix + name);
  };
  add("", keys_beside("", ""));
  add("temp.", keys_beside("temp:\n", "  "));
  add("environments.<name>.", keys_beside("environments:\n  dev:\n", "    "));
  add("lakes.<name>.", keys_beside("lakes:\n  other:\n", "    "));
  return keys;
}

std::set<std::string> result_fields() {
  run::StepReport step{.model = "m",
                       .materialized = "a",
                       .partition = "p",
                       .status = run::Status::Failed,
                       .reason = "r",
                       .strategy = "merge"};
  step.earlier = {"p", "p"};
  step.rows = 1;
  step.counts = {1, 1, 1, 1, 1};
  step.snapshot_id = 1;
  step.output_schema = {{"c", "INTEGER"}};
  const lake::ColumnState column{.name = "c", .type = "INTEGER"};
  step.drift = build::Drift{.added = {column},
                            .removed = {column},
                            .retyped = {{"c", "INTEGER", "BIGINT", true}},
                            .reordered = true,
                            .renamed_case = {{"a", "A"}},
                            .likely_rename = {{"a", "b"}}};
  audit::Verdict verdict{.test = "t", .status = audit::Verdict::Status::Error};
  verdict.sample_json = "[]";
  verdict.error = "e";
  step.tests = {verdict};
  step.inputs = {{*parse_asset("ducklake://main/main.t"), 1, "p"}};
  step.error = "e";
  step.errors = {Diagnostic{.code = Code::W5001, .message = "e"}};
  step.notes = {Diagnostic{.code = Code::W6021, .message = "n"}};
  step.result_json = "[]";
  step.versions = {1};
  step.started = step.finished = "t";
  run::StepReport windowed = step;
  windowed.is_windowed = true;
  run::RunReport report{.run = "r",
                        .environment = "prod",
                        .status = "failed",
                        .started = "t",
                        .finished = "t",
                        .steps = {step, windowed}};
  std::set<std::string> fields;
  collect(run::to_json(report), "", fields);
  return fields;
}

std::set<std::string> first_column(const std::string& page) {
  std::set<std::string> found;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const std::string first = line.substr(2, line.find(" | ", 2) - 2);
    static const std::regex code("`([^`]+)`");
    for (auto at = std::sregex_iterator(first.begin(), first.end(), code); at != std::sregex_iterator(); ++at)
      found.insert((*at)[1]);
  }
  return found;
}

std::set<std::string> declared_functions(const std::string& folder) {
  std::set<std::string> names;
  static const std::regex declaration(R"(^(?:Result<|std::)\S.*?[>g] (\w+)\()");
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".h") continue;
    std::ifstream in(entry.path());
    std::smatch found;
    for (std::string line; std::getline(in, line);)
      if (std::regex_search(line, found, declaration)) names.insert(found[1]);
  }
  return names;
}

}  // namespace weir::docs
