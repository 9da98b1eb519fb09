// Opens the instance and attaches the lakes. The order keeps start-up cheap: what is usual costs one ATTACH and one
// small read a lake; only after a failure is the catalog looked at more closely, to say what is wrong without reading
// DuckDB's words.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <filesystem>
#include <set>

#include "io/connection_string.h"
#include "lake/catalog_probe.h"
#include "lake/extensions.h"
#include "lake/lakes.h"
#include "lake/secrets.h"
#include "project/private_files.h"

namespace weir::lake {
namespace {

using duck::Identifier;
using duck::Literal;
using duck::Sql;

bool is_remote(const std::string& path) { return path.find("://") != std::string::npos; }

std::string random_hex() {
  std::uint64_t number = 0;
  // Eight bytes are always given at once.
  while (::getrandom(&number, sizeof number, 0) != sizeof number) continue;
  return fmt::format("{:016x}", number);
}

std::vector<std::string> needed_extensions(const Config& config, bool confined) {
  std::set<std::string> names;
  for (const LakeConfig& lake : config.lakes) {
    names.insert(lake.catalog.kind == DatabaseLocation::Kind::Postgres ? "postgres_scanner" : "sqlite_scanner");
    if (is_remote(lake.data)) names.insert("httpfs");
  }
  for (const auto& [name, path] : config.storages)
    if (is_remote(path)) names.insert("httpfs");
  // A confined instance loads nothing later.
  if (confined)
    for (const auto& [name, database] : config.databases) {
      if (database.kind == DatabaseLocation::Kind::Sqlite) names.insert("sqlite_scanner");
      if (database.kind == DatabaseLocation::Kind::Postgres) names.insert("postgres_scanner");
    }
  if (confined && std::any_of(config.allow_paths.begin(), config.allow_paths.end(), is_remote)) names.insert("httpfs");
  std::vector<std::string> ordered(names.begin(), names.end());
  ordered.insert(ordered.begin(), "ducklake");
  return ordered;
}

/// What ATTACH takes after `ducklake:`.
Literal attach_target(const DatabaseLocation& catalog) {
  const bool postgres = catalog.kind == DatabaseLocation::Kind::Postgres;
  return Literal((postgres ? "ducklake:postgres:" : "ducklake:sqlite:") + catalog.target);
}

Sql reader_options(const LakeConfig& lake, const std::string& metadata) {
  if (lake.catalog.kind == DatabaseLocation::Kind::Postgres) {
    Sql options("METADATA_CATALOG {}", Literal(metadata));
    if (!lake.metadata_schema.empty()) options += Sql(", METADATA_SCHEMA {}", Literal(lake.metadata_schema));
    return options;
  }
  return Sql("METADATA_CATALOG {}, META_BUSY_TIMEOUT 10000", Literal(metadata));
}

// The journal's mode stays with the file. A reader must not ask for it: a lake that was not made here has another, and
// cannot be changed read-only.
Sql writer_options(const LakeConfig& lake, const std::string& metadata) {
  if (lake.catalog.kind == DatabaseLocation::Kind::Postgres) return reader_options(lake, metadata);
  return Sql("{}, META_JOURNAL_MODE 'WAL'", reader_options(lake, metadata));
}

Sql data_path_options(const std::optional<std::string>& moved_to) {
  if (!moved_to) return Sql();
  return Sql(", DATA_PATH {}, OVERRIDE_DATA_PATH true", Literal(*moved_to));
}

Diagnostic about(Code code, const LakeConfig& lake, std::string_view what, std::string hint = {}) {
  return {.code = code,
          .message = fmt::format("lake {}: {}", lake.name, what),
          .path = {},
          .span = {},
          .hint = std::move(hint)};
}

/// Says why a catalog could not be attached, by looking at it.
Diagnostic judge_failure(const LakeConfig& lake, const CatalogProbe& probe, const duck::Failure& failure) {
  switch (probe.kind) {
    case CatalogProbe::Kind::NotALake:
      return about(Code::W6001, lake, fmt::format("{} is a database without a lake in it", lake.catalog.shown),
                   "name another catalog, or an empty one");
    case CatalogProbe::Kind::Lake:
      if (probe.format != kLakeFormat)
        return about(Code::W6002, lake,
                     fmt::format("{} has format {}, this weir reads {}", lake.catalog.shown, probe.format, kLakeFormat),
                     "use the weir that wrote it");
      break;
    case CatalogProbe::Kind::Absent:
    case CatalogProbe::Kind::Unreachable:
      if (!probe.reason.empty())
        return about(Code::W6001, lake, mask_secrets(probe.reason), "check `catalog` of this lake in weir.yaml");
      break;
  }
  return explain(Code::W6001, fmt::format("lake {} ({}) cannot be opened", lake.name, lake.catalog.shown), failure);
}

Result<void> make_folder(const LakeConfig& lake, Code code, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(about(code, lake, fmt::format("{} cannot be made: {}", folder.string(), error.message())));
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return fail(about(code, lake, fmt::format("{} cannot be written", folder.string()),
                      "let the user who runs weir write there"));
  return {};
}

Result<void> check_writable(const LakeConfig& lake) {
  if (!is_remote(lake.data)) WEIR_CHECK(make_folder(lake, Code::W6005, lake.data));
  if (lake.catalog.kind == DatabaseLocation::Kind::Postgres) return {};
  const std::filesystem::path catalog(lake.catalog.target);
  WEIR_CHECK(make_folder(lake, Code::W6001, catalog.parent_path()));
  if (::access(catalog.c_str(), F_OK) == 0 && ::access(catalog.c_str(), W_OK) != 0)
    return fail(about(Code::W6001, lake, fmt::format("{} is read-only", lake.catalog.shown)));
  return {};
}

// True if the catalog was copied together with its files: at the stored place lies another catalog just as this one
// lies to its own files, and the newest file that this one names is among them.
bool is_copy(duck::Connection& connection, const Lake& lake, const LakeConfig& config, const std::string& stored) {
  namespace fs = std::filesystem;
  const bool is_local = config.catalog.kind == DatabaseLocation::Kind::Sqlite && !is_remote(stored);
  if (!is_local || is_remote(lake.data_folder())) return false;
  const fs::path catalog = fs::path(config.catalog.target).lexically_normal();
  const fs::path original = (fs::path(stored) / catalog.lexically_relative(lake.data_folder())).lexically_normal();
  std::error_code error;
  if (!fs::exists(original, error) || fs::equivalent(original, catalog, error) || error) return false;
  const auto files = connection.query(
      Sql("SELECT s.path, s.path_is_relative, t.path, t.path_is_relative, f.path, f.path_is_relative FROM {} AS f JOIN "
          "{} AS t USING (table_id) JOIN {} AS s USING (schema_id) WHERE f.end_snapshot IS NULL AND t.end_snapshot IS "
          "NULL AND s.end_snapshot IS NULL ORDER BY f.data_file_id DESC LIMIT 1",
          lake.metadata("ducklake_data_file"), lake.metadata("ducklake_table"), lake.metadata("ducklake_schema")));
  if (!files) return false;
  if (files->size() == 0) return true;
  fs::path file = lake.data_folder();
  for (std::size_t at = 0; at < 6; at += 2) {
    if (!files->boolean(0, at + 1)) return false;  // it would be read where the other project has it
    file /= files->text(0, at);
  }
  return fs::exists(file, error);
}

}  // namespace

const Lake& Lakes::lake(std::string_view name) const {
  const auto lower = [](unsigned char c) { return c >= 'A' && c <= 'Z' ? static_cast<unsigned char>(c + 32) : c; };
  const auto found = std::find_if(lakes_.begin(), lakes_.end(), [&](const Lake& lake) {
    return std::equal(name.begin(), name.end(), lake.name().begin(), lake.name().end(),
                      [&](char a, char b) { return lower(a) == lower(b); });
  });
  assert(found != lakes_.end());
  return *found;
}

Result<std::unique_ptr<Lakes>> Lakes::open(const Config& config, const Options& options) {
  std::unique_ptr<Lakes> lakes(new Lakes());
  WEIR_CHECK(lakes->prepare(config, options));
  return lakes;
}

Result<void> Lakes::prepare(const Config& config, const Options& options) {
  extension_folder_ = options.extension_folder;
  databases_ = config.databases;
  writable_databases_ = options.outlets;
  const auto names = needed_extensions(config, options.confined);
  WEIR_CHECK(check_extensions(extension_folder_, names));
  auto database =
      duck::Database::open({extension_folder_, config.memory, config.threads, config.temp_folder, config.temp_limit});
  if (!database)
    return fail(explain(Code::W6001, "DuckDB cannot be started with the settings of weir.yaml", database.error()));
  database_ = *database;
  guard_files(config);
  WEIR_CHECK(load(names));
  WEIR_TRY(auto connection, connect());
  if (auto done = connection.execute(Sql("ATTACH ':memory:' AS {}", Identifier(std::string(kStageDatabase)))); !done)
    return fail(explain(Code::W6001, "the stage database cannot be made", done.error()));
  WEIR_CHECK(create_secrets(connection, config, *database_, extension_folder_));
  for (const LakeConfig& one : config.lakes) {
    Lake& lake = lakes_.emplace_back();
    lake.config_ = one;
    WEIR_CHECK(attach(connection, lake, options));
  }
  if (!options.confined) return {};
  WEIR_CHECK(attach_databases());
  return confine(config);
}

// DuckDB can confine to folders only, and the files that are private lie in the project.
void Lakes::guard_files(const Config& config) {
  database_->guard_files([files = PrivateFiles(config)](const std::string& file) -> std::optional<std::string> {
    if (!files.hold(file)) return std::nullopt;
    return "no query may read the file " + file + ", which holds secrets or weir's own books";
  });
}

Result<void> Lakes::load(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (loaded_.contains(name)) continue;
    WEIR_CHECK(load_extensions(*database_, extension_folder_, {name}));
    loaded_.insert(name);
  }
  return {};
}

