// The lakes of a project inside one DuckDB instance: each attached twice, once READ_ONLY under a reserved name that
// user SQL is spliced to, once read-write under a name with a random part that only publishing code learns. Beside them
// a memory database for stages.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "duck/database.h"
#include "project/asset.h"
#include "project/config.h"

namespace weir::lake {

/// Name of the memory database that holds small stages, deltas and after-image views; visible to every connection.
inline constexpr std::string_view kStageDatabase = "_weir_stage";
/// What the names of attachments begin with that no user SQL leads to: writers, and the catalogs' own tables.
inline constexpr std::array<std::string_view, 4> kClosedPrefixes = {"_weir_w_", "_weir_m_", "_weir_n_", "__ducklake_"};
/// The partition column that weir appends.
inline constexpr std::string_view kPartitionColumn = "_wm_partition";

struct ColumnState {
  std::string name;
  std::string type;  // DuckDB's spelling, as duck::Column
  bool nullable = true;
  std::optional<std::string> default_sql;
  std::optional<std::string> comment;
  friend bool operator==(const ColumnState&, const ColumnState&) = default;
};

/// One table or view of a lake, as of one version.
struct TableState {
  bool exists = false;
  bool is_view = false;
  /// In a fork, a view of weir's shows a parent's rows under the name: nothing of the fork's own exists.
  bool is_deferral = false;
  std::int64_t table_id = 0;
  /// The newest lake version whose changes name this table; compaction, which changes no row, does not count.
  std::int64_t version = 0;
  /// All columns in physical order, the partition column included. Empty for a view: DuckDB binds those.
  std::vector<ColumnState> columns;
  /// Columns of the partition spec (identity transforms) and whether there are others.
  std::vector<std::string> partitioned_by;
  bool has_other_partitioning = false;
  /// Every column that the partition spec uses, whatever the transform.
  std::vector<std::string> partition_columns;
  std::vector<std::string> sorted_by;  // expressions
  std::optional<std::string> comment;
  /// Absolute folder (or s3 prefix) of the table's data files, ending in '/'; where a new table of a plain name will
  /// have it if it does not exist.
  std::string folder;
  /// False for a table whose name is not plain: DuckLake chooses its folder anew on every replace, so it is written by
  /// INSERT.
  bool has_plain_folder = true;
  std::int64_t rows = 0;  // live rows by the files' records and deletes; 0 for a view

  const ColumnState* column(std::string_view name) const;  // without case
  bool is_partitioned() const;                             // by kPartitionColumn
};

/// One version of a lake.
struct VersionRecord {
  std::int64_t version = 0;
  std::string time;
  std::string author;
  std::string message;
  std::string extra_info;  // JSON of a weir commit record, or what a foreign writer left
  std::string changes;     // DuckLake's own list
  std::int64_t rows_added = 0;
  std::int64_t rows_removed = 0;
};

/// A table or view that lives in a lake.
struct Relation {
  std::string schema;
  std::string name;
  bool is_view = false;
  /// Of a view that shows a parent's rows in a fork: the relation by its reader, schema and name, dotted and without
  /// quotes. Empty for what is the lake's own.
  std::string shows;
};

/// The lock that serialises writers of one lake across processes: flock on a file beside a SQLite catalog, an advisory
/// lock on a connection of its own for PostgreSQL. Released on destruction.
class LakeLock {
 public:
  virtual ~LakeLock() = default;
  /// False if the connection that holds it was lost: roll back.
  virtual bool is_held() = 0;
};

/// Waits for the writers' lock of a lake, attached or not. Errors: as Lake::lock().
Result<std::unique_ptr<LakeLock>> lock_of(const LakeConfig& lake, const std::atomic<bool>& stop);

/// One attached lake. Threads: const members are safe; connections are the caller's.
class Lake {
 public:
  const LakeConfig& config() const { return config_; }
  const std::string& name() const { return config_.name; }
  /// False for a lake that no run has made yet: it reads as empty, its reader is an empty database, and it has no
  /// version but 0.
  bool exists() const { return exists_; }
  /// Absolute folder or prefix of the data files, ending in '/'.
  const std::string& data_folder() const { return data_folder_; }

  /// The relation for reading, under the reserved READ_ONLY attachment.
  duck::TableName readable(const std::string& schema, const std::string& table) const {
    return {reader_, schema, table};
  }
  /// The relation for writing.
  duck::TableName writable(const std::string& schema, const std::string& table) const {
    return {writer_, schema, table};
  }
  const std::string& reader() const { return reader_; }
  const std::string& writer() const { return writer_; }
  /// A table of the metadata database (`ducklake_snapshot`, …), read only.
  duck::TableName metadata(const std::string& table) const { return {metadata_, config_.metadata_schema, table}; }

