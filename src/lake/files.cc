// Removing files that no version knows. Always under the lake's lock: a file that the catalog does not know yet may
// belong to a writer.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <unordered_set>

#include "lake/strays.h"
#include "lake/unknown_files.h"

namespace weir::lake {
namespace {

namespace fs = std::filesystem;
using duck::Sql;

/// Names of stages begin so, see build/files.cc.
constexpr std::string_view kStagePrefix = "weir-";

bool is_remote(const std::string& path) { return path.find("://") != std::string::npos; }

/// Every file name the catalog knows, of any version. Names of DuckLake and of weir hold unique ids, so a name is
/// enough and no path needs to be resolved.
Result<std::unordered_set<std::string>> known_names(duck::Connection& connection, const Lake& lake) {
  std::unordered_set<std::string> names;
  if (!lake.exists()) return names;
  const auto rows =
      connection.query(Sql("SELECT DISTINCT parse_filename(path, false, 'forward_slash') FROM (SELECT path FROM {} "
                           "UNION ALL SELECT path FROM {} UNION ALL "
                           "SELECT path FROM {})",
                           lake.metadata("ducklake_data_file"), lake.metadata("ducklake_delete_file"),
                           lake.metadata("ducklake_files_scheduled_for_deletion")));
  if (!rows) return fail(explain(Code::W6003, "the lake " + lake.name() + " cannot be read", rows.error()));
  for (std::size_t i = 0; i < rows->size(); ++i) names.insert(rows->text(i, 0));
  return names;
}

/// Removes what `is_victim` accepts under `folder`; a folder that cannot be walked is said.
template <class Victim>
Result<std::int64_t> sweep(const Lake& lake, const std::string& folder, Victim is_victim) {
  std::int64_t removed = 0;
  std::error_code error;
  if (!fs::exists(folder, error)) return removed;
  std::vector<fs::path> victims;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (entry->is_regular_file(error) && entry->path().extension() == ".parquet" && is_victim(entry->path()))
      victims.push_back(entry->path());
  for (const fs::path& victim : victims) {
    if (fs::remove(victim, error)) ++removed;
    if (error) break;
  }
  if (error)
    return fail(Diagnostic{
        .code = Code::W6005,
        .message = fmt::format("lake {}: leftovers in {} cannot be removed: {}", lake.name(), folder, error.message()),
        .path = {},
        .span = {},
        .hint = {}});
  return removed;
}

}  // namespace

// Object stores are left to DuckLake's own orphan removal: DuckDB can list them but not delete.
Result<std::int64_t> Lake::remove_files(duck::Connection& connection, const std::string& prefix) const {
  if (is_remote(data_folder_) || prefix.empty()) return 0;
  WEIR_TRY(const auto known, known_names(connection, *this));
  return sweep(*this, data_folder_, [&](const fs::path& file) {
    const std::string name = file.filename().string();
    return name.starts_with(prefix) && !known.contains(name);
  });
}

Result<std::int64_t> Lake::remove_strays(duck::Connection& connection, const std::string& folder,
                                         std::int64_t since) const {
  if (folder.empty() || is_remote(folder)) return 0;
  WEIR_TRY(const auto known, known_names(connection, *this));
  return sweep(*this, folder, [&](const fs::path& file) {
    struct stat found {};
    if (file.filename().string().starts_with(kStagePrefix)) return false;
    return ::stat(file.c_str(), &found) == 0 && found.st_mtim.tv_sec >= since &&
           !known.contains(file.filename().string());
  });
}

namespace {

/// Names of the folders that tables and schemas of any version have.
Result<std::unordered_set<std::string>> known_folders(duck::Connection& connection, const Lake& lake) {
  std::unordered_set<std::string> names;
  const auto rows = connection.query(Sql(
      "SELECT DISTINCT parse_filename(rtrim(path, '/'), false, 'forward_slash') FROM (SELECT path FROM {} UNION ALL "
      "SELECT path FROM {}) WHERE path IS NOT NULL",
      lake.metadata("ducklake_table"), lake.metadata("ducklake_schema")));
  if (!rows) return fail(explain(Code::W6003, "the lake " + lake.name() + " cannot be read", rows.error()));
  for (std::size_t i = 0; i < rows->size(); ++i) names.insert(rows->text(i, 0));
  return names;
}

/// True for a name of the form that DuckLake gives: 8-4-4-4-12 hexadecimal digits.
bool is_random_name(const std::string& name) {
  if (name.size() != 36) return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (is_dash ? name[i] != '-' : std::isxdigit(static_cast<unsigned char>(name[i])) == 0) return false;
  }
  return true;
}

}  // namespace

Result<std::int64_t> remove_strays(const Lake& lake, duck::Connection& connection, const TableState& table,
                                   std::int64_t since) {
  WEIR_TRY(std::int64_t removed, lake.remove_strays(connection, table.folder, since));
  const std::string& data = lake.config().data;
  if (table.has_plain_folder || is_remote(data) || !lake.exists()) return removed;
  WEIR_TRY(const auto files, known_names(connection, lake));
  WEIR_TRY(const auto folders, known_folders(connection, lake));
  const auto is_unpublished = [&](const fs::path& file) {
    for (fs::path at = file.parent_path(); at.string().size() > data.size(); at = at.parent_path())
      if (const std::string name = at.filename().string(); is_random_name(name) && !folders.contains(name)) return true;
    return false;
  };
  WEIR_TRY(const std::int64_t more, sweep(lake, data, [&](const fs::path& file) {
             struct stat found {};
             return is_unpublished(file) && !files.contains(file.filename().string()) &&
                    ::stat(file.c_str(), &found) == 0 && found.st_mtim.tv_sec >= since;
           }));
  return removed + more;
}

bool is_on_object_storage(const Lake& lake) { return is_remote(lake.data_folder()); }

namespace {

/// The kernel stamps files by a clock that may lag behind by some milliseconds.
constexpr std::int64_t kLagMicros = 20'000;

std::int64_t micros_of(const timespec& time) { return time.tv_sec * 1'000'000 + time.tv_nsec / 1'000; }

}  // namespace

Result<std::int64_t> remove_unknown(duck::Connection& connection, const Lake& lake, std::int64_t before,
                                    const std::set<std::string>& live_runs, bool dry_run) {
  WEIR_TRY(const auto known, known_names(connection, lake));
  const auto is_live = [&live_runs](const std::string& name) {
    return std::any_of(live_runs.begin(), live_runs.end(), [&name](const std::string& run) {
      return name.starts_with(std::string(kStagePrefix) + run + "-");
    });
  };
  std::int64_t counted = 0;
  WEIR_TRY(const std::int64_t removed, sweep(lake, lake.data_folder(), [&](const fs::path& file) {
             const std::string name = file.filename().string();
             struct stat found {};
             const bool is_victim = !known.contains(name) && !is_live(name) && ::stat(file.c_str(), &found) == 0 &&
                                    micros_of(found.st_mtim) + kLagMicros < before;
             counted += is_victim ? 1 : 0;
             return is_victim && !dry_run;
           }));
  return dry_run ? counted : removed;
}

}  // namespace weir::lake
