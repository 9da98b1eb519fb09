// A scenario as its file writes it: a claim, the files of a project, and steps with what they must show.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weir::scenario {

/// One line of the steps, with the lines that belong to it.
struct Step {
  std::size_t line = 0;  // in the file, from 1
  std::string word;      // "weir", "?", "json", …
  std::string rest;      // what follows, comment taken off
  std::optional<int> exit;
  bool any_exit = false;
  std::vector<std::string> rows;
  bool expects_no_rows = false;
  std::vector<Step> inner;  // of `parallel { … }`
};

struct Scenario {
  std::string path;
  std::string claim;
  /// Empty: every catalog.
  std::vector<std::string> catalogs;
  std::map<std::string, std::string> files;
  /// Lines to add to the configuration that the runner writes.
  std::string more_configuration;
  std::vector<Step> steps;

  bool runs_on(const std::string& catalog) const;
};

/// Reads one file. On failure `problem` says what is wrong with it.
std::optional<Scenario> read_scenario(const std::string& path, std::string& problem);

/// Splits a command line as a shell would: words, '…' as is, "…" with backslash escapes.
std::vector<std::string> split_words(const std::string& line);
/// Resolves \n, \t, \r, \0, \xHH and \\.
std::string unescape(const std::string& text);

}  // namespace weir::scenario
