// Bad headers and the exact words they earn. Each file under cases/ holds models and the expected diagnostics:
//
//   # claim: what this case shows
//   -- strict --            (optional: judged with strict: true)
//   -- models/a.sql --
//   …
//   -- expect --
//   …
//
// Those under cases/project/ are whole projects: beside models they may hold weir.yaml and tests/…, and they are loaded
// and linked as `weir check` does it. With a part `-- sources --` (`<asset>: <column> <type>, …`) they are bound too;
// `-- captured --` holds what was captured last. `\xNN` in a file is that byte; $ROOT stands for the project's folder.
//
// WEIR_UPDATE_GOLDENS=1 rewrites the expected parts; refused where CI is set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>

#include "bind/binder.h"
#include "graph/graph.h"
#include "project/cache.h"
#include "project/judge.h"
#include "project/project.h"
#include "support/loaded_project.h"
#include "text/render.h"

namespace weir {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Case {
  std::string before;  // everything up to and with the marker of the expected part
  bool strict = false;
  std::map<std::string, std::string> models;
  /// Columns of tables that no model makes, and those that were captured. With the former a project is bound too.
  std::optional<std::string> sources;
  std::string captured;
  std::string expected;
};

/// The name in a line `-- <name> --`, if it is one that divides a case.
std::string marker(const std::string& line) {
  if (!line.starts_with("-- ") || !line.ends_with(" --") || line.size() < 7) return "";
  const auto name = line.substr(3, line.size() - 6);
  const bool is_file = name == "weir.yaml" ||
                       ((name.starts_with("models/") || name.starts_with("tests/") || name.starts_with("more/")) &&
                        name.ends_with(".sql"));
  const bool is_part = name == "strict" || name == "expect" || name == "sources" || name == "captured";
  return is_part || is_file ? name : "";
}

Case read_case(const fs::path& path) {
  Case made;
  std::istringstream lines(read_file(path));
  std::string* part = nullptr;
  for (std::string line; std::getline(lines, line);) {
    const auto name = marker(line);
    if (part != &made.expected) made.before += line + '\n';
    if (name.empty()) {
      if (part != nullptr) *part += line + '\n';
    } else if (name == "strict") {
      made.strict = true;
    } else if (name == "sources") {
      part = &made.sources.emplace();
    } else {
      part = name == "expect" ? &made.expected : name == "captured" ? &made.captured : &made.models[name];
    }
  }
  return made;
}

Config config_of(bool strict) {
  Config config;
  config.root = "/project";
  config.models = {"models"};
  config.strict = strict;
  config.lakes.push_back({.name = "main"});
  config.lakes.push_back({.name = "sales"});
  config.databases["crm"] = {};
  config.databases["server"] = {.kind = DatabaseLocation::Kind::Postgres};
  return config;
}

std::string judge(const Case& given) {
  const auto config = config_of(given.strict);
  Diagnostics all;
  for (const auto& [path, text] : given.models) {
    auto source = std::make_shared<Source>();
    source->path = path;
    source->text = text;
    const auto name = path.substr(7, path.size() - 7 - 4);
    auto judgement = judge_file(source, name, config);
    EXPECT_EQ(judgement.blanked_sql.size(), text.size()) << path;
    all.insert(all.end(), judgement.diagnostics.begin(), judgement.diagnostics.end());
  }
  text::sort_diagnostics(all);
  return text::render_text(all, [&](std::string_view path) -> std::optional<std::string_view> {
    const auto found = given.models.find(std::string(path));
    if (found == given.models.end()) return std::nullopt;
    return found->second;
  });
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// `\xNN` as the byte it names.
std::string with_bytes(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "\\x") != 0 || i + 4 > text.size()) {
      bytes += text[i];
      continue;
    }
    bytes += static_cast<char>(std::stoi(text.substr(i + 2, 2), nullptr, 16));
    i += 3;
  }
  return bytes;
}

constexpr const char* kConfig =
    "lakes:\n  main: {catalog: lake/main.sqlite, data: lake/main}\n  sales: {catalog: lake/sales.sqlite, data: "
    "lake/sales}\ndatabases: {crm: \"sqlite:crm.db\"}\n";

/// `ducklake://main/main.orders: id INTEGER, name VARCHAR`, one a line.
bind::KnownSchemas schemas_of(const std::string& text, std::optional<std::int64_t> version) {
  bind::KnownSchemas schemas;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.find(": ");
    bind::KnownSchema& schema = schemas[line.substr(0, colon)];
    schema.version = version;
    if (version) schema.captured = "2026-11-30T10:00:00Z";
    std::istringstream columns(line.substr(colon + 2));
    for (std::string column; std::getline(columns >> std::ws, column, ',');) {
      const auto blank = column.find(' ');
      schema.columns.push_back({column.substr(0, blank), column.substr(blank + 1)});
    }
  }
  return schemas;
}

