// A project in a folder of its own, driven through the built program, and looked at past it: plain DuckDB over the
// lake's catalog, the state store and the files.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "duck/database.h"
#include "process.h"
#include "support/test_lake.h"

namespace weir::faults {

enum class Catalog { Sqlite, Postgres };

struct Ended {
  int code = 0;
  std::string out;
  std::string err;
};

using Environment = std::map<std::string, std::string>;

/// Waits until the process has stopped itself at its failpoint; fails the test if it does not.
void until_stopped(const scenario::Process& process);

class Shop {
 public:
  /// Lake and state on the same kind of database. `more` is added to weir.yaml.
  explicit Shop(Catalog catalog, const std::string& more = {});
  /// False without a test server.
  static bool can(Catalog catalog);

  const std::string& root() const { return folder_.path(); }
  void write(const std::string& path, const std::string& text) const;
  /// Starts weir with the arguments of one line, split at spaces.
  std::unique_ptr<scenario::Process> start(const std::string& line, const Environment& environment = {}) const;
  Ended weir(const std::string& line, const Environment& environment = {}) const;

  /// A new instance with the lake attached read-only (or writable, as a foreign writer has it) as `lake`, and the state
  /// store as `state`.
  duck::Connection look(bool writable = false) const;
  /// Rows of a query on what look() shows, by one instance that stays; columns joined by '|', rows by ' '.
  std::string rows(const std::string& sql) const;
  /// Runs statements as a foreign writer.
  void foreign(const std::string& sql) const;
  /// Takes all slices that are held, and gives them back, as a run elsewhere would that holds their runs for dead.
  void overtake() const;
  /// Drops the state store. Requires: on PostgreSQL.
  void lose_state() const;

  /// What does not agree between lake, state and files; empty when all do. Requires: no weir runs in the project.
  std::string disagreements() const;

 private:
  std::string relation_files() const;
  duck::Connection& watch() const;
  bool has_state() const;
  void attach_state(duck::Connection& connection) const;
  test::TemporaryFolder folder_;
  std::unique_ptr<test::TemporaryDatabase> database_;
  /// Opening an instance costs more than any question asked of it.
  mutable std::unique_ptr<duck::Connection> watching_;
  mutable bool watches_state_ = false;
};

/// SQL names of DuckLake's own tables and of the state's, for queries on look().
inline constexpr const char* kMeta = "__ducklake_metadata_lake";

}  // namespace weir::faults
