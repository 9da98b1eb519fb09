// libpq behind a value: the few questions that must not go through DuckDB, and the session that holds an advisory lock.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

struct pg_conn;

namespace weir::lake {

/// One session. Threads: one call at a time.
class PostgresSession {
 public:
  struct Close {
    void operator()(pg_conn* connection) const;
  };
  /// Connects, to one schema of the database if it is named; on failure the server's reason (holds no password).
  static tl::expected<PostgresSession, std::string> open(const std::string& target, const std::string& schema = {});
  /// The first value of the first row, nothing for no row or NULL; on failure the server's reason.
  tl::expected<std::optional<std::string>, std::string> ask(const char* fixed_sql);
  /// A name as SQL has it.
  std::string quoted(const std::string& name);
  /// All rows as text; on failure the server's reason.
  tl::expected<std::vector<std::vector<std::optional<std::string>>>, std::string> rows(const char* fixed_sql);
  /// False once the session is known to be lost.
  bool is_alive();

 private:
  std::unique_ptr<pg_conn, Close> connection_;
};

}  // namespace weir::lake