  /// The version that the connection's transaction reads (pins it on first use).
  /// Errors: W6003 the lake cannot be read.
  Result<std::int64_t> current_version(duck::Connection& connection) const;

  /// The newest version, whatever the connection's transaction has pinned; of a lake that is read at one version, that
  /// one. Read from the metadata: the first look at
  /// current_version() after a change loads every table of the lake (40 ms of processor time for 1,000). Errors: W6003.
  Result<std::int64_t> newest_version(duck::Connection& connection) const;

  /// The version that a write transaction is based on (pins it on first use): what others commit later is not in it.
  /// Errors: W6003 the lake cannot be read.
  Result<std::int64_t> base_version(duck::Connection& writer) const;

  /// The state of several assets in one look, at version `at` (of current_version, or newest_version); key is
  /// Asset::key(). Every asked asset is in the map.
  Result<std::map<std::string, TableState>> observe(duck::Connection& connection, const std::vector<Asset>& assets,
                                                    std::int64_t at) const;

  /// Newest version per key among versions > `after` that changed a table or view, made it or ended it; and the newest
  /// version of the lake.
  struct Changes {
    std::int64_t newest = 0;
    std::map<std::string, std::int64_t> tables;
    /// Of those, the newest version that carries no commit record: somebody else's.
    std::map<std::string, std::int64_t> foreign;
    /// Every table and view that lives now, with the version that made it (a table that is made anew is another table).
    std::map<std::string, std::int64_t> made;
  };
  Result<Changes> changes_after(duck::Connection& connection, std::int64_t after) const;

  /// Every table and view that lives now.
  Result<std::vector<Relation>> relations(duck::Connection& connection) const;

  /// Versions whose changes name the asset's table (all of them if nothing), newest first.
  Result<std::vector<VersionRecord>> history(duck::Connection& connection, const std::optional<Asset>& asset,
                                             std::size_t limit) const;

  /// Versions after `after` whose extra_info is a weir commit record, oldest first.
  Result<std::vector<VersionRecord>> commits_after(duck::Connection& connection, std::int64_t after) const;

  /// The version whose commit record carries `token`, among versions > `after`. Nothing: that commit did not happen.
  Result<std::optional<std::int64_t>> version_of_token(duck::Connection& connection, const std::string& token,
                                                       std::int64_t after) const;

  /// Waits for the writers' lock, at most until `stop` turns true (checked every 20 ms).
  /// Errors: W6103 interrupted while waiting, W6004 the lock cannot be taken (with the reason).
  Result<std::unique_ptr<LakeLock>> lock(const std::atomic<bool>& stop) const;

  /// Removes Parquet files under the data folder whose name starts with `prefix` and that the catalog does not know.
  /// Requires: lake lock held. Returns how many.
  Result<std::int64_t> remove_files(duck::Connection& connection, const std::string& prefix) const;
  /// Removes DuckLake's files in `folder` (nothing if empty) that are not older than `since` (system clock, seconds)
  /// and unknown to the catalog: what is left of a failed write. Never a stage, which may belong to a live run.
  /// Requires: lake lock held.
  Result<std::int64_t> remove_strays(duck::Connection& connection, const std::string& folder, std::int64_t since) const;

 private:
  friend class Lakes;
  LakeConfig config_;
  std::string reader_;
  std::string writer_;
  std::string metadata_;
  std::string data_folder_;
  bool exists_ = false;
};

/// A configured database opened for writing, for models that deliver into it.
struct Outlet {
  DatabaseLocation::Kind kind = DatabaseLocation::Kind::DuckDb;
  /// Its read-write attachment: a name that no user SQL leads to, with a random part unless models read through it too.
  std::string attachment;
  /// What may be printed.
  std::string shown;

