#include "lake/drop.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cassert>
#include <filesystem>

#include "base/failpoint.h"
#include "lake/catalog_probe.h"
#include "lake/lakes.h"
#include "lake/postgres.h"

namespace weir::lake {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSchemaPrefix = "weir_fork_";

bool is_remote(const std::string& path) { return path.find("://") != std::string::npos; }

Failed cannot(const LakeConfig& fork, const std::string& what, const std::string& reason) {
  return fail(Diagnostic{.code = Code::W6005,
                         .message = fmt::format("lake {}: {} cannot be removed: {}", fork.name, what, reason),
                         .hint = "remove what hinders it and give the command again"});
}

/// The names that a fork's places must have to be removed.
bool has_names_of_a_fork(const LakeConfig& fork) {
  const std::string mark = "@" + fork.environment;
  const bool is_named = !fork.environment.empty() && !fork.fork_of.empty() && fork.name == fork.fork_of + mark;
  const bool has_data = fork.data.ends_with(mark);
  if (fork.catalog.kind == DatabaseLocation::Kind::Postgres)
    return is_named && has_data && fork.metadata_schema.starts_with(kSchemaPrefix);
  const fs::path catalog(fork.catalog.target);
  return is_named && has_data && (catalog.stem().string().ends_with(mark) || catalog.string().ends_with(mark));
}

Result<void> drop_schema(const LakeConfig& fork) {
  auto session = PostgresSession::open(fork.catalog.target);
  if (!session)
    return fail(Diagnostic{.code = Code::W6001,
                           .message = fmt::format("lake {}: {}", fork.name, mask_secrets(session.error()))});
  // A reader in a transaction holds its tables: waiting for it has an end.
  const auto timeout = session->ask("SET lock_timeout = '5s'");
  const auto dropped =
      session->ask(fmt::format("DROP SCHEMA IF EXISTS {} CASCADE", session->quoted(fork.metadata_schema)).c_str());
  if (timeout && dropped) return {};
  return fail(Diagnostic{
      .code = Code::W5424,
      .message = fmt::format("lake {}: {}", fork.name, mask_secrets(timeout ? dropped.error() : timeout.error())),
      .hint = "wait until nobody reads it, and give the command again"});
}

Result<void> drop_files(const LakeConfig& fork) {
  for (const char* end : {"", "-wal", "-shm", "-journal", ".lock"}) {
    std::error_code error;
    fs::remove(fork.catalog.target + end, error);
    if (error) return cannot(fork, fork.catalog.target + end, error.message());
  }
  return {};
}

/// To a lake that has no files everything below its data is a file that nothing needs, so an empty one is made for that
/// and thrown away (measured on 1.5.5: cleanup_all removes them whatever their age). Only DuckLake removes objects.
Result<void> drop_objects(const LakeConfig& fork, const Config& config, const std::string& extensions) {
  Config alone = config;
  alone.databases.clear();
  LakeConfig empty = fork;
  const fs::path catalog = fs::path(config.temp_folder) / fmt::format("weir-drop-{}.sqlite", ::getpid());
  empty.catalog = {.kind = DatabaseLocation::Kind::Sqlite, .target = catalog.string(), .shown = catalog.string()};
  empty.metadata_schema.clear();
  empty.is_read_only = false;
  empty.version.reset();
  alone.lakes = {empty};
  auto removed = [&]() -> Result<void> {
    WEIR_TRY(const auto lakes, Lakes::open(alone, {.extension_folder = extensions, .write = true, .confined = false}));
    WEIR_TRY(duck::Connection connection, lakes->connect());
    const auto done = connection.query(duck::Sql("CALL ducklake_delete_orphaned_files({}, cleanup_all => true)",
                                                 duck::Literal(lakes->lake(empty.name).writer())));
    if (done) return {};
    return fail(Diagnostic{
        .code = Code::W6005,
        .message =
            explain(Code::W6005, fmt::format("lake {}: {} cannot be emptied", fork.name, fork.data), done.error())
                .message,
        .hint = "give the command again; --force leaves the objects there"});
  }();
  WEIR_CHECK(drop_files(empty));
  return removed;
}

}  // namespace

Result<Diagnostics> drop_fork(const LakeConfig& fork, const Config& config, const DropOptions& options) {
  assert(has_names_of_a_fork(fork));
  Diagnostics left;
  if (!has_names_of_a_fork(fork)) return left;
  WEIR_TRY(const bool is_there, is_present(fork));
  {
    std::unique_ptr<LakeLock> lock;
    if (is_there) {
      // Writers wait for the lock, and find the lake gone.
      WEIR_TRY(lock, lock_of(fork, options.stop));
    }
    if (fork.catalog.kind == DatabaseLocation::Kind::Postgres) {
      WEIR_CHECK(drop_schema(fork));
    } else {
      WEIR_CHECK(drop_files(fork));
    }
  }
  failpoint("drop_catalog_removed");
  if (is_remote(fork.data)) {
    auto removed = drop_objects(fork, config, options.extensions);
    if (removed) return left;
    if (!options.leaves_objects) return fail(std::move(removed).error());
    for (Diagnostic one : removed.error()) {
      one.severity = Severity::Warning;
      one.hint = "nothing needs them any more: remove them with the storage's own tool";
      left.push_back(std::move(one));
    }
    return left;
  }
  std::error_code error;
  fs::remove_all(fork.data, error);
  if (error) return cannot(fork, fork.data, error.message());
  return left;
}

}  // namespace weir::lake
