#include "parse/functions.h"

#include <mutex>
#include <optional>

namespace weir::parse {
namespace {

using Names = std::set<std::string_view>;

const Names& readers() {
  static const Names names = {"read_parquet", "parquet_scan", "read_csv", "read_csv_auto", "read_json", "read_json_auto", "read_json_objects",
                              "read_json_objects_auto", "read_ndjson", "read_ndjson_auto", "read_ndjson_objects", "read_text", "read_blob", "sniff_csv",
                              "glob", "parquet_metadata", "parquet_schema", "parquet_file_metadata", "parquet_kv_metadata", "parquet_bloom_probe",
                              "parquet_full_metadata", "replacement_scan"};
  return names;
}

}  // namespace

bool reads_files(std::string_view name) { return readers().contains(name); }

bool is_allowed_table_function(std::string_view name) {
  static const Names others = {"range", "generate_series", "unnest", "repeat", "repeat_row", "json_each", "json_tree", "summary", "describe",
                               "histogram", "histogram_values", "query", "query_table", "ducklake_snapshots", "ducklake_current_snapshot",
                               "ducklake_last_committed_snapshot", "ducklake_table_info", "ducklake_table_changes", "ducklake_table_insertions",
                               "ducklake_table_deletions", "ducklake_list_files", "ducklake_options"};
  return reads_files(name) || others.contains(name);
}

bool is_refused_function(std::string_view name) {
  static const Names names = {"ducklake_delete_orphaned_files", "ducklake_add_data_files", "ducklake_cleanup_old_files", "ducklake_expire_snapshots",
                              "ducklake_merge_adjacent_files", "ducklake_rewrite_data_files", "ducklake_flush_inlined_data", "ducklake_set_option",
                              "ducklake_set_commit_message", "set_commit_message", "merge_adjacent_files", "delete_orphaned_files", "expire_snapshots",
                              "cleanup_old_files", "add_data_files", "rewrite_data_files", "flush_inlined_data", "set_option", "checkpoint",
                              "force_checkpoint", "postgres_execute", "postgres_query", "sqlite_query", "mysql_execute", "mysql_query", "write_log",
                              "json_execute_serialized_sql", "from_substrait", "duckdb_secrets", "which_secret", "enable_logging", "disable_logging",
                              "truncate_duckdb_logs"};
  return names.contains(name);
}

bool hides_its_reads(std::string_view name) { return name == "query" || name == "query_table"; }

duck::Outcome<const std::set<std::string>*> volatile_functions(duck::Connection& connection) {
  static std::mutex mutex;
  static std::optional<std::set<std::string>> known;
  const std::lock_guard lock(mutex);
  if (known) return &*known;
  auto rows = connection.query("SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE stability IN ('VOLATILE', 'CONSISTENT_WITHIN_QUERY')");
  if (!rows) return tl::unexpected(rows.error());
  std::set<std::string> names = {"current_time", "current_timestamp", "localtime", "localtimestamp", "current_user", "getvariable", "getenv"};
  for (std::size_t row = 0; row < rows->size(); ++row) names.insert(rows->text(row, 0));
  known = std::move(names);
  return &*known;
}

}  // namespace weir::parse
