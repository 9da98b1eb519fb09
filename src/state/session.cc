// See session.h.
#include "state/session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <soci/postgresql/soci-postgresql.h>
#include <soci/sqlite3/soci-sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <list>
#include <memory>
#include <system_error>
#include <thread>

#include "io/connection_string.h"
#include "state/store.h"

namespace weir::state {
namespace {

constexpr std::size_t kRowsAStatement = 64;
// The first bytes of SQLite's result codes, which are part of its file format's contract.
constexpr int kSqliteBusy = 5, kSqliteLocked = 6, kSqliteCorrupt = 11, kSqliteNotADatabase = 26;

/// How long another process may hold the store: 10 seconds, or WEIR_BUSY_SECONDS.
int busy_seconds() {
  const char* given = std::getenv("WEIR_BUSY_SECONDS");
  const int seconds = given == nullptr ? 0 : std::atoi(given);
  return seconds > 0 ? seconds : 10;
}

/// "(:v0,:v1),(:v2,:v3)": bound by position, but SQLite takes equal names for one value.
std::string value_lists(std::size_t rows, std::size_t columns) {
  std::string all;
  for (std::size_t i = 0; i < rows * columns; ++i) {
    if (i % columns == 0) all += i == 0 ? "(" : "),(";
    if (i % columns != 0) all += ',';
    all += ":v" + std::to_string(i);
  }
  return all + ')';
}

/// A prepared statement with the places its values are read from and its answers written to.
class Prepared {
 public:
  Prepared(soci::session& sql, const std::string& text, std::size_t values, std::size_t columns)
      : statement_(sql),
        values_(values),
        value_states_(values, soci::i_ok),
        answers_(columns),
        answer_states_(columns, soci::i_ok) {
    for (std::size_t i = 0; i < values; ++i) statement_.exchange(soci::use(values_[i], value_states_[i]));
    for (std::size_t i = 0; i < columns; ++i) statement_.exchange(soci::into(answers_[i], answer_states_[i]));
    statement_.alloc();
    statement_.prepare(text);
    statement_.define_and_bind();
  }
  void set(std::size_t at, const Field& field) {
    value_states_[at] = field ? soci::i_ok : soci::i_null;
    values_[at] = field.value_or(std::string());
  }
  void execute() { statement_.execute(true); }
  std::vector<Row> rows() {
    std::vector<Row> rows;
    statement_.execute();
    while (statement_.fetch()) {
      Row row(answers_.size());
      for (std::size_t i = 0; i < row.size(); ++i)
        if (answer_states_[i] == soci::i_ok) row[i] = answers_[i];
      rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  soci::statement statement_;
  std::vector<std::string> values_;
  std::vector<soci::indicator> value_states_;
  std::vector<std::string> answers_;
  std::vector<soci::indicator> answer_states_;
};

/// SOCI ends the name of a file at a quotation mark and knows no way to write one. SQLite takes a URI for the same file
/// (Debian builds it so), where any byte can be written in hexadecimal.
std::string as_file_name(const std::string& path, bool is_read_only) {
  if (path.find('"') == std::string::npos && !is_read_only) return path;
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '"' || c == '%' || c == '?' || c == '#')
      uri += fmt::format("%{:02x}", static_cast<unsigned>(c));
    else
      uri += c;
  }
  if (!is_read_only) return uri;
  // Where nobody has it open there is no log beside it, and SQLite would want to make one.
  std::error_code lost;
  return uri + (std::filesystem::exists(path + "-wal", lost) ? "?mode=ro" : "?mode=ro&immutable=1");
}

int sqlite_code(const std::exception& error) {
  const auto* sqlite = dynamic_cast<const soci::sqlite3_soci_error*>(&error);
  return sqlite == nullptr ? 0 : sqlite->result() & 0xff;
}

/// Waits out another process that is just making the file: turning WAL on does not honour the busy timeout.
void turn_on_wal(soci::session& sql) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(busy_seconds());
  for (;;) {
    try {
      sql << "PRAGMA journal_mode=WAL";
      return;
    } catch (const soci::soci_error& error) {
      const int code = sqlite_code(error);
      if ((code != kSqliteBusy && code != kSqliteLocked) || std::chrono::steady_clock::now() > until) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
}

}  // namespace

Diagnostic Session::explain(const std::exception& error, Code otherwise) const {
  Diagnostic found{.code = otherwise, .message = {}, .path = {}, .span = {}, .hint = {}};
  const std::string_view detail = error.what();
  const int code = sqlite_code(error);
  if (code == kSqliteNotADatabase || code == kSqliteCorrupt) {
    found.code = Code::W7003;
    found.message = fmt::format("the state store {} is not a database that can be read", target_.shown);
    found.hint = "move the file away and run `weir state rebuild`: the lakes hold what it knew";
  } else if (code == kSqliteBusy || code == kSqliteLocked) {
    found.code = Code::W7005;
    found.message =
        fmt::format("the state store {} was held by another process for {} s", target_.shown, busy_seconds());
    found.hint = "`weir doctor` shows who holds it";
  } else if (otherwise == Code::W7001) {
    found.message = fmt::format("the state store {} cannot be opened for writing", target_.shown);
    found.hint = target_.postgres ? "check `state:` in weir.yaml and that the server answers" : std::string(detail);
  } else {
    found.message = fmt::format("the state store {} failed: {}", target_.shown, detail);
  }
  return found;
}

void Session::connect() {
  if (target_.postgres) {
    sql_.open(soci::postgresql, io::as_pairs(target_.address));
    run("SELECT pg_advisory_lock(hashtext(:schema))", {target_.schema});
    // Quoted by the server, so that any name is one name.
    const auto quoted = *ask("SELECT quote_ident(:schema)", {target_.schema}, 1).front().front();
    sql_ << "SET client_min_messages = warning";
    sql_ << "CREATE SCHEMA IF NOT EXISTS " + quoted;
    sql_ << "SET search_path TO " + quoted;
    run("SELECT pg_advisory_unlock(hashtext(:schema))", {target_.schema});
    return;
  }
  const char* file = target_.address.c_str();
  is_read_only_ = ::access(file, F_OK) == 0 && ::faccessat(AT_FDCWD, file, W_OK, AT_EACCESS) != 0;
  sql_.open(soci::sqlite3,
            fmt::format("db=\"{}\" timeout={}", as_file_name(target_.address, is_read_only_), busy_seconds()));
  if (is_read_only_) return;
  turn_on_wal(sql_);
  sql_ << "PRAGMA synchronous=NORMAL";
}

Result<std::unique_ptr<Session>> Session::open(Target target) {
  std::unique_ptr<Session> session(new Session(std::move(target)));
  const Target& where = session->target_;
  if (!where.postgres) {
    std::error_code failed;
    const auto folder = std::filesystem::path(where.address).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder, failed);
    if (failed)
      return fail({.code = Code::W7001,
                   .message = fmt::format("the state store {} cannot be made: {}", where.shown, failed.message()),
                   .path = {},
                   .span = {},
                   .hint = "`state:` in weir.yaml names the file; its folder must be writable"});
  }
  try {
    session->connect();
  } catch (const std::exception& error) {
    return fail(session->explain(error, Code::W7001));
  }
  return session;
}

void Session::begin(std::string_view lock) {
  if (!target_.postgres) {
    // A transaction that begins by reading and then writes cannot wait for another writer: SQLite refuses it. So
    // writers queue up front.
    sql_ << "BEGIN IMMEDIATE";
    return;
  }
  sql_ << "BEGIN";
  if (!lock.empty())
    run("SELECT pg_advisory_xact_lock(hashtext(:schema), hashtext(:lock))", {target_.schema, std::string(lock)});
}

void Session::roll_back() {
  try {
    sql_ << "ROLLBACK";
  } catch (const std::exception&) {
    // The first failure is the one to report; one that broke the connection has rolled back by itself.
    return;
  }
}

Result<void> Session::attempt(std::optional<std::string_view> lock, const std::function<Result<void>()>& work,
                              bool& lost) {
  bool begun = false;
  try {
    if (lock) begin(*lock);
    begun = lock.has_value();
    auto done = work();
    if (!done.has_value()) {
      if (begun) roll_back();
      return done;
    }
    if (begun) sql_ << "COMMIT";
    return {};
  } catch (const std::exception& error) {
    lost = !sql_.is_connected();
    if (begun && !lost) roll_back();
    return fail(explain(error, Code::W7004));
  }
}

Result<void> Session::write(std::string_view lock, const std::function<Result<void>()>& work) {
  if (is_read_only_)
    return fail({.code = Code::W7001,
                 .message = fmt::format("the state store {} can only be read", target_.shown),
                 .path = {},
                 .span = {},
                 .hint = "this user may not write the file"});
  bool lost = false;
  auto first = attempt(lock, work, lost);
  if (first.has_value() || !lost) return first;
  try {
    sql_.close();
    connect();
  } catch (const std::exception& error) {
    return fail(explain(error, Code::W7001));
  }
  return attempt(lock, work, lost);
}

Result<void> Session::read(const std::function<Result<void>()>& work) {
  bool lost = false;
  auto first = attempt(std::nullopt, work, lost);
  if (first.has_value() || !lost) return first;
  try {
    sql_.close();
    connect();
  } catch (const std::exception& error) {
    return fail(explain(error, Code::W7001));
  }
  return attempt(std::nullopt, work, lost);
}

void Session::run(const std::string& sql, const Row& values) {
  Prepared prepared(sql_, sql, values.size(), 0);
  for (std::size_t i = 0; i < values.size(); ++i) prepared.set(i, values[i]);
  prepared.execute();
}

std::vector<Row> Session::ask(const std::string& sql, const Row& values, std::size_t columns) {
  Prepared prepared(sql_, sql, values.size(), columns);
  for (std::size_t i = 0; i < values.size(); ++i) prepared.set(i, values[i]);
  return prepared.rows();
}

void Session::insert(const std::string& head, const std::vector<Row>& rows, const std::string& tail) {
  if (rows.empty()) return;
  const std::size_t columns = rows.front().size();
  std::optional<Prepared> whole;
  for (std::size_t at = 0; at < rows.size(); at += kRowsAStatement) {
    const std::size_t count = std::min(kRowsAStatement, rows.size() - at);
    std::optional<Prepared> rest;
    if (!whole || count < kRowsAStatement) {
      auto& made = count == kRowsAStatement ? whole : rest;
      made.emplace(sql_, fmt::format("{} VALUES {} {}", head, value_lists(count, columns), tail), count * columns, 0);
    }
    Prepared& prepared = rest ? *rest : *whole;
    for (std::size_t row = 0; row < count; ++row)
      for (std::size_t column = 0; column < columns; ++column)
        prepared.set(row * columns + column, rows[at + row][column]);
    prepared.execute();
  }
}

std::vector<Row> Session::ask_keys(const std::string& head, const std::vector<Row>& keys, const std::string& tail,
                                   std::size_t columns) {
  std::vector<Row> all;
  for (std::size_t at = 0; at < keys.size(); at += kRowsAStatement) {
    const std::size_t count = std::min(kRowsAStatement, keys.size() - at);
    const std::size_t width = keys.front().size();
    Row values;
    for (std::size_t i = 0; i < count; ++i) values.insert(values.end(), keys[at + i].begin(), keys[at + i].end());
    auto rows = ask(fmt::format("{} (VALUES {}) {}", head, value_lists(count, width), tail), values, columns);
    all.insert(all.end(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
  }
  return all;
}

std::string Session::lease_now() {
  if (!target_.postgres) return machine_time_text();
  return *ask("SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')", {}, 1)
              .front()
              .front();
}

}  // namespace weir::state