/// What `weir check` finds before it opens a lake; with `-- sources --`, what it finds when the lakes hold these.
Diagnostics check(const Case& given, const std::string& root) {
  // Never destroyed: at the end of the process DuckDB's own thread state is gone before statics are.
  static TestParser* const parser = new TestParser;
  ParseCache cache("");
  auto project = load_project(root, *parser, {}, cache);
  if (!project) return project.error();
  Diagnostics all = project->diagnostics;
  if (has_errors(all)) return all;
  auto graph = Graph::link(project->models);
  if (!graph) {
    all.insert(all.end(), graph.error().begin(), graph.error().end());
    return all;
  }
  if (!given.sources) return all;
  bind::Binder binder({.threads = 1});
  bind::Surroundings surroundings;
  surroundings.sources = schemas_of(*given.sources, std::nullopt);
  surroundings.captured = [&given] { return schemas_of(given.captured, 3); };
  const auto bound = binder.bind(*project, *graph, surroundings);
  const Diagnostics& found = bound ? bound->diagnostics : bound.error();
  all.insert(all.end(), found.begin(), found.end());
  text::sort_diagnostics(all);
  return all;
}

std::string judge_project(const Case& given) {
  std::map<std::string, std::string> files{{"weir.yaml", kConfig}};
  for (const auto& [path, text] : given.models) files[path] = with_bytes(text);
  LoadedProject project;
  fs::create_directories(project.root_ + "/models");
  for (const auto& [path, text] : files) project.put(path, text);
  const auto source = [&](std::string_view path) -> std::optional<std::string_view> {
    const auto found = files.find(std::string(path));
    if (found == files.end()) return std::nullopt;
    return found->second;
  };
  return replaced(text::render_text(check(given, project.root_), source), project.root_, "$ROOT");
}

std::vector<std::string> case_names(const char* below = "") {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(WEIR_CASES) / below))
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

bool updates_goldens() { return std::getenv("WEIR_UPDATE_GOLDENS") != nullptr; }

class DiagnosticsCase : public testing::TestWithParam<std::string> {};

TEST_P(DiagnosticsCase, SaysExactlyThis) {
  const auto path = fs::path(WEIR_CASES) / (GetParam() + ".txt");
  const auto given = read_case(path);
  ASSERT_TRUE(given.before.starts_with("# claim: ")) << "a case begins with its claim";
  ASSERT_FALSE(given.models.empty());
  const auto said = judge(given);
  if (updates_goldens()) {
    ASSERT_EQ(std::getenv("CI"), nullptr) << "goldens are not rewritten where CI is set";
    std::ofstream(path, std::ios::binary) << given.before << said;
    return;
  }
  EXPECT_EQ(said, given.expected);
}

Diagnostics judge_one(const std::string& path, const std::string& text, bool strict) {
  auto source = std::make_shared<Source>();
  source->path = path;
  source->text = text;
  return judge_file(source, path.substr(7, path.size() - 7 - 4), config_of(strict)).diagnostics;
}

// An editor offers the suggestion as one click, so it must be an edit, and the edit must be the cure.
TEST_P(DiagnosticsCase, WhatIsSuggestedAsANameIsAnEditThatCuresIt) {
  const auto given = read_case(fs::path(WEIR_CASES) / (GetParam() + ".txt"));
  for (const auto& [path, text] : given.models) {
    for (const Diagnostic& found : judge_one(path, text, given.strict)) {
      const bool names_one = found.hint.starts_with("did you mean") && found.hint.find(", ") == std::string::npos;
      if (!names_one) continue;
      ASSERT_TRUE(found.fix) << found.message;
      std::string cured = text;
      cured.replace(found.fix->span.begin, found.fix->span.size(), found.fix->replacement);
      for (const Diagnostic& left : judge_one(path, cured, given.strict))
        EXPECT_FALSE(left.code == found.code && left.span.begin == found.span.begin) << found.message << "\n" << cured;
    }
  }
}

class ProjectCase : public testing::TestWithParam<std::string> {};

