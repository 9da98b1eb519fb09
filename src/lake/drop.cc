#include "lake/drop.h"

#include <fmt/format.h>

#include <cassert>
#include <filesystem>

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

}  // namespace

Result<Diagnostics> drop_fork(const LakeConfig& fork, const std::atomic<bool>& stop) {
  assert(has_names_of_a_fork(fork));
  Diagnostics left;
  if (!has_names_of_a_fork(fork)) return left;
  WEIR_TRY(const bool is_there, is_present(fork));
  {
    std::unique_ptr<LakeLock> lock;
    if (is_there) {
      // Writers wait for the lock, and find the lake gone.
      WEIR_TRY(lock, lock_of(fork, stop));
    }
    if (fork.catalog.kind == DatabaseLocation::Kind::Postgres) {
      WEIR_CHECK(drop_schema(fork));
    } else {
      WEIR_CHECK(drop_files(fork));
    }
  }
  if (is_remote(fork.data)) {
    left.push_back({.code = Code::W5424,
                    .severity = Severity::Warning,
                    .message = fmt::format("the objects under {}/ are not removed", fork.data),
                    .hint = "nothing needs them any more: remove them with the storage's own tool"});
    return left;
  }
  std::error_code error;
  fs::remove_all(fork.data, error);
  if (error) return cannot(fork, fork.data, error.message());
  return left;
}

}  // namespace weir::lake
