#include "duck/database.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <utility>

#include "duck/api.h"
#include "duck/arrow.h"
#include "duck/extra_threads.h"
#include "duck/failure.h"
#include "duck/file_guard.h"
#include "duck/type_text.h"

namespace weir::duck {
namespace {

constexpr char kCommit[] = "COMMIT";

}  // namespace

struct Rows::Body {
  duckdb_result result{};
  std::vector<Column> columns;
  ~Body() { api().destroy_result(&result); }
};

Rows::Rows() = default;
Rows::Rows(Rows&&) noexcept = default;
Rows& Rows::operator=(Rows&&) noexcept = default;
Rows::~Rows() = default;

const std::vector<Column>& Rows::columns() const { return body_->columns; }
std::size_t Rows::size() const { return api().row_count(&body_->result); }

std::int64_t Rows::changed() const {
  if (const auto rows = api().rows_changed(&body_->result); rows > 0) return static_cast<std::int64_t>(rows);
  if (body_->columns.size() == 1 && body_->columns[0].name == "Count" && size() == 1) return integer(0, 0);
  return 0;
}

bool Rows::is_null(std::size_t row, std::size_t column) const {
  return api().value_is_null(&body_->result, column, row);
}

std::string Rows::text(std::size_t row, std::size_t column) const {
  duckdb_string value = api().value_string(&body_->result, column, row);
  std::string text = value.data == nullptr ? std::string() : std::string(value.data, value.size);
  api().free(value.data);
  return text;
}

std::int64_t Rows::integer(std::size_t row, std::size_t column) const {
  return api().value_int64(&body_->result, column, row);
}
double Rows::real(std::size_t row, std::size_t column) const { return api().value_double(&body_->result, column, row); }

struct Database::Body {
  duckdb_database database = nullptr;
  std::string extension_folder;
  std::mutex mutex;
  std::set<std::string, std::less<>> loaded;
  std::unique_ptr<ExtraThreads> extra_threads;
  Objection objection;
};

struct Connection::Body {
  duckdb_connection connection = nullptr;
  std::shared_ptr<Database> database;  // an instance outlives its connections
  ExtraThreads* extra_threads = nullptr;
  bool tells_progress = false;
  ~Body() {
    if (connection != nullptr) api().disconnect(&connection);
  }
};

namespace {

/// Said once for the instance: said on each connection it cost 50 µs.
Outcome<void> set_time_zone(Database& database) {
  auto connection = database.connect();
  if (!connection) return tl::unexpected(connection.error());
  auto done = connection->execute("SET GLOBAL TimeZone = 'UTC'");
  if (!done) return tl::unexpected(done.error());
  return {};
}

/// Takes the threads of DuckDB's pool away and returns how many they were.
Outcome<int> take_pool(Database& database) {
  auto connection = database.connect();
  if (!connection) return tl::unexpected(connection.error());
  auto rows = connection->query("SELECT CAST(current_setting('threads') AS INTEGER)");
  if (!rows) return tl::unexpected(rows.error());
  const auto threads = static_cast<int>(rows->integer(0, 0));
  // A thread of the caller's counts as external.
  if (auto done = connection->execute(Sql("SET GLOBAL external_threads = {}", threads)); !done)
    return tl::unexpected(done.error());
  return threads - 1;
}

/// WEIR_QUERY_LOG names a folder: every statement of every instance is then logged there by DuckDB itself, one folder
/// an instance.
Outcome<void> log_queries(Database& database) {
  const char* folder = std::getenv("WEIR_QUERY_LOG");
  if (folder == nullptr || *folder == '\0') return {};
  static std::atomic<int> instances = 0;
  const std::string path = std::string(folder) + "/" + std::to_string(getpid()) + "-" + std::to_string(++instances);
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  if (failed)
    return tl::unexpected(
        Failure{FailureType::Io, "the query log " + path + " cannot be made: " + failed.message(), std::nullopt});
  auto connection = database.connect();
  if (!connection) return tl::unexpected(connection.error());
  auto done = connection->execute(Sql("CALL enable_logging('QueryLog', storage = 'file', storage_config = {})",
                                      Sql("{{'path': {}}}", Literal(path))));
  if (!done) return tl::unexpected(done.error());
  return {};
}

}  // namespace

namespace {

/// Bytes of the machine, or of the control group that the process lives in.
double memory_at_hand() {
  double bytes = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  for (const char* limit : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(limit);
    if (double allowed = 0; file >> allowed && allowed > 0) bytes = std::min(bytes, allowed);
  }
  return bytes;
}

/// DuckDB takes sizes only: a share is turned into one.
std::string memory_size(const std::string& limit) {
  if (!limit.ends_with('%')) return limit;
  const double share = std::strtod(limit.c_str(), nullptr) / 100;
  return std::to_string(static_cast<std::int64_t>(memory_at_hand() * share)) + "B";
}

}  // namespace

Outcome<std::shared_ptr<Database>> Database::open(const DatabaseOptions& options) {
  if (auto loaded = load_api(); !loaded)
    return tl::unexpected(Failure{FailureType::Io, "DuckDB cannot be loaded: " + loaded.error(), std::nullopt});
  duckdb_config config = nullptr;
  api().create_config(&config);
  std::string refused;
  const auto set = [&config, &refused](const char* name, const std::string& value) {
    if (!value.empty() && api().set_config(config, name, value.c_str()) == DuckDBError)
      refused = std::string(name) + " cannot be " + value;
  };
  set("allow_unsigned_extensions", "true");
  set("autoinstall_known_extensions", "false");
  set("autoload_known_extensions", "false");
  set("extension_directory", options.extension_folder);
  set("memory_limit", memory_size(options.memory_limit));
  if (options.threads > 0) set("threads", std::to_string(options.threads));
  set("temp_directory", options.temp_folder);
  set("max_temp_directory_size", options.temp_limit);
  set("preserve_insertion_order", "false");
  if (!refused.empty()) {
    api().destroy_config(&config);
    return tl::unexpected(Failure{FailureType::InvalidInput, refused, std::nullopt});
  }
  std::shared_ptr<Database> opened(new Database());
  opened->body_ = std::make_unique<Body>();
  opened->body_->extension_folder = options.extension_folder;
  char* error = nullptr;
  const auto state = api().open_ext(nullptr, &opened->body_->database, config, &error);
  api().destroy_config(&config);
  if (state == DuckDBError) {
    Failure failure = failure_from(error, FailureType::Other);
    api().free(error);
    return tl::unexpected(std::move(failure));
  }
  duckdb_connection connection = nullptr;
  api().connect(opened->body_->database, &connection);
  const bool is_guarded = make_file_guard(connection, opened.get());
  api().disconnect(&connection);
  if (!is_guarded)
    return tl::unexpected(Failure{FailureType::Internal, "the guard of file names cannot be made", std::nullopt});
  if (auto done = set_time_zone(*opened); !done) return tl::unexpected(done.error());
  if (options.threads != 1) {
    auto taken = take_pool(*opened);
    if (!taken) return tl::unexpected(taken.error());
    if (*taken > 0) opened->body_->extra_threads = std::make_unique<ExtraThreads>(opened->body_->database, *taken);
  }
  if (auto logged = log_queries(*opened); !logged) return tl::unexpected(logged.error());
  return opened;
}

Database::~Database() {
  if (body_ == nullptr || body_->database == nullptr) return;
  body_->extra_threads.reset();
  api().close(&body_->database);
}

void Database::guard_files(Objection objection) {
  const std::lock_guard lock(body_->mutex);
  body_->objection = std::move(objection);
}

std::optional<std::string> Database::objection_to(const std::string& file) const {
  Objection objection;
  {
    const std::lock_guard lock(body_->mutex);
    objection = body_->objection;
  }
  return objection ? objection(file) : std::nullopt;
}

std::optional<std::string> Connection::objection_to(const std::string& file) const {
  return body_->database->objection_to(file);
}

std::string Database::version() { return WEIR_DUCKDB_VERSION; }

std::string Database::extension_file(const std::string& extension_folder, std::string_view extension) {
#if defined(__aarch64__)
  constexpr std::string_view kPlatform = "linux_arm64";
#else
  constexpr std::string_view kPlatform = "linux_amd64";
#endif
  return extension_folder + "/" + version() + "/" + std::string(kPlatform) + "/" + std::string(extension) +
         ".duckdb_extension";
}

Outcome<void> Database::load(std::string_view extension) {
  const std::lock_guard lock(body_->mutex);
  if (body_->loaded.contains(extension)) return {};
  duckdb_connection connection = nullptr;
  api().connect(body_->database, &connection);
  const std::string file = extension_file(body_->extension_folder, extension);
  duckdb_result result{};
  Outcome<void> outcome;
  if (api().query(connection, Sql("LOAD {}", Literal(file)).text().c_str(), &result) == DuckDBError)
    outcome = tl::unexpected(failure_from(api().result_error(&result), type_of(api().result_error_type(&result))));
  else
    body_->loaded.emplace(extension);
  api().destroy_result(&result);
  api().disconnect(&connection);
  return outcome;
}

Outcome<Connection> Database::connect() {
  Connection connection;
  connection.body_ = std::make_unique<Connection::Body>();
  if (api().connect(body_->database, &connection.body_->connection) == DuckDBError)
    return tl::unexpected(Failure{FailureType::Other, "cannot connect to the DuckDB instance", std::nullopt});
  connection.body_->database = shared_from_this();
  connection.body_->extra_threads = body_->extra_threads.get();
  // Not for the instance: extensions have connections of their own, whose errors they put into theirs.
  if (auto done = connection.execute("SET errors_as_json = true"); !done) return tl::unexpected(done.error());
  return connection;
}

Connection::Connection() = default;
Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&&) noexcept = default;
Connection::~Connection() = default;

