// Bad headers and the exact words they earn. Each file under cases/ holds models and the expected diagnostics:
//
//   # claim: what this case shows
//   -- strict --            (optional: judged with strict: true)
//   -- models/a.sql --
//   …
//   -- expect --
//   …
//
// WEIR_UPDATE_GOLDENS=1 rewrites the expected parts; refused where CI is set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "project/judge.h"
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
  std::string expected;
};

/// The name in a line `-- <name> --`, if it is one that divides a case.
std::string marker(const std::string& line) {
  if (!line.starts_with("-- ") || !line.ends_with(" --") || line.size() < 7) return "";
  const auto name = line.substr(3, line.size() - 6);
  return name == "strict" || name == "expect" || (name.starts_with("models/") && name.ends_with(".sql")) ? name : "";
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
    } else {
      part = name == "expect" ? &made.expected : &made.models[name];
    }
  }
  return made;
}

Config config_of(bool strict) {
  Config config;
  config.strict = strict;
  config.lakes.push_back({.name = "main"});
  config.lakes.push_back({.name = "sales"});
  config.databases["crm"] = {};
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

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(WEIR_CASES))
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

}  // namespace
}  // namespace weir
