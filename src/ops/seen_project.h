// What a check that found nothing saw of a project, file by file: kept in one file that is read at once.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bind/bound.h"
#include "io/files.h"

namespace weir::ops {

struct SeenFile {
  /// From the project's folder.
  std::string path;
  /// All 0 where a later text of the file could have the same: it was changed a moment before.
  io::FileState state;
  /// Of its text.
  std::string hash;
};

/// What others depend on of a model, and what it depends on itself besides its query.
struct SeenModel {
  /// Hash of all of its file that is no statement.
  std::string header;
  /// Hash of the names of tables that its statements spell.
  std::string tables;
  /// Keys of the assets that it reads, and of those under which others read it.
  std::vector<std::string> reads;
  std::vector<std::string> names;
  /// Files of its custom tests.
  std::vector<std::string> tests;
  /// Of the table that it makes.
  bind::Columns columns;
  friend bool operator==(const SeenModel&, const SeenModel&) = default;
};

class SeenProject {
 public:
  /// Hash of what is no file of the project: weir itself, the configuration with the variables that it names.
  std::string surroundings;
  std::size_t models = 0;
  /// Keys of what the lakes were asked for, and the hash of what they said.
  std::vector<std::string> sources;
  std::string columns;
  /// In the order of CleanCheck::look.
  std::vector<SeenFile> files;
  /// Files of macro libraries.
  std::vector<std::string> libraries;

  static std::optional<SeenProject> read(const std::string& file);
  void write(const std::string& file) const;

  void add(const std::string& file, const SeenModel& model);
  /// Nothing for a file that is no model, or whose columns were not known.
  std::optional<SeenModel> model_of(std::string_view file) const;
  /// The models that make one of these assets, with their files.
  std::vector<std::pair<std::string, SeenModel>> makers_of(const std::set<std::string>& names) const;

 private:
  /// Encoded models, decoded when they are asked for: of thousands, a few are.
  std::string bytes_;
};

/// `columns` of it are those of the model's query.
SeenModel seen_model(const Model& model, const Project& project, const std::vector<bind::BoundColumn>& columns);

}  // namespace weir::ops
