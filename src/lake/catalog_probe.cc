#include "lake/catalog_probe.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <filesystem>
#include <memory>

#include "lake/lakes.h"
#include "lake/postgres.h"

namespace weir::lake {
namespace {

constexpr const char* kFormatQuery = "SELECT value FROM ducklake_metadata WHERE key = 'version' AND scope IS NULL";

CatalogProbe probe_sqlite(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return {CatalogProbe::Kind::Absent, {}, {}};
  sqlite3* raw = nullptr;
  const int opened = sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READONLY, nullptr);
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> database(raw, sqlite3_close);
  if (opened != SQLITE_OK)
    return {CatalogProbe::Kind::Unreachable, {}, fmt::format("{}: {}", path, sqlite3_errmsg(raw))};
  sqlite3_stmt* statement = nullptr;
  const int prepared = sqlite3_prepare_v2(raw, kFormatQuery, -1, &statement, nullptr);
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> query(statement, sqlite3_finalize);
  // A missing table is a plain SQLITE_ERROR; a file of another kind says so with a code of its own.
  if (prepared == SQLITE_ERROR) return {CatalogProbe::Kind::NotALake, {}, {}};
  if (prepared != SQLITE_OK)
    return {CatalogProbe::Kind::Unreachable, {}, fmt::format("{}: {}", path, sqlite3_errmsg(raw))};
  if (sqlite3_step(statement) != SQLITE_ROW) return {CatalogProbe::Kind::NotALake, {}, {}};
  const auto* text = sqlite3_column_text(statement, 0);
  return {CatalogProbe::Kind::Lake, text == nullptr ? "" : reinterpret_cast<const char*>(text), {}};
}

CatalogProbe probe_postgres(const LakeConfig& lake) {
  auto session = PostgresSession::open(lake.catalog.target, lake.metadata_schema);
  if (!session) return {CatalogProbe::Kind::Unreachable, {}, session.error()};
  const auto table = session->ask("SELECT to_regclass('ducklake_metadata')::text");
  if (!table) return {CatalogProbe::Kind::Unreachable, {}, table.error()};
  if (!*table) return {CatalogProbe::Kind::Absent, {}, {}};
  const auto format = session->ask(kFormatQuery);
  if (!format || !*format) return {CatalogProbe::Kind::NotALake, {}, {}};
  return {CatalogProbe::Kind::Lake, **format, {}};
}

}  // namespace

CatalogProbe probe_catalog(const LakeConfig& lake) {
  return lake.catalog.kind == DatabaseLocation::Kind::Postgres ? probe_postgres(lake)
                                                               : probe_sqlite(lake.catalog.target);
}

Result<bool> is_present(const LakeConfig& lake) {
  if (lake.catalog.kind != DatabaseLocation::Kind::Postgres) {
    std::error_code error;
    // An empty file is what SQLite leaves when a process dies before its first write: as good as none.
    return std::filesystem::exists(lake.catalog.target, error) &&
           (!std::filesystem::is_regular_file(lake.catalog.target, error) ||
            std::filesystem::file_size(lake.catalog.target, error) > 0);
  }
  const CatalogProbe probe = probe_postgres(lake);
  if (probe.kind == CatalogProbe::Kind::Unreachable)
    return fail(Diagnostic{
        .code = Code::W6001,
        .message = fmt::format("lake {} ({}): {}", lake.name, lake.catalog.shown, mask_secrets(probe.reason)),
        .path = {},
        .span = {},
        .hint = "check `catalog` of this lake in weir.yaml, and that the server answers"});
  return probe.kind != CatalogProbe::Kind::Absent;
}

}  // namespace weir::lake
