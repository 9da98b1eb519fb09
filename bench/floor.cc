// Sends a script of plain SQL to DuckDB by hand, one statement after the other on one connection, and says what each
// part took.
//
// The instance is opened as weir opens it (same library, extensions, threads, memory), so that a difference in time is
// weir's own doing.
//   floor [--extensions FOLDER] [--memory 1GB] [--threads N] [--temp FOLDER] SCRIPT
// In the script a line `;` ends a statement; a line `-- part NAME` begins a part. Printed: one JSON object, part ->
// milliseconds. The part "last" is the last row of the last statement, as text, so that a script can say what it saw.
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "duck/database.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Part {
  std::string name;
  double millis = 0;
};

int fail(const std::string& what, const weir::duck::Failure& failure) {
  std::cerr << what << ": " << failure.message << "\n";
  return 1;
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
  weir::duck::DatabaseOptions options;
  std::string script;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--extensions" && i + 1 < argc)
      options.extension_folder = argv[++i];
    else if (word == "--memory" && i + 1 < argc)
      options.memory_limit = argv[++i];
    else if (word == "--threads" && i + 1 < argc)
      options.threads = std::stoi(argv[++i]);
    else if (word == "--temp" && i + 1 < argc)
      options.temp_folder = argv[++i];
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
  auto database = weir::duck::Database::open(options);
  if (!database) return fail("open", database.error());
  for (const std::string_view extension : {"ducklake", "sqlite_scanner"})
    if (auto done = (*database)->load(extension); !done) return fail("load", done.error());
  auto connection = (*database)->connect();
  if (!connection) return fail("connect", connection.error());
  std::string last;
  for (const std::string& statement : read_script(script)) {
    if (statement.starts_with("-- part ")) {
      end_part();
      parts.push_back({statement.substr(8), 0});
      begin = Clock::now();
      continue;
    }
    auto rows = connection->query(weir::duck::Sql::verbatim(statement));
    if (!rows) return fail(statement, rows.error());
    if (rows->size() > 0 && !rows->columns().empty()) last = rows->text(rows->size() - 1, 0);
  }
  end_part();
  std::cout << "{";
  for (const Part& part : parts) std::cout << "\"" << part.name << "\": " << part.millis << ", ";
  std::cout << "\"last\": \"" << last << "\"}\n";
  return 0;
}