// DuckDB resolves links and `..` before it compares, and its own temp folder and what is attached stay within reach.
// Measured: nothing brings the access back while the instance lives; SQLite files are attached past it, which the gate
// knows, and PostgreSQL not at all.
Result<void> Lakes::confine(const Config& config) {
  if (std::find(config.allow_paths.begin(), config.allow_paths.end(), "any") != config.allow_paths.end()) return {};
  std::vector<std::string> folders{config.root, config.temp_folder};
  for (const LakeConfig& lake : config.lakes) folders.push_back(lake.data);
  for (const auto& [name, place] : config.storages) folders.push_back(place);
  folders.insert(folders.end(), config.allow_paths.begin(), config.allow_paths.end());
  std::vector<Sql> directories;
  std::vector<Sql> files;
  for (const std::string& folder : folders) {
    if (folder.empty()) continue;
    directories.push_back(Sql("{}", Literal(folder.ends_with('/') ? folder : folder + "/")));
    // An entry of allow_paths may be one file.
    files.push_back(Sql("{}", Literal(folder)));
  }
  for (const auto& [name, database] : config.databases)
    if (database.kind == DatabaseLocation::Kind::DuckDb)
      for (const std::string_view end : {"", ".wal"})
        files.push_back(Sql("{}", Literal(database.target + std::string(end))));
  WEIR_TRY(auto connection, connect());
  for (const Sql& statement :
       {Sql("SET allowed_directories = [{}]", Sql::join(directories, ", ")),
        Sql("SET allowed_paths = [{}]", Sql::join(files, ", ")), Sql("SET enable_external_access = false")})
    if (auto done = connection.execute(statement); !done)
      return fail(explain(Code::W6001, "the instance cannot be confined to the project", done.error()));
  return {};
}