TEST_P(ProjectCase, SaysExactlyThis) {
  const auto path = fs::path(WEIR_CASES) / "project" / (GetParam() + ".txt");
  const auto given = read_case(path);
  ASSERT_TRUE(given.before.starts_with("# claim: ")) << "a case begins with its claim";
  const auto said = judge_project(given);
  if (updates_goldens()) {
    ASSERT_EQ(std::getenv("CI"), nullptr) << "goldens are not rewritten where CI is set";
    std::ofstream(path, std::ios::binary) << given.before << said;
    return;
  }
  EXPECT_EQ(said, given.expected);
}

INSTANTIATE_TEST_SUITE_P(All, ProjectCase, testing::ValuesIn(case_names("project")),
                         [](const auto& info) { return info.param; });

INSTANTIATE_TEST_SUITE_P(All, DiagnosticsCase, testing::ValuesIn(case_names()),
                         [](const auto& info) { return info.param; });

TEST(Diagnostics, EveryCodeOfHeadersHasACase) {
  std::string all;
  for (const auto& name : case_names()) all += read_case(fs::path(WEIR_CASES) / (name + ".txt")).expected;
  for (const auto code : all_codes()) {
    const auto name = name_of(code);
    // W0153 to W0159 are about values that a run is given, not about headers.
    if (!name.starts_with("W01") || (name >= "W0153" && name <= "W0159")) continue;
    EXPECT_NE(all.find(' ' + std::string(name) + ": "), std::string::npos)
        << name << " has no case under tests/diagnostics/cases";
  }
}

// A place, `file:line:column`, stands before the severity; the whole file is meant where that is what is wrong.
TEST(Diagnostics, EveryCodeOfConfigurationShapeAndReferencesHasACaseWithItsPlace) {
  std::string all;
  for (const auto& name : case_names("project"))
    all += read_case(fs::path(WEIR_CASES) / "project" / (name + ".txt")).expected;
  const std::set<std::string_view> without_a_case = {
      "W0001",  // there is no project
      "W0299",  // a fault of weir's own
      "W5420",  // the same: placing leads no write of an environment to another one's lake
      "W6611",  // somebody writes while a person reads the question at a terminal
  };
  const std::set<std::string_view> of_the_whole_file = {"W0010", "W0202"};
  for (const auto code : all_codes()) {
    const auto name = name_of(code);
    const bool is_judged_first = name.starts_with("W00") || name.starts_with("W02") || name.starts_with("W03") ||
                                 name == "W2001" || name == "W2003";
    if (!is_judged_first || without_a_case.contains(name)) continue;
    const std::string place = of_the_whole_file.contains(name) ? "[^\n]*" : "[^\n]*:[0-9]+:[0-9]+";
    const std::regex said("(^|\n)" + place + ": (error|warning|hint) " + std::string(name) + ": ");
    EXPECT_TRUE(std::regex_search(all, said)) << name << " has no case with its place under cases/project";
  }
}

TEST(Diagnostics, EveryCodeOfBindingHasACaseWithItsPlace) {
  std::string all;
  for (const auto& name : case_names("project"))
    all += read_case(fs::path(WEIR_CASES) / "project" / (name + ".txt")).expected;
  const std::set<std::string_view> without_a_case = {
      "W2123", "W2160",  // said by commands that look at the lakes and the state
      "W2190",           // a plan that weir cannot follow
  };
  for (const auto code : all_codes()) {
    const auto name = name_of(code);
    if (!name.starts_with("W21") || without_a_case.contains(name)) continue;
    const std::regex said("(^|\n)[^\n]*:[0-9]+:[0-9]+: (error|warning|hint) " + std::string(name) + ": ");
    EXPECT_TRUE(std::regex_search(all, said)) << name << " has no case with its place under cases/project";
  }
}

/// The text of every file below a folder.
std::string text_below(const fs::path& folder) {
  std::string all;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().extension() != ".def") all += read_file(entry.path());
  return all;
}

TEST(Diagnostics, EveryCodeThatIsSaidHasATest) {
  const std::string source = text_below(fs::path(WEIR_SOURCE) / "src");
  const std::string tests = text_below(fs::path(WEIR_SOURCE) / "tests");
  const std::set<std::string_view> without_a_test = {
      "W0299",  // a fault of weir's own
      "W5420",  // the same: placing leads no write of an environment to another one's lake
      "W6611",  // somebody writes while a person reads the question at a terminal
  };
  for (const auto code : all_codes()) {
    const std::string name(name_of(code));
    if (source.find("Code::" + name) == std::string::npos || without_a_test.contains(name)) continue;
    EXPECT_NE(tests.find(name), std::string::npos) << name << " (" << title_of(code) << ") occurs in no test";
  }
}

}  // namespace
}  // namespace weir