Outcome<Rows> Connection::query(const Sql& sql) {
  // What a lake does in a commit are thousands of small statements: nobody is to join.
  const ExtraThreads::Statement statement(sql.text() == kCommit ? nullptr : body_->extra_threads);
  take_objection();
  Rows rows;
  rows.body_ = std::make_unique<Rows::Body>();
  duckdb_result& result = rows.body_->result;
  if (api().query(body_->connection, sql.text().c_str(), &result) == DuckDBError)
    return tl::unexpected(failure_from(api().result_error(&result), type_of(api().result_error_type(&result))));
  for (idx_t i = 0; i < api().column_count(&result); ++i) {
    duckdb_logical_type type = api().column_logical_type(&result, i);
    rows.body_->columns.push_back({api().column_name(&result, i), type_text(type)});
    api().destroy_logical_type(&type);
  }
  return rows;
}

Outcome<std::int64_t> Connection::execute(const Sql& sql) {
  auto rows = query(sql);
  if (!rows) return tl::unexpected(rows.error());
  return rows->changed();
}

Outcome<void> Connection::write_arrow(const Sql& query, ArrowForm form, const ByteSink& sink) {
  const ExtraThreads::Statement statement(body_->extra_threads);
  take_objection();
  return duck::write_arrow(body_->connection, query, form, sink);
}