Result<duck::Connection> Lakes::connect() {
  auto connection = database_->connect();
  if (!connection) return fail(explain(Code::W6003, "no connection to DuckDB", connection.error()));
  return std::move(*connection);
}

// A reader never creates. A lake that is missing gets an empty database under its reader's name, so that whoever reads
// a table there is told by DuckDB that the table does not exist, as in any empty lake.
Result<void> Lakes::attach(duck::Connection& connection, Lake& lake, const Options& options) {
  const LakeConfig& config = lake.config_;
  const std::string random = random_hex();
  lake.reader_ = reserved_name("_weir_r_", config.name);
  lake.writer_ = reserved_name("_weir_w_", config.name) + "_" + random;
  lake.metadata_ = reserved_name("_weir_m_", config.name) + "_" + random;
  lake.data_folder_ = config.data + "/";
  const bool write = options.write && !config.is_read_only;
  if (write) WEIR_CHECK(check_writable(config));

  WEIR_TRY(lake.exists_, is_present(config));
  if (config.version == 0) lake.exists_ = false;
  if (!lake.exists_ && write) WEIR_CHECK(create(connection, lake, options));
  if (!lake.exists_) {
    if (auto done = connection.execute(Sql("ATTACH ':memory:' AS {}", Identifier(lake.reader_))); !done)
      return fail(explain(Code::W6001, "no place for the lake " + config.name, done.error()));
    return {};
  }
  WEIR_CHECK(attach_reader(connection, lake, std::nullopt));
  WEIR_TRY(const auto moved, moved_data(connection, lake));
  if (moved) {
    if (auto done = connection.execute(Sql("DETACH {}", Identifier(lake.reader_))); !done)
      return fail(explain(Code::W6001, "the lake " + config.name + " cannot be reopened", done.error()));
    WEIR_CHECK(attach_reader(connection, lake, moved));
  }
  return write ? attach_writer(connection, lake, moved) : Result<void>{};
}

