// Judges a text, for tests.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "project/judge.h"

namespace weir {

inline Config test_config() {
  Config config;
  config.root = "/project";
  config.lakes.push_back({.name = "main"});
  config.lakes.push_back({.name = "w"});
  config.databases["crm"] = {};
  return config;
}

inline Judgement judged(const std::string& text, const std::string& path = "a") {
  auto source = std::make_shared<Source>();
  source->path = "models/" + path + ".sql";
  source->text = text;
  return judge_file(source, path, test_config());
}

inline std::vector<std::string> codes(const Judgement& judgement) {
  std::vector<std::string> names;
  for (const auto& found : judgement.diagnostics) names.emplace_back(name_of(found.code));
  std::sort(names.begin(), names.end());
  return names;
}

using Names = std::vector<std::string>;

}  // namespace weir
