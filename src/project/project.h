// A whole project, compiled as far as parsing goes: configuration, models, custom tests, and everything there is to say
// about them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "duck/database.h"
#include "project/config.h"
#include "project/model.h"

namespace weir {

class ParseCache;

struct Project {
  Config config;
  /// Sorted by path. Files with errors are missing here; their diagnostics say why.
  std::vector<Model> models;
  std::vector<CustomTest> custom_tests;
  /// Sorted by path.
  std::vector<MacroLibrary> libraries;
  /// Assets that files with errors would produce, by Asset::key(), with the model's path: they are no sources.
  std::map<std::string, std::string> broken;
  /// Models whose own files have errors, as far as their headers tell: they can be named and selected, never run.
  /// Sorted by path.
  std::vector<Model> broken_models;
  /// Path of a model that is right itself -> the test script or library with errors that it uses.
  std::map<std::string, std::string> held_up;
  /// All files, models or not, so that any diagnostic can show its line.
  std::vector<std::shared_ptr<const Source>> sources;
  /// Everything found in all files, sorted by path and position. May hold errors: `check` prints them all, `run`
  /// refuses.
  Diagnostics diagnostics;

  const Source* source(std::string_view path) const;
};

/// Opens DuckDB only when something is not in the cache.
class ParserProvider {
 public:
  virtual ~ParserProvider() = default;
  virtual duck::Outcome<duck::Connection*> connection() = 0;
  /// One more connection to the same instance, for a thread of its own; nothing if there is none to be had.
  /// Requires: connection() succeeded.
  virtual std::optional<duck::Connection> another() { return std::nullopt; }
};

/// What an editor holds and has not saved, by path relative to the project folder: each text stands for the file of its
/// path, whether or not there is one on disk.
using OpenTexts = std::map<std::string, std::string>;

/// Discovers, reads, parses and judges every file of the project. Results per file are kept in `.weir/cache` by content
/// hash; an unchanged project starts no DuckDB. Errors only for what prevents looking at all (configuration, unreadable
/// folder).
Result<Project> load_project(const std::string& root, ParserProvider& parser);
/// The same with open texts in place of their files. `cache` outlives the call and is not written to disk: a text that
/// is being typed is nobody else's.
Result<Project> load_project(const std::string& root, ParserProvider& parser, const OpenTexts& open, ParseCache& cache);
/// A project of these texts alone, below the folders that `config` names; nothing is read from disk. For what was
/// deployed.
Result<Project> load_texts(const Config& config, ParserProvider& parser, const OpenTexts& texts, ParseCache& cache);

/// What is wrong with a broken model: the errors of its file, or W2005 where they are said of another. Never empty.
Diagnostics errors_of(const Project& project, const Model& broken);

/// Finds one model by path or unique short name.
/// Errors: W2010 unknown (with the nearest names), W2011 ambiguous (lists the candidates), those of a broken one.
Result<const Model*> find_model(const Project& project, std::string_view name);

/// The macro libraries that a model calls or uses, and those that these use.
std::vector<const MacroLibrary*> libraries_of(const Project& project, const Model& model);

}  // namespace weir