  duck::TableName table(const std::string& schema, const std::string& name) const { return {attachment, schema, name}; }
};

/// Opens the instance and attaches lakes on demand.
class Lakes {
 public:
  struct Options {
    std::string extension_folder;
    bool write = false;  // attach the writers too; creates a lake that does not exist
    /// Afterwards the instance reaches no file outside the project, its lakes, storages and `allow_paths`, nor can it
    /// be told to again.
    bool confined = false;
    /// Names of configured databases that are written to, see outlet().
    std::set<std::string> outlets = {};
    /// Ends waiting for another process that creates the lake, when given.
    const std::atomic<bool>* stop = nullptr;
  };
  /// Attaches every lake of the configuration, the stage database, and the configured databases read-only.
  /// Errors: W6001 catalog cannot be opened (read-only, not a lake, no such server), W6002 made by a newer format,
  /// W6005 data path not writable, W9001 an extension is missing or not the verified file.
  static Result<std::unique_ptr<Lakes>> open(const Config& config, const Options& options);

  duck::Database& database() { return *database_; }
  Result<duck::Connection> connect();
  /// Requires: a configured name (without case).
  const Lake& lake(std::string_view name) const;
  const std::vector<Lake>& all() const { return lakes_; }

  /// Attaches what `ATTACH '<uri>' AS alias` of a manual script means, as a real attachment: a lake read-write, a
  /// configured database read-only, `:memory:`, or a database file read-only. Requires: an instance that only this
  /// script uses, a statement that the gate accepted, and the lake's lock. Errors: W6001 it cannot be opened.
  Result<void> attach_alias(duck::Connection& connection, const std::string& uri, const std::string& alias);
  /// Closes the way to files outside the project, for good, where opening did not (Options::confined). Requires: all
  /// that lies on PostgreSQL is attached, because DuckDB attaches none afterwards. Errors: W6001 DuckDB refuses.
  Result<void> confine(const Config& config);
  /// The relation of a configured database, attached READ_ONLY under a reserved name when first asked for. Requires: a
  /// configured name. Errors: W6006 the database cannot be opened. Threads: safe.
  Result<duck::TableName> datatable(const std::string& place, const std::string& schema, const std::string& table);
  /// The database opened read-write, when first asked for; a file that is not there yet is made by the first write.
  /// Requires: it is among Options::outlets. A DuckDB file is then read through this attachment too, as the engine
  /// opens a file once. Errors: W6502 it cannot be opened or is read-only. Threads: safe.
  Result<Outlet> outlet(const std::string& place);
  /// Waits until no other delivery of this instance looks or writes there, where that would disturb it; the
  /// turn ends with the returned lock. Threads: safe.
  std::unique_lock<std::mutex> take_turn(const Outlet& outlet);

 private:
  Lakes() = default;
  Result<void> prepare(const Config& config, const Options& options);
  Result<void> attach(duck::Connection& connection, Lake& lake, const Options& options);
  Result<void> attach_databases();
  Result<std::string> attach_database(const std::string& place);
  void guard_files(const Config& config);
  Result<std::string> attach_outlet(const std::string& place);
  Result<void> load(const std::vector<std::string>& names);
  Result<void> attach_reader(duck::Connection& connection, Lake& lake, const std::optional<std::string>& moved);
  Result<void> attach_writer(duck::Connection& connection, Lake& lake, const std::optional<std::string>& moved);
  Result<void> create(duck::Connection& connection, Lake& lake, const Options& options);
  Result<std::optional<std::string>> moved_data(duck::Connection& connection, const Lake& lake);

  std::shared_ptr<duck::Database> database_;
  Result<duck::Sql> type_option(const DatabaseLocation& location);

  std::string extension_folder_;
  std::set<std::string> loaded_;
  std::vector<Lake> lakes_;
  std::map<std::string, DatabaseLocation> databases_;
  std::mutex mutex_;  // guards attached_databases_ and attached_outlets_
  std::map<std::string, std::string> attached_databases_;
  std::set<std::string> writable_databases_;
  std::map<std::string, std::string> attached_outlets_;
  std::map<std::string, Diagnostics> closed_outlets_;
  std::map<std::string, std::mutex> turns_;
  std::map<std::string, Diagnostics>
      closed_databases_;  // those that could not be attached before the instance was confined
};

/// A simple name for a reserved attachment: `prefix` and the name in lower case, where '_' is doubled and every byte
/// other than a letter or digit becomes `_x` and two hex digits, so that different names stay different.
std::string reserved_name(std::string_view prefix, std::string_view name);

/// The statement by which a program other than weir attaches the lake under the name that views in forks know it by.
/// Holds no password.
std::string attach_statement(const Lake& lake);

/// Hides what looks like a password or key in text that may hold connection strings.
std::string mask_secrets(std::string text);

/// Turns a DuckDB failure about a lake into a diagnostic with secrets masked.
Diagnostic explain(Code code, const std::string& doing, const duck::Failure& failure);

}  // namespace weir::lake
