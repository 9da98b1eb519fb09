#include "shop.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

namespace weir::faults {
namespace {

namespace fs = std::filesystem;

std::string value_of(const std::string& target, const std::string& key) {
  std::istringstream words(target);
  for (std::string word; words >> word;)
    if (word.starts_with(key + "=")) return word.substr(key.size() + 1);
  return {};
}

std::string url_of(const std::string& target) {
  return "postgres://" + value_of(target, "user") + "@" + value_of(target, "host") + ":" + value_of(target, "port") +
         "/" + value_of(target, "dbname");
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

duck::Rows must(duck::Connection& connection, const duck::Sql& sql) {
  auto rows = connection.query(sql);
  if (rows) return std::move(*rows);
  ADD_FAILURE() << rows.error().message << "\n" << sql.text();
  return *connection.query(duck::Sql("SELECT 1 WHERE false"));
}

}  // namespace

Shop::Shop(Catalog catalog, const std::string& more) {
  if (catalog == Catalog::Postgres) database_ = test::TemporaryDatabase::make();
  const std::string lake = database_ ? url_of(database_->target()) : "lake/main.sqlite";
  const std::string state = database_ ? url_of(database_->target()) : ".weir/state.sqlite";
  write("weir.yaml",
        // DuckDB's waiting threads spin: where tests run side by side, that takes more time than all the rest.
        (more.find("threads:") == std::string::npos ? std::string("threads: 1\n") : std::string()) +
            "name: shop\nlakes:\n  main:\n    catalog: " + lake + "\n    data: lake/main\nstate: " + state + "\n" +
            more);
}

bool Shop::can(Catalog catalog) {
  return catalog == Catalog::Sqlite || std::getenv("WEIR_TEST_POSTGRES_FILE") != nullptr;
}

void Shop::write(const std::string& path, const std::string& text) const {
  fs::create_directories(fs::path(root() + "/" + path).parent_path());
  std::ofstream(root() + "/" + path) << text;
}

std::unique_ptr<scenario::Process> Shop::start(const std::string& line, const Environment& environment) const {
  std::vector<std::string> arguments{std::getenv("WEIR_BINARY")};
  for (std::string& word : words_of(line)) arguments.push_back(std::move(word));
  Environment all{{"WEIR_EXTENSIONS", WEIR_EXTENSION_FOLDER}, {"NO_COLOR", "1"}};
  for (const auto& [name, value] : environment) all[name] = value;
  return scenario::Process::start(arguments, root(), all);
}

Ended Shop::weir(const std::string& line, const Environment& environment) const {
  const auto process = start(line, environment);
  Ended ended;
  ended.code = process->wait(std::chrono::seconds(60));
  ended.out = process->out();
  ended.err = process->err();
  return ended;
}

duck::Connection Shop::look(bool writable) const {
  auto database =
      duck::Database::open({.extension_folder = WEIR_EXTENSION_FOLDER, .memory_limit = "500MB", .threads = 1});
  EXPECT_TRUE(database.has_value());
  const char* scanner = database_ ? "postgres_scanner" : "sqlite_scanner";
  for (const char* name : {"ducklake", scanner}) {
    const auto loaded = (*database)->load(name);
    EXPECT_TRUE(loaded.has_value()) << name;
  }
  auto connection = (*database)->connect();
  const std::string lake =
      database_ ? "ducklake:postgres:" + database_->target() : "ducklake:sqlite:" + root() + "/lake/main.sqlite";
  const duck::Literal target(lake);
  must(*connection,
       writable ? duck::Sql("ATTACH {} AS lake", target) : duck::Sql("ATTACH {} AS lake (READ_ONLY)", target));
  if (!writable && has_state()) attach_state(*connection);
  return std::move(*connection);
}

bool Shop::has_state() const { return database_ || fs::exists(root() + "/.weir/state.sqlite"); }

void Shop::attach_state(duck::Connection& connection) const {
  if (database_)
    must(connection,
         duck::Sql("ATTACH {} AS state (TYPE postgres, READ_ONLY, SCHEMA 'weir')", duck::Literal(database_->target())));
  else
    must(connection,
         duck::Sql("ATTACH {} AS state (TYPE sqlite, READ_ONLY)", duck::Literal(root() + "/.weir/state.sqlite")));
}

duck::Connection& Shop::watch() const {
  if (!watching_) {
    watches_state_ = has_state();
    watching_ = std::make_unique<duck::Connection>(look());
  } else if (!watches_state_ && has_state()) {
    watches_state_ = true;
    attach_state(*watching_);
  }
  return *watching_;
}

std::string Shop::rows(const std::string& sql) const {
  const duck::Rows found = must(watch(), duck::Sql::verbatim(sql));
  std::string text;
  for (std::size_t row = 0; row < found.size(); ++row) {
    if (row > 0) text += ' ';
    for (std::size_t column = 0; column < found.columns().size(); ++column)
      text += (column > 0 ? "|" : "") + (found.is_null(row, column) ? std::string("NULL") : found.text(row, column));
  }
  return text;
}

void Shop::lose_state() const {
  watching_.reset();  // its transaction may hold the tables
  watches_state_ = false;
  duck::Connection connection = look(true);
  must(connection, duck::Sql("ATTACH {} AS lost (TYPE postgres)", duck::Literal(database_->target())));
  must(connection, duck::Sql("CALL postgres_execute('lost', 'DROP SCHEMA weir CASCADE')"));
}

void Shop::overtake() const {
  duck::Connection connection = look(true);
  if (database_) {
    must(connection, duck::Sql("ATTACH {} AS taken (TYPE postgres)", duck::Literal(database_->target())));
    must(connection,
         duck::Sql("CALL postgres_execute('taken', 'UPDATE weir.lease SET run = '''', fence = fence + 1')"));
    return;
  }
  must(connection, duck::Sql("ATTACH {} AS taken (TYPE sqlite)", duck::Literal(root() + "/.weir/state.sqlite")));
  must(connection, duck::Sql("UPDATE taken.lease SET run = '', fence = fence + 1"));
}

void Shop::foreign(const std::string& sql) const {
  auto connection = look(true);
  must(connection, duck::Sql::verbatim(sql));
}

/// Files on disk that no version knows, and files of the newest version that are not there.
std::string Shop::relation_files() const {
  std::set<std::string> known;
  std::set<std::string> on_disk;
  std::string wrong;
  const auto names =
      must(watch(), duck::Sql::verbatim(
                        "SELECT parse_filename(path), live FROM (SELECT path, end_snapshot IS NULL AS live FROM "
                        "__ducklake_metadata_lake.ducklake_data_file UNION ALL SELECT path, end_snapshot IS NULL FROM "
                        "__ducklake_metadata_lake.ducklake_delete_file UNION ALL SELECT path, false FROM "
                        "__ducklake_metadata_lake.ducklake_files_scheduled_for_deletion)"));
  std::error_code error;
  for (fs::recursive_directory_iterator entry(root() + "/lake/main", error), end; !error && entry != end;
       entry.increment(error))
    if (entry->is_regular_file(error)) on_disk.insert(entry->path().filename());
  for (std::size_t i = 0; i < names.size(); ++i) {
    known.insert(names.text(i, 0));
    if (names.text(i, 1) == "true" && !on_disk.contains(names.text(i, 0)))
      wrong += "missing file " + names.text(i, 0) + "\n";
  }
  for (const std::string& name : on_disk)
    if (!known.contains(name)) wrong += "orphan file " + name + "\n";
  return wrong;
}

std::string Shop::disagreements() const {
  std::string wrong = relation_files();
  const auto expect_none = [&](const std::string& what, const std::string& sql) {
    if (const std::string found = rows(sql); !found.empty()) wrong += what + ": " + found + "\n";
  };
  expect_none("open runs", "SELECT run, command FROM state.run WHERE status = 'running'");
  expect_none("leases held", "SELECT asset, slice, run FROM state.lease WHERE run <> ''");
  expect_none("slices not materialized",
              "SELECT asset, slice, status, error FROM state.slice WHERE status <> 'materialized'");
  expect_none("ledger and commit records differ (asset, slice, ledger, lake)",
              "SELECT s.asset, s.slice, s.snapshot_id, c.version FROM state.slice s LEFT JOIN (SELECT step ->> 'asset' "
              "AS asset, step ->> 'slice' AS slice, "
              "max(snapshot_id) AS version FROM (SELECT snapshot_id, unnest(json_extract(commit_extra_info, "
              "'$.steps[*]')) AS step FROM "
              "__ducklake_metadata_lake.ducklake_snapshot_changes WHERE json_valid(commit_extra_info)) GROUP BY ALL) c "
              "ON s.asset = c.asset AND s.slice = c.slice "
              "WHERE s.snapshot_id IS NOT NULL AND s.snapshot_id IS DISTINCT FROM c.version");
  std::error_code error;
  for (fs::directory_iterator entry(root() + "/.weir/locks", error), end; !error && entry != end;
       entry.increment(error))
    wrong += "lock file " + entry->path().filename().string() + "\n";
  return wrong;
}

void until_stopped(const scenario::Process& process) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (std::chrono::steady_clock::now() < until) {
    std::ifstream stat("/proc/" + std::to_string(process.pid()) + "/stat");
    const std::string text((std::istreambuf_iterator<char>(stat)), {});
    if (text.find(") T ") != std::string::npos) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  FAIL() << "it never stopped: " << process.err();
}

}  // namespace weir::faults