Result<void> Lakes::attach_reader(duck::Connection& connection, Lake& lake, const std::optional<std::string>& moved) {
  const LakeConfig& config = lake.config_;
  const Sql version = config.version ? Sql(", SNAPSHOT_VERSION {}", *config.version) : Sql();
  const Sql attach("ATTACH {} AS {} (READ_ONLY, {}{}{})", attach_target(config.catalog), Identifier(lake.reader_),
                   reader_options(config, lake.metadata_), data_path_options(moved), version);
  auto done = connection.execute(attach);
  if (done) return {};
  if (config.version && connection.execute(Sql("ATTACH {} AS {} (READ_ONLY, {})", attach_target(config.catalog),
                                               Identifier(lake.reader_), reader_options(config, lake.metadata_))))
    return fail(about(Code::W5428, config,
                      fmt::format("version {} is gone, which the environment reads", *config.version),
                      "drop the environment and create it again"));
  auto probe = probe_catalog(config);
  if (probe.kind == CatalogProbe::Kind::NotALake) {
    // Another process may just be making it: that one holds the lock until the lake is there.
    static const std::atomic<bool> never{false};
    if (const auto lock = lake.lock(never)) done = connection.execute(attach);
    if (done) return {};
    probe = probe_catalog(config);
  }
  return fail(judge_failure(config, probe, done.error()));
}

// Inlining is off for every writer of weir, whatever the lake's own option says: its rows would live in the catalog.
Result<void> Lakes::attach_writer(duck::Connection& connection, Lake& lake, const std::optional<std::string>& moved) {
  const LakeConfig& config = lake.config_;
  const std::string metadata = reserved_name("_weir_n_", config.name) + lake.writer_.substr(lake.writer_.rfind('_'));
  const auto done = connection.execute(Sql(
      "ATTACH {} AS {} ({}, CREATE_IF_NOT_EXISTS false, DATA_INLINING_ROW_LIMIT 0{})", attach_target(config.catalog),
      Identifier(lake.writer_), writer_options(config, metadata), data_path_options(moved)));
  if (!done) return fail(judge_failure(config, probe_catalog(config), done.error()));
  return {};
}

