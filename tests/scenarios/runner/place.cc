#include "place.h"

#include <libpq-fe.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace weir::scenario {
namespace {

/// Runs statements that PostgreSQL takes outside a transaction.
bool on_server(const std::string& connection, const std::vector<std::string>& statements, std::string& problem) {
  PGconn* server = PQconnectdb(connection.c_str());
  bool good = PQstatus(server) == CONNECTION_OK;
  if (!good) problem = PQerrorMessage(server);
  for (const auto& statement : statements) {
    if (!good) break;
    PGresult* result = PQexec(server, statement.c_str());
    good = PQresultStatus(result) == PGRES_COMMAND_OK;
    if (!good) problem = PQresultErrorMessage(result);
    PQclear(result);
  }
  PQfinish(server);
  return good;
}

std::string percent_encoded(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' || c == '_') {
      out += c;
      continue;
    }
    constexpr std::string_view digits = "0123456789ABCDEF";
    out += '%';
    out += digits[static_cast<unsigned char>(c) >> 4U];
    out += digits[static_cast<unsigned char>(c) & 15U];
  }
  return out;
}

}  // namespace

bool write_file(const std::string& folder, const std::string& path, const std::string& text, bool append) {
  const auto whole = std::filesystem::path(folder) / path;
  std::error_code ignored;
  std::filesystem::create_directories(whole.parent_path(), ignored);
  std::ofstream out(whole, append ? std::ios::binary | std::ios::app : std::ios::binary);
  out << text;
  return out.good();
}

std::unique_ptr<Place> Place::make(const Scenario& scenario, const Options& options, std::string& problem) {
  std::unique_ptr<Place> place(new Place());
  place->options_ = options;
  std::string folder = std::filesystem::temp_directory_path() / "weir-scenario-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) {
    problem = "cannot make a folder below " + std::filesystem::temp_directory_path().string();
    return nullptr;
  }
  place->folder_ = folder;
  if (options.catalog == "postgres" && !place->create_databases(problem)) return nullptr;
  if (!place->write_files(scenario, problem)) return nullptr;
  return place;
}

bool Place::create_databases(std::string& problem) {
  std::ifstream in(options_.postgres_file);
  std::getline(in, server_);
  if (server_.empty()) {
    problem = "no connection string in '" + options_.postgres_file + "'";
    return false;
  }
  static std::atomic<int> count = 0;
  database_ = "weir_scenario_" + std::to_string(getpid()) + "_" + std::to_string(++count);
  return on_server(server_, {"CREATE DATABASE " + database_, "CREATE DATABASE " + database_ + "_state"}, problem);
}

Place::~Place() {
  if (options_.keep) return;
  std::string ignored;
  if (!database_.empty())
    on_server(server_,
              {"DROP DATABASE IF EXISTS " + database_ + " WITH (FORCE)",
               "DROP DATABASE IF EXISTS " + database_ + "_state WITH (FORCE)"},
              ignored);
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(folder_, error), end; at != end; at.increment(error))
    if (at->is_directory(error))
      std::filesystem::permissions(at->path(), std::filesystem::perms::owner_all, std::filesystem::perm_options::add,
                                   error);
  std::filesystem::remove_all(folder_, error);
}

std::string Place::url(const std::string& database) const {
  std::string user;
  std::string password;
  std::string host;
  std::string port;
  char* error = nullptr;
  PQconninfoOption* options = PQconninfoParse(server_.c_str(), &error);
  for (auto* option = options; option != nullptr && option->keyword != nullptr; ++option) {
    const std::string name = option->keyword;
    const std::string value = option->val == nullptr ? "" : option->val;
    if (name == "user") user = value;
    if (name == "password") password = value;
    if (name == "host") host = value;
    if (name == "port") port = value;
  }
  PQconninfoFree(options);
  PQfreemem(error);
  std::string text = "postgres://";
  if (!user.empty()) text += percent_encoded(user) + (password.empty() ? "" : ":" + percent_encoded(password)) + "@";
  return text + percent_encoded(host) + (port.empty() ? "" : ":" + port) + "/" + database;
}

bool Place::write_files(const Scenario& scenario, std::string& problem) const {
  const bool shared = options_.catalog == "postgres";
  const std::string catalog = shared ? url(database_) : "lake/main.sqlite";
  const std::string state = shared ? url(database_ + "_state") : ".weir/state.sqlite";
  auto files = scenario.files;
  if (!files.contains("weir.yaml"))
    files["weir.yaml"] =
        "name: scenario\nlakes:\n  main:\n    catalog: @CATALOG@\n    data: lake/main\nstate: @STATE@\n";
  // DuckDB's waiting threads spin: where tests run side by side, that takes more time than all the rest.
  const bool says_threads = files["weir.yaml"].find("threads:") != std::string::npos ||
                            scenario.more_configuration.find("threads:") != std::string::npos;
  if (!says_threads) files["weir.yaml"] += "threads: 1\n";
  files["weir.yaml"] += scenario.more_configuration;
  for (const auto& [mark, value] : {std::pair<std::string, std::string>{"@CATALOG@", catalog}, {"@STATE@", state}})
    for (auto at = files["weir.yaml"].find(mark); at != std::string::npos; at = files["weir.yaml"].find(mark))
      files["weir.yaml"].replace(at, mark.size(), value);
  for (const auto& [path, text] : files) {
    if (path.starts_with("expected/")) continue;
    if (!write_file(folder_, path, text, false)) {
      problem = "cannot write " + path;
      return false;
    }
  }
  return true;
}

std::string Place::attach_target(const std::string& lake) const {
  return options_.catalog == "postgres" && lake == "main" ? "ducklake:postgres:" + url(database_)
                                                          : "ducklake:sqlite:" + folder_ + "/lake/" + lake + ".sqlite";
}

bool Place::lake_exists(const std::string& lake) const {
  return options_.catalog == "postgres" || std::filesystem::exists(folder_ + "/lake/" + lake + ".sqlite");
}

}  // namespace weir::scenario
