// Sends a script of plain SQL to DuckDB by hand, one statement after the other on one connection, and says what each
// part took.
//
// The instance has weir's library, extensions, number of threads, memory and settings, so that a difference in time is
// weir's own doing; its threads are DuckDB's own pool, as by hand.
//   floor [--extensions FOLDER] [--memory 1GB] [--threads N] [--temp FOLDER] SCRIPT
// In the script a line `;` ends a statement; a line `-- part NAME` begins a part. Printed: one JSON object, part ->
// milliseconds. The part "last" is the last row of the last statement, as text, so that a script can say what it saw.
#include <duckdb.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Part {
  std::string name;
  double millis = 0;
};

int fail(const std::string& what, const char* why) {
  std::cerr << what << ": " << (why == nullptr ? "failed" : why) << "\n";
  return 1;
}

struct Settings {
  std::string extensions;
  std::string memory;
  std::string threads;
  std::string temp;
};

bool open(const Settings& settings, duckdb_database& database) {
  duckdb_config config = nullptr;
  duckdb_create_config(&config);
  const auto set = [&config](const char* name, const std::string& value) {
    if (!value.empty()) duckdb_set_config(config, name, value.c_str());
  };
  set("allow_unsigned_extensions", "true");
  set("autoinstall_known_extensions", "false");
  set("autoload_known_extensions", "false");
  set("memory_limit", settings.memory);
  set("threads", settings.threads);
  set("temp_directory", settings.temp);
  set("preserve_insertion_order", "false");
  const bool is_open = duckdb_open_ext(nullptr, &database, config, nullptr) == DuckDBSuccess;
  duckdb_destroy_config(&config);
  return is_open;
}

std::string load_statement(const std::string& folder, const std::string& extension) {
#if defined(__aarch64__)
  const std::string platform = "linux_arm64";
#else
  const std::string platform = "linux_amd64";
#endif
  return "LOAD '" + folder + "/" + duckdb_library_version() + "/" + platform + "/" + extension + ".duckdb_extension'";
}

/// Runs a statement; `last` becomes the first value of its last row, if it has one.
bool run(duckdb_connection connection, const std::string& statement, std::string& last) {
  duckdb_result result{};
  const bool done = duckdb_query(connection, statement.c_str(), &result) == DuckDBSuccess;
  if (!done) (void)fail(statement, duckdb_result_error(&result));
  const idx_t rows = done ? duckdb_row_count(&result) : 0;
  if (rows > 0 && duckdb_column_count(&result) > 0) {
    const duckdb_string value = duckdb_value_string(&result, 0, rows - 1);
    last = value.data == nullptr ? std::string() : std::string(value.data, value.size);
    duckdb_free(value.data);
  }
  duckdb_destroy_result(&result);
  return done;
}

/// Statements of the script; a statement that begins with `-- part ` opens a part.
std::vector<std::string> read_script(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> statements;
  std::string text;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("-- part ")) {
      statements.push_back(line);
    } else if (line == ";") {
      statements.push_back(std::exchange(text, {}));
    } else {
      text += line + "\n";
    }
  }
  return statements;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  std::string script;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    std::string* const setting = word == "--extensions" ? &settings.extensions
                                 : word == "--memory"   ? &settings.memory
                                 : word == "--threads"  ? &settings.threads
                                 : word == "--temp"     ? &settings.temp
                                                        : nullptr;
    if (setting != nullptr && i + 1 < argc)
      *setting = argv[++i];
    else
      script = word;
  }
  if (script.empty()) {
    std::cerr << "floor [--extensions FOLDER] [--memory SIZE] [--threads N] [--temp FOLDER] SCRIPT\n";
    return 2;
  }
  std::vector<Part> parts{{"open", 0}};
  auto begin = Clock::now();
  const auto end_part = [&] {
    parts.back().millis += std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  };
  duckdb_database database = nullptr;
  duckdb_connection connection = nullptr;
  if (!open(settings, database) || duckdb_connect(database, &connection) != DuckDBSuccess) return fail("open", nullptr);
  std::string last;
  for (const char* extension : {"ducklake", "sqlite_scanner"})
    if (!run(connection, load_statement(settings.extensions, extension), last)) return 1;
  if (!run(connection, "SET GLOBAL TimeZone = 'UTC'", last)) return 1;
  for (const std::string& statement : read_script(script)) {
    if (statement.starts_with("-- part ")) {
      end_part();
      parts.push_back({statement.substr(8), 0});
      begin = Clock::now();
      continue;
    }
    if (!run(connection, statement, last)) return 1;
  }
  end_part();
  duckdb_disconnect(&connection);
  duckdb_close(&database);
  std::cout << "{";
  for (const Part& part : parts) std::cout << "\"" << part.name << "\": " << part.millis << ", ";
  std::cout << "\"last\": \"" << last << "\"}\n";
  return 0;
}