// Two commands may find the lake missing at once: the lock decides, and the loser finds it made.
Result<void> Lakes::create(duck::Connection& connection, Lake& lake, const Options& options) {
  const LakeConfig& config = lake.config_;
  static const std::atomic<bool> never{false};
  WEIR_TRY(const auto lock, lake.lock(options.stop != nullptr ? *options.stop : never));
  WEIR_TRY(lake.exists_, is_present(config));
  if (lake.exists_) return {};
  const Identifier maker(lake.writer_ + "_new");
  const auto made = connection.execute(
      Sql("ATTACH {} AS {} ({}, DATA_PATH {}, DATA_INLINING_ROW_LIMIT 0)", attach_target(config.catalog), maker,
          writer_options(config, lake.metadata_ + "_new"), Literal(lake.data_folder_)));
  if (!made) return fail(judge_failure(config, probe_catalog(config), made.error()));
  const auto set = connection.execute(Sql("CALL {}.set_option('data_inlining_row_limit', 0)", maker));
  const auto detached = connection.execute(Sql("DETACH {}", maker));
  if (!set) return fail(explain(Code::W6001, "the new lake " + config.name + " cannot be set up", set.error()));
  if (!detached)
    return fail(explain(Code::W6001, "the new lake " + config.name + " cannot be reopened", detached.error()));
  lake.exists_ = true;
  return {};
}

// DuckLake keeps its data path as it was given at creation, and files relative to it. A lake that was moved as a whole
// is opened with the path of weir.yaml in place of the stored one; but only when the stored place is gone or belongs to
// the project that this one was copied from, because otherwise one of the two is a mistake.
Result<std::optional<std::string>> Lakes::moved_data(duck::Connection& connection, const Lake& lake) {
  const auto rows = connection.query(
      Sql("SELECT value FROM {} WHERE key = 'data_path' AND scope IS NULL", lake.metadata("ducklake_metadata")));
  if (!rows) return fail(explain(Code::W6003, "the lake " + lake.name() + " cannot be read", rows.error()));
  const std::string stored = rows->size() == 0 ? std::string() : rows->text(0, 0);
  std::error_code error;
  if (stored == lake.data_folder_ || std::filesystem::equivalent(stored, lake.data_folder_, error)) {
    if (stored != lake.data_folder_) return std::optional(lake.data_folder_);
    return std::optional<std::string>();
  }
  const bool stored_is_gone = !is_remote(stored) && !std::filesystem::exists(stored, error);
  if (stored_is_gone && (is_remote(lake.data_folder_) || std::filesystem::exists(lake.data_folder_, error)))
    return std::optional(lake.data_folder_);
  if (stored_is_gone && lake.config_.catalog.kind == DatabaseLocation::Kind::Sqlite)
    return std::optional(lake.data_folder_);
  if (is_copy(connection, lake, lake.config_, stored)) return std::optional(lake.data_folder_);
  return fail(about(Code::W6005, lake.config_,
                    fmt::format("its files are in {}, but weir.yaml says {}", stored, lake.config_.data),
                    "if this project is a copy, copy the files to where its `data` says; do not let it name the "
                    "files of the other one, which both would write to. If there is no other one, let `data` name "
                    "the place where the files are"));
}

/// The TYPE option of a database's ATTACH, its extension loaded.
Result<duck::Sql> Lakes::type_option(const DatabaseLocation& location) {
  if (location.kind == DatabaseLocation::Kind::Sqlite) {
    WEIR_CHECK(load({"sqlite_scanner"}));
    return Sql("TYPE sqlite, ");
  }
  if (location.kind == DatabaseLocation::Kind::Postgres) {
    WEIR_CHECK(load({"postgres_scanner"}));
    return Sql("TYPE postgres, ");
  }
  return Sql();
}

// A database that does not answer stops only who reads it.
Result<void> Lakes::attach_databases() {
  for (const auto& [place, location] : databases_) {
    if (location.kind != DatabaseLocation::Kind::Postgres) continue;
    if (auto attached = attach_database(place); !attached)
      closed_databases_.emplace(place, std::move(attached).error());
    if (!writable_databases_.contains(place)) continue;
    if (auto attached = attach_outlet(place); !attached) closed_outlets_.emplace(place, std::move(attached).error());
  }
  return {};
}

