// A temporary project with one lake `main`, opened for writing: what tests of everything above the lake start from.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lake/lakes.h"

namespace weir::test {

/// A folder that is removed with this object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// An empty database on the test server, emptied with this object.
class TemporaryDatabase {
 public:
  /// Nothing if the environment offers no server: WEIR_TEST_POSTGRES_FILE holds the path of a file with a connection
  /// string.
  static std::unique_ptr<TemporaryDatabase> make();
  ~TemporaryDatabase();
  TemporaryDatabase(const TemporaryDatabase&) = delete;
  TemporaryDatabase& operator=(const TemporaryDatabase&) = delete;
  const std::string& target() const { return target_; }

 private:
  TemporaryDatabase() = default;
  std::string server_;
  std::string name_;
  std::string target_;
};

class TestLake {
 public:
  enum class Catalog { Sqlite, Postgres };
  /// Aborts the test program with the diagnostics if the lake cannot be opened. For Postgres ask has_postgres() first.
  explicit TestLake(Catalog catalog = Catalog::Sqlite);

  static bool has_postgres();

  const std::string& root() const { return folder_.path(); }
  /// A path inside the project folder.
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  Config& config() { return config_; }
  lake::Lakes& lakes() { return *lakes_; }
  const lake::Lake& main() const { return lakes_->lake("main"); }
  duck::Connection connect();
  /// Opens the project once more in an instance of its own, as another command would.
  std::unique_ptr<lake::Lakes> open_again(bool write = true) const;
  /// Runs SQL that must work and returns its rows.
  duck::Rows run(duck::Connection& connection, const duck::Sql& sql) const;
  /// The values of a query as text, columns joined by '|', rows by ' '; "NULL" for NULL.
  std::string values(duck::Connection& connection, const duck::Sql& sql) const;

 private:
  TemporaryFolder folder_;
  std::unique_ptr<TemporaryDatabase> database_;
  Config config_;
  std::unique_ptr<lake::Lakes> lakes_;
};

/// The messages of diagnostics, one a line, for assertions.
std::string messages(const Diagnostics& diagnostics);

}  // namespace weir::test
