#include "support/test_lake.h"

#include <libpq-fe.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <vector>

namespace weir::test {
namespace {

[[noreturn]] void give_up(const std::string& reason) {
  std::fprintf(stderr, "test lake: %s\n", reason.c_str());
  std::abort();
}

std::string server_string() {
  const char* file = std::getenv("WEIR_TEST_POSTGRES_FILE");
  if (file == nullptr) return {};
  std::string target;
  std::ifstream stream(file);
  std::getline(stream, target);
  return target;
}

/// The connection string as key-value pairs, with another database.
std::string with_database(const std::string& server, const std::string& name) {
  PQconninfoOption* options = PQconninfoParse(server.c_str(), nullptr);
  if (options == nullptr) give_up("the connection string of the test server cannot be read");
  std::string target;
  for (PQconninfoOption* option = options; option->keyword != nullptr; ++option)
    if (option->val != nullptr && std::string_view(option->keyword) != "dbname")
      target += std::string(option->keyword) + "=" + option->val + " ";
  PQconninfoFree(options);
  return target + "dbname=" + name;
}

void run_on_server(const std::string& server, const std::string& sql) {
  PGconn* connection = PQconnectdb(server.c_str());
  PGresult* result = PQexec(connection, sql.c_str());
  if (PQresultStatus(result) != PGRES_COMMAND_OK) std::fprintf(stderr, "test server: %s\n", PQerrorMessage(connection));
  PQclear(result);
  PQfinish(connection);
}

class FreeDatabases {
 public:
  static FreeDatabases& instance() {
    static FreeDatabases all;
    return all;
  }
  std::string take(const std::string& server) {
    const std::lock_guard guard(mutex_);
    server_ = server;
    if (free_.empty()) {
      const std::string name = "weir_test_" + std::to_string(::getpid()) + "_" + std::to_string(++made_);
      run_on_server(server, "CREATE DATABASE " + name);
      return name;
    }
    std::string name = free_.back();
    free_.pop_back();
    return name;
  }
  void give_back(const std::string& server, const std::string& name) {
    const std::lock_guard guard(mutex_);
    run_on_server(with_database(server, name),
                  "SET client_min_messages = warning; DROP SCHEMA IF EXISTS weir CASCADE; DROP SCHEMA public CASCADE; "
                  "CREATE SCHEMA public");
    free_.push_back(name);
  }
  ~FreeDatabases() {
    for (const std::string& name : free_) run_on_server(server_, "DROP DATABASE IF EXISTS " + name + " WITH (FORCE)");
  }

 private:
  std::mutex mutex_;
  std::string server_;
  std::vector<std::string> free_;
  int made_ = 0;
};

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "weir-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) give_up("no temporary folder can be made");
  path_ = std::filesystem::canonical(pattern).string();
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

// CREATE and DROP DATABASE take most of a second together, so databases are emptied and used again; the last ones go
// with the program.
std::unique_ptr<TemporaryDatabase> TemporaryDatabase::make() {
  std::unique_ptr<TemporaryDatabase> made(new TemporaryDatabase());
  made->server_ = server_string();
  if (made->server_.empty()) return nullptr;
  made->name_ = FreeDatabases::instance().take(made->server_);
  made->target_ = with_database(made->server_, made->name_);
  return made;
}

TemporaryDatabase::~TemporaryDatabase() { FreeDatabases::instance().give_back(server_, name_); }

bool TestLake::has_postgres() { return !server_string().empty(); }

TestLake::TestLake(Catalog catalog) {
  config_.root = folder_.path();
  config_.name = "test";
  config_.threads = 1;  // with more, DuckDB's waiting threads spin: half of all time where tests run side by side
  config_.memory = "1GB";
  config_.temp_folder = path(".weir/tmp");
  LakeConfig lake;
  lake.name = "main";
  lake.data = path("lake/main");
  lake.catalog = {DatabaseLocation::Kind::Sqlite, path("lake/main.sqlite"), "lake/main.sqlite"};
  if (catalog == Catalog::Postgres) {
    database_ = TemporaryDatabase::make();
    if (database_ == nullptr) give_up("no PostgreSQL server; ask has_postgres() first");
    lake.catalog = {DatabaseLocation::Kind::Postgres, database_->target(), "postgres (test)"};
  }
  config_.lakes.push_back(std::move(lake));
  lakes_ = open_again();
}

std::unique_ptr<lake::Lakes> TestLake::open_again(bool write) const {
  auto opened =
      lake::Lakes::open(config_, {.extension_folder = WEIR_EXTENSION_FOLDER, .write = write, .stop = nullptr});
  if (!opened) give_up(messages(opened.error()));
  return std::move(*opened);
}

duck::Connection TestLake::connect() {
  auto connection = lakes_->connect();
  if (!connection) give_up(messages(connection.error()));
  return std::move(*connection);
}

duck::Rows TestLake::run(duck::Connection& connection, const duck::Sql& sql) const {
  auto rows = connection.query(sql);
  if (!rows) give_up(sql.text() + "\n" + rows.error().message);
  return std::move(*rows);
}

std::string TestLake::values(duck::Connection& connection, const duck::Sql& sql) const {
  const duck::Rows rows = run(connection, sql);
  std::string text;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (row > 0) text += ' ';
    for (std::size_t column = 0; column < rows.columns().size(); ++column) {
      if (column > 0) text += '|';
      text += rows.maybe_text(row, column).value_or("NULL");
    }
  }
  return text;
}

std::string messages(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& one : diagnostics) text += std::string(name_of(one.code)) + ": " + one.message + "\n";
  return text;
}

}  // namespace weir::test