/// The name of its attachment.
Result<std::string> Lakes::attach_database(const std::string& place) {
  const DatabaseLocation& location = databases_.at(place);
  const bool is_shared = location.kind == DatabaseLocation::Kind::DuckDb && writable_databases_.contains(place);
  if (std::error_code error; is_shared && std::filesystem::exists(location.target, error)) {
    WEIR_TRY(attached_databases_[place], attach_outlet(place));
    return attached_databases_[place];
  }
  const std::string name = reserved_name("_weir_d_", place);
  WEIR_TRY(const Sql type, type_option(location));
  WEIR_TRY(auto connection, connect());
  if (auto done =
          connection.execute(Sql("ATTACH {} AS {} ({}READ_ONLY)", Literal(location.target), Identifier(name), type));
      !done)
    return fail(
        explain(Code::W6006, fmt::format("database {} ({}) cannot be opened", place, location.shown), done.error()));
  attached_databases_[place] = name;
  return name;
}

Result<duck::TableName> Lakes::datatable(const std::string& place, const std::string& schema,
                                         const std::string& table) {
  const auto configured = databases_.find(place);
  assert(configured != databases_.end());
  const std::lock_guard guard(mutex_);
  if (const auto known = attached_databases_.find(place); known != attached_databases_.end())
    return duck::TableName{known->second, schema, table};
  if (const auto closed = closed_databases_.find(place); closed != closed_databases_.end()) return fail(closed->second);
  WEIR_TRY(const std::string name, attach_database(place));
  return duck::TableName{name, schema, table};
}

namespace {

Diagnostic no_outlet(const std::string& place, const DatabaseLocation& location, std::string_view what) {
  return {.code = Code::W6502,
          .message = fmt::format("database {} ({}) cannot be written: {}", place, location.shown, what),
          .path = {},
          .span = {},
          .hint = fmt::format("check `databases: {}` in weir.yaml", place)};
}

/// A file is opened only when it is first used, and then its folder is no longer spoken of.
Result<void> check_file(const std::string& place, const DatabaseLocation& location) {
  const std::filesystem::path file(location.target);
  std::error_code error;
  if (!std::filesystem::is_directory(file.parent_path(), error))
    return fail(no_outlet(place, location, fmt::format("there is no folder {}", file.parent_path().string())));
  const bool exists = std::filesystem::exists(file, error);
  if (::access(exists ? file.c_str() : file.parent_path().c_str(), W_OK) != 0)
    return fail(no_outlet(place, location, exists ? "the file is read-only" : "its folder is read-only"));
  return {};
}

/// How long a write waits for another one, in milliseconds.
constexpr int kOutletPatience = 10000;

/// On a server whatever waits for a lock is bounded, also what only reads: a statement of somebody else that waits for
/// the delivery would otherwise be waited for by the delivery, and the server does not see that.
std::string outlet_target(const DatabaseLocation& location) {
  if (location.kind != DatabaseLocation::Kind::Postgres) return location.target;
  return io::as_pairs(location.target, fmt::format("-c lock_timeout={}", kOutletPatience));
}

}  // namespace

/// The name of its attachment. Requires: mutex_ held.
Result<std::string> Lakes::attach_outlet(const std::string& place) {
  if (const auto known = attached_outlets_.find(place); known != attached_outlets_.end()) return known->second;
  if (const auto closed = closed_outlets_.find(place); closed != closed_outlets_.end()) return fail(closed->second);
  const DatabaseLocation& location = databases_.at(place);
  if (location.kind != DatabaseLocation::Kind::Postgres) WEIR_CHECK(check_file(place, location));
  // Models read a DuckDB file through the same attachment.
  const std::string name = location.kind == DatabaseLocation::Kind::DuckDb
                               ? reserved_name("_weir_d_", place)
                               : reserved_name("_weir_w_", place) + "_" + random_hex();
  WEIR_TRY(Sql options, type_option(location));
  if (location.kind == DatabaseLocation::Kind::Sqlite) options += Sql("BUSY_TIMEOUT {}, ", kOutletPatience);
  WEIR_TRY(auto connection, connect());
  if (auto done = connection.execute(
          Sql("ATTACH {} AS {} ({}READ_WRITE)", Literal(outlet_target(location)), Identifier(name), options));
      !done)
    return fail(no_outlet(place, location, explain(Code::W6502, "ATTACH", done.error()).message));
  attached_outlets_[place] = name;
  return name;
}