Outcome<std::vector<Column>> Connection::describe(const Sql& sql) {
  take_objection();
  duckdb_prepared_statement statement = nullptr;
  if (api().prepare(body_->connection, sql.text().c_str(), &statement) == DuckDBError) {
    Failure failure = failure_from(api().prepare_error(statement), FailureType::Other);
    api().destroy_prepare(&statement);
    return tl::unexpected(std::move(failure));
  }
  std::vector<Column> columns;
  for (idx_t i = 0; i < api().prepared_statement_column_count(statement); ++i) {
    const char* name = api().prepared_statement_column_name(statement, i);
    duckdb_logical_type type = api().prepared_statement_column_logical_type(statement, i);
    columns.push_back({name, type_text(type)});
    api().free(const_cast<char*>(name));
    api().destroy_logical_type(&type);
  }
  api().destroy_prepare(&statement);
  return columns;
}

Outcome<std::size_t> Connection::count_statements(const Sql& sql) {
  duckdb_extracted_statements statements = nullptr;
  const idx_t count = api().extract_statements(body_->connection, sql.text().c_str(), &statements);
  const char* error = count == 0 ? api().extract_statements_error(statements) : nullptr;
  Outcome<std::size_t> outcome = static_cast<std::size_t>(count);
  if (error != nullptr) outcome = tl::unexpected(failure_from(error, FailureType::Other));
  api().destroy_extracted(&statements);
  return outcome;
}

void Connection::tell_progress() {
  if (std::exchange(body_->tells_progress, true)) return;
  // Without these it tells nothing; neither can fail.
  (void)execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false");
}

void Connection::interrupt() const { api().interrupt(body_->connection); }

std::optional<double> Connection::progress() const {
  const double percentage = api().query_progress(body_->connection).percentage;
  if (percentage < 0) return std::nullopt;
  return percentage / 100.0;
}

Outcome<Transaction> Transaction::begin(Connection& connection) {
  if (auto done = connection.execute("BEGIN TRANSACTION"); !done) return tl::unexpected(done.error());
  return Transaction(connection);
}

Transaction::~Transaction() { rollback(); }

Outcome<void> Transaction::commit() {
  Connection* connection = std::exchange(connection_, nullptr);
  if (auto done = connection->execute(kCommit); !done) {
    (void)connection->execute("ROLLBACK");
    return tl::unexpected(done.error());
  }
  return {};
}

void Transaction::rollback() {
  if (Connection* connection = std::exchange(connection_, nullptr); connection != nullptr)
    (void)connection->execute("ROLLBACK");
}

}  // namespace weir::duck
