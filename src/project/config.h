// weir.yaml, read and judged: every key known, every value of its type, every path absolute, every ${NAME} resolved.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace weir {

/// A place that keeps tables: `sqlite:` path, `postgres://` connection string, or `duckdb:` path.
struct DatabaseLocation {
  enum class Kind { Sqlite, Postgres, DuckDb } kind = Kind::Sqlite;
  /// Absolute path, or a libpq connection string (holds the password: never print it).
  std::string target;
  /// What may be printed.
  std::string shown;
};

struct LakeConfig {
  std::string name;
  DatabaseLocation catalog;
  /// Absolute folder or s3:// prefix, no trailing slash.
  std::string data;
  std::optional<std::string> retention;
  /// Schema of a PostgreSQL database that holds the catalog's tables; empty: the database's own default.
  std::string metadata_schema;
  /// Set for the fork of a lake: the lake of weir.yaml, and the environment whose fork it is.
  std::string fork_of;
  std::string environment;
  /// Never written, whatever a command asks for.
  bool is_read_only = false;
  /// Of a fork: tables that grow start from a copy of the parents' rows.
  bool copies = false;
  /// Read at this version for ever; 0: before there was anything.
  std::optional<std::int64_t> version;
};

struct Config {
  /// Absolute path of the project folder.
  std::string root;
  std::string name;
  bool strict = false;
  std::vector<std::string> models;  // relative roots
  std::vector<std::string> tests;
  std::vector<LakeConfig> lakes;  // the first is the default
  std::map<std::string, DatabaseLocation> databases;
  std::map<std::string, std::string> storages;
  /// Secret name -> its options, values resolved. Never printed.
  std::map<std::string, std::map<std::string, std::string>> secrets;
  DatabaseLocation state;
  struct Environment {
    std::string from = "prod";
    std::vector<std::string> shared;
  };
  std::map<std::string, Environment> environments;
  bool audit_after = false;
  int jobs = 2;
  std::string memory;
  int threads = 0;
  std::string temp_folder;
  std::string temp_limit;
  std::vector<std::string> allow_paths;  // absolute, or the single word "any"
  bool contracts_are_errors = false;
  bool always_commit = false;
  bool samples = true;
  std::vector<std::string> private_columns;

  /// Nothing if there is no such lake (names compare without case).
  const LakeConfig* lake(std::string_view name) const;
  const LakeConfig& default_lake() const { return lakes.front(); }
};

/// Where a storage URI of the project lies: `s3:///key` in the storage `default`, `s3://name/key` in the storage
/// `name`. Nothing for anything else, real buckets among it.
std::optional<std::string> storage_path(const Config& config, std::string_view uri);

/// Finds weir.yaml from `folder` upwards and returns its folder.
/// Errors: W0001 none found.
Result<std::string> find_project(const std::string& folder);

/// Reads `root`/weir.yaml and `root`/.env. `warnings` receives what does not stop the work.
/// Errors: W0002 not readable or not YAML, W0003 unknown key (with a suggestion), W0004 wrong type or value, W0005
/// unset variable, W0006 unsupported catalog.
Result<Config> load_config(const std::string& root, Diagnostics& warnings);
/// The same from a text that stands for the file, when there is one.
Result<Config> load_config(const std::string& root, Diagnostics& warnings, const std::optional<std::string>& text);

}  // namespace weir