Result<Outlet> Lakes::outlet(const std::string& place) {
  assert(writable_databases_.contains(place));
  const std::lock_guard guard(mutex_);
  WEIR_TRY(const std::string name, attach_outlet(place));
  const DatabaseLocation& location = databases_.at(place);
  return Outlet{location.kind, name, location.shown};
}

std::unique_lock<std::mutex> Lakes::take_turn(const Outlet& outlet) {
  // SQLite does not wait for another connection of its own process. Of a PostgreSQL server DuckDB knows the tables once
  // for all connections, as the one saw them that looked last: another's uncommitted ones, or none of one's own.
  if (outlet.kind == DatabaseLocation::Kind::DuckDb) return {};
  std::mutex* turns = nullptr;
  {
    const std::lock_guard guard(mutex_);
    turns = &turns_[outlet.attachment];
  }
  return std::unique_lock(*turns);
}

std::string attach_statement(const Lake& lake) {
  const LakeConfig& config = lake.config();
  const bool is_postgres = config.catalog.kind == DatabaseLocation::Kind::Postgres;
  const std::string place =
      is_postgres ? config.catalog.shown.substr(0, config.catalog.shown.find(", schema ")) : config.catalog.target;
  Sql options("READ_ONLY");
  if (!config.metadata_schema.empty()) options += Sql(", METADATA_SCHEMA {}", Literal(config.metadata_schema));
  if (config.version) options += Sql(", SNAPSHOT_VERSION {}", *config.version);
  return Sql("ATTACH {} AS {} ({});", Literal((is_postgres ? "ducklake:postgres:" : "ducklake:sqlite:") + place),
             Identifier(lake.reader()), options)
      .text();
}

namespace {

/// The scheme in front of what an ATTACH of a script names, and the rest.
std::pair<std::string, std::string> split_uri(const std::string& uri) {
  const auto scheme = uri.find("://");
  if (scheme != std::string::npos) return {uri.substr(0, scheme), uri.substr(scheme + 3)};
  if (uri == "ducklake" || uri == "datatable") return {uri, "main"};
  return {"", uri};
}

}  // namespace

Result<void> Lakes::attach_alias(duck::Connection& connection, const std::string& uri, const std::string& alias) {
  const auto [scheme, place] = split_uri(uri);
  Sql attach;
  if (scheme == "ducklake") {
    const Lake& one = lake(place);
    const std::string metadata = reserved_name("_weir_s_", alias) + "_" + random_hex();
    attach = Sql("ATTACH {} AS {} ({}, CREATE_IF_NOT_EXISTS false, DATA_INLINING_ROW_LIMIT 0)",
                 attach_target(one.config().catalog), Identifier(alias), writer_options(one.config(), metadata));
  } else if (scheme == "datatable") {
    const DatabaseLocation& location = databases_.at(place);
    WEIR_TRY(const Sql type, type_option(location));
    attach = Sql("ATTACH {} AS {} ({}READ_ONLY)", Literal(location.target), Identifier(alias), type);
  } else if (uri == ":memory:") {
    attach = Sql("ATTACH ':memory:' AS {}", Identifier(alias));
  } else {
    attach = Sql("ATTACH {} AS {} (READ_ONLY)", Literal(uri), Identifier(alias));
  }
  if (auto done = connection.execute(attach); !done)
    return fail(explain(Code::W6001, fmt::format("{} cannot be attached", mask_secrets(uri)), done.error()));
  return {};
}

}  // namespace weir::lake
