// DuckDB behind a few value types: an instance, connections, rows and failures. The only folder that includes duckdb.h.
// Exceptions and raw handles stay inside; every call reports through Outcome.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "duck/sql.h"

namespace weir::duck {

/// Kinds of failure that weir decides by (never by message text). Values are DuckDB's own error types.
enum class FailureType {
  Other,
  Parser,
  Binder,
  Catalog,
  Conversion,
  OutOfRange,
  Constraint,
  OutOfMemory,
  Interrupt,
  Io,
  Permission,
  Refused,  // by Database::guard_files
  Transaction,
  InvalidInput,
  NotImplemented,
  Internal,
  Fatal
};

struct Failure {
  FailureType type = FailureType::Other;
  std::string message;
  /// Byte offset into the statement that was sent, where DuckDB knows it.
  std::optional<std::uint32_t> position;
};

template <class T>
using Outcome = tl::expected<T, Failure>;

struct Column {
  std::string name;
  /// DuckDB's spelling of the logical type, for example "DECIMAL(10,2)" or "STRUCT(a INTEGER)[]".
  std::string type;
  friend bool operator==(const Column&, const Column&) = default;
};

/// A finished, materialised result. Cheap to move. Threads: one at a time.
class Rows {
 public:
  Rows();
  Rows(Rows&&) noexcept;
  Rows& operator=(Rows&&) noexcept;
  ~Rows();

  const std::vector<Column>& columns() const;
  std::size_t size() const;
  /// Rows changed by INSERT, UPDATE or DELETE; the count row of CREATE TABLE AS and COPY.
  std::int64_t changed() const;

  bool is_null(std::size_t row, std::size_t column) const;
  /// The value as text; "" for NULL. Exact for VARCHAR, BLOB-free scalars and integers; cast other types in SQL where
  /// the spelling matters.
  std::string text(std::size_t row, std::size_t column) const;
  /// Requires an integer, boolean, DECIMAL or floating column; 0 for NULL.
  std::int64_t integer(std::size_t row, std::size_t column) const;
  bool boolean(std::size_t row, std::size_t column) const { return integer(row, column) != 0; }
  double real(std::size_t row, std::size_t column) const;
  std::optional<std::string> maybe_text(std::size_t row, std::size_t column) const {
    if (is_null(row, column)) return std::nullopt;
    return text(row, column);
  }

 private:
  friend class Connection;
  struct Body;
  std::unique_ptr<Body> body_;
};

struct DatabaseOptions {
  /// Folder that holds `v<version>/<platform>/<name>.duckdb_extension`.
  std::string extension_folder;
  /// DuckDB's spelling ("4GB", "80%"); empty keeps its default.
  std::string memory_limit;
  /// 0: one per core.
  int threads = 0;
  /// Where large operations spill; empty switches spilling off.
  std::string temp_folder;
  std::string temp_limit;
};

/// Arrow's streaming format, or its file format, which has an index at its end.
enum class ArrowForm { Stream, File };
/// Takes the next bytes; false if they cannot be kept.
using ByteSink = std::function<bool(std::string_view bytes)>;

class Connection;

/// A function of every instance that stands around names of files in user SQL (parse/readers.h). It takes a text or a
/// list of texts and gives it back, unless guard_files() has an objection.
constexpr std::string_view kFileGuard = "_weir_file";

/// One in-memory DuckDB instance. Threads: safe; each thread takes its own Connection.
class Database : public std::enable_shared_from_this<Database> {
 public:
  /// Opens an in-memory instance: TimeZone UTC, no autoinstall, no autoload. The variable WEIR_QUERY_LOG names a folder
  /// where DuckDB then logs every statement that it runs.
  static Outcome<std::shared_ptr<Database>> open(const DatabaseOptions& options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Loads one of weir's extensions (`ducklake`, `sqlite_scanner`, `postgres_scanner`, `httpfs`) once. Callers that
  /// must trust the file verify it first (lake/ does, against the record that setup wrote).
  Outcome<void> load(std::string_view extension);
  Outcome<Connection> connect();

  /// From now on a statement fails with FailureType::Refused where kFileGuard meets a name that `objection` has a word
  /// about. Threads: called by those that bind.
  using Objection = std::function<std::optional<std::string>(const std::string& file)>;
  void guard_files(Objection objection);
  /// What guard_files() has against a name.
  std::optional<std::string> objection_to(const std::string& file) const;

  static std::string version();
  /// Path of the file that load() reads for an extension.
  static std::string extension_file(const std::string& extension_folder, std::string_view extension);

 private:
  Database() = default;
  struct Body;
  std::unique_ptr<Body> body_;
};

/// One connection. Threads: one statement at a time; `interrupt` and `progress` may be called from any thread.
class Connection {
 public:
  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) noexcept;
  ~Connection();

  /// Runs one or more statements and returns the rows of the last.
  Outcome<Rows> query(const Sql& sql);
  /// The same where the rows do not matter; returns the number of changed rows.
  Outcome<std::int64_t> execute(const Sql& sql);
  /// Hands what one SELECT returns to `sink`, chunk by chunk while the engine computes. What Arrow has no type for goes
  /// as text (enums, UUIDs, bits, times with a zone), whole numbers of 128 bits as decimals of 38 digits.
  /// A sink that cannot keep the bytes: FailureType::Io.
  Outcome<void> write_arrow(const Sql& query, ArrowForm form, const ByteSink& sink);
  /// The columns the last statement would return, without running it. Requires: exactly one statement.
  Outcome<std::vector<Column>> describe(const Sql& sql);
  /// Database::objection_to of the instance.
  std::optional<std::string> objection_to(const std::string& file) const;
  /// Number of statements DuckDB's parser sees in the text.
  Outcome<std::size_t> count_statements(const Sql& sql);

  /// Stops the running statement; it then fails with FailureType::Interrupt. The connection stays usable.
  void interrupt() const;
  /// Lets progress() answer from the next statement on. Costs a fifth of the time of small statements, because DuckDB
  /// then polls its pipelines all along: only for somebody who watches.
  void tell_progress();
  /// Share done of the running statement, 0 to 1; nothing when unknown or not told.
  std::optional<double> progress() const;

 private:
  friend class Database;
  Connection();
  struct Body;
  std::unique_ptr<Body> body_;
};

/// Rolls back unless told to commit. After an execution error DuckDB reports a COMMIT as done and commits nothing,
/// therefore callers stop at the first failure and let this roll back.
class Transaction {
 public:
  static Outcome<Transaction> begin(Connection& connection);
  Transaction(Transaction&& other) noexcept : connection_(other.connection_) { other.connection_ = nullptr; }
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Outcome<void> commit();
  void rollback();

 private:
  explicit Transaction(Connection& connection) : connection_(&connection) {}
  Connection* connection_;
};

}  // namespace weir::duck
