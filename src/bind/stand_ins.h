// An in-memory DuckDB that holds an empty table in place of each asset: names, types and stars are resolved by the
// engine itself, and nothing is read. Tables, not views: DuckDB would look through a view, and lineage stops at assets.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bind/binder.h"
#include "duck/database.h"

namespace weir::bind {

using SharedColumns = std::shared_ptr<const Columns>;

/// Threads: one at a time; connections made by connect() may be used beside it.
class StandIns {
 public:
  /// Loads no extension. With a configuration it reaches the same files as a run of the project, for the columns of
  /// files and for setup that reads them. Errors: W2106 the engine cannot be started.
  /// `database`: an instance to work in that nothing else needs any more but for parsing; null: one of its own.
  static Result<std::unique_ptr<StandIns>> open(const Config* config,
                                                std::shared_ptr<duck::Database> database = nullptr);

  duck::Connection& connection() { return *connection_; }
  /// A connection of its own, for a model whose setup makes temporary objects.
  duck::Outcome<duck::Connection> connect();

  /// Makes the tables that are not there yet, in one transaction. Returns the names of those that the engine refuses (a
  /// type that it does not know). Requires: one name, one list of columns.
  std::vector<std::string> ensure(const std::vector<std::pair<std::string, SharedColumns>>& tables);

 private:
  StandIns() = default;
  std::shared_ptr<duck::Database> database_;
  std::unique_ptr<duck::Connection> connection_;
  std::set<std::string> made_;
};

/// The statement that makes a stand-in.
duck::Sql create_stand_in(const std::string& name, const Columns& columns);

/// Binds expressions over one table of these columns.
duck::Outcome<std::vector<BoundExpression>> bind_over(StandIns& stand_ins, const Columns& columns,
                                                      const std::vector<std::string>& texts);

}  // namespace weir::bind
