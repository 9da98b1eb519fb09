#include "parse/functions.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <mutex>
#include <optional>
#include <sstream>
#include <vector>

namespace weir::parse {
namespace {

using Names = std::set<std::string_view>;

const Names& readers() {
  static const Names names = {"read_parquet",
                              "parquet_scan",
                              "read_csv",
                              "read_csv_auto",
                              "read_json",
                              "read_json_auto",
                              "read_json_objects",
                              "read_json_objects_auto",
                              "read_ndjson",
                              "read_ndjson_auto",
                              "read_ndjson_objects",
                              "read_text",
                              "read_blob",
                              "sniff_csv",
                              "glob",
                              "parquet_metadata",
                              "parquet_schema",
                              "parquet_file_metadata",
                              "parquet_kv_metadata",
                              "parquet_bloom_probe",
                              "parquet_full_metadata",
                              "replacement_scan"};
  return names;
}

}  // namespace

bool reads_files(std::string_view name) { return readers().contains(name); }

bool is_allowed_table_function(std::string_view name) {
  static const Names others = {"range",
                               "generate_series",
                               "unnest",
                               "repeat",
                               "repeat_row",
                               "json_each",
                               "json_tree",
                               "summary",
                               "describe",
                               "histogram",
                               "histogram_values",
                               "query",
                               "query_table",
                               "ducklake_snapshots",
                               "ducklake_current_snapshot",
                               "ducklake_last_committed_snapshot",
                               "ducklake_table_info",
                               "ducklake_table_changes",
                               "ducklake_table_insertions",
                               "ducklake_table_deletions",
                               "ducklake_list_files",
                               "ducklake_options"};
  return reads_files(name) || others.contains(name);
}

bool is_table_scan(std::string_view name) {
  static const Names scans = {"seq_scan",    "column_data_scan", "ducklake_scan",
                              "sqlite_scan", "postgres_scan",    "postgres_scan_pushdown"};
  return scans.contains(name);
}

// Families by their prefix, so that a new member of one is refused before anybody has looked at it.
bool is_refused_table_function(std::string_view name) {
  static constexpr std::array<std::string_view, 9> kFamilies = {
      "duckdb_", "pragma_", "ducklake_", "sqlite_", "postgres_", "enable_", "disable_", "force_", "test_"};
  static const Names others = {
      "arrow_scan",         "arrow_scan_dumb",      "check_peg_parser", "checkpoint",
      "icu_calendar_names", "pandas_scan",          "pg_clear_cache",   "pg_timezone_names",
      "read_duckdb",        "read_postgres_binary", "seq_scan",         "show",
      "sql_auto_complete",  "truncate_duckdb_logs", "which_secret",     "json_execute_serialized_sql"};
  if (is_allowed_table_function(name)) return false;
  return others.contains(name) || std::any_of(kFamilies.begin(), kFamilies.end(),
                                              [name](std::string_view family) { return name.starts_with(family); });
}

bool is_refused_function(std::string_view name) {
  static const Names names = {"ducklake_delete_orphaned_files",
                              "ducklake_add_data_files",
                              "ducklake_cleanup_old_files",
                              "ducklake_expire_snapshots",
                              "ducklake_merge_adjacent_files",
                              "ducklake_rewrite_data_files",
                              "ducklake_flush_inlined_data",
                              "ducklake_set_option",
                              "ducklake_set_commit_message",
                              "ducklake_commit",
                              "ducklake_settings",
                              "set_commit_message",
                              "merge_adjacent_files",
                              "delete_orphaned_files",
                              "expire_snapshots",
                              "cleanup_old_files",
                              "add_data_files",
                              "rewrite_data_files",
                              "flush_inlined_data",
                              "set_option",
                              "checkpoint",
                              "force_checkpoint",
                              "postgres_execute",
                              "postgres_query",
                              "postgres_attach",
                              "postgres_configure_pool",
                              "sqlite_query",
                              "sqlite_attach",
                              "mysql_execute",
                              "mysql_query",
                              "write_log",
                              "json_execute_serialized_sql",
                              "json_serialize_plan",
                              "from_substrait",
                              "duckdb_secrets",
                              "which_secret",
                              "enable_logging",
                              "disable_logging",
                              "truncate_duckdb_logs",
                              "getenv"};
  return names.contains(name);
}

bool hides_its_reads(std::string_view name) { return name == "query" || name == "query_table"; }

// DuckDB calls most of them GLOBAL in duckdb_settings(), yet a plain SET of these stayed on the connection that made it
// when two connections were compared (1.5.5); default_null_order, default_order, default_collation,
// preserve_insertion_order, old_implicit_casting and disabled_optimizers did not.
bool is_connection_setting(std::string_view name) {
  static const Names names = {"variable",
                              "timezone",
                              "calendar",
                              "integer_division",
                              "scalar_subquery_error_on_multiple_rows",
                              "order_by_non_integer_literal",
                              "ieee_floating_point_ops",
                              "pivot_limit",
                              "pivot_filter_threshold",
                              "lambda_syntax",
                              "max_expression_depth",
                              "binary_as_string",
                              "disable_timestamptz_casts",
                              "preserve_identifier_case",
                              "streaming_buffer_size"};
  return names.contains(name);
}

bool names_reserved(std::string_view text) {
  std::string lowered(text);
  std::transform(lowered.begin(), lowered.end(), lowered.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lowered.find("_weir_") != std::string::npos || lowered.find("__ducklake_") != std::string::npos;
}

duck::Outcome<const std::set<std::string>*> volatile_functions(duck::Connection& connection) {
  static std::mutex mutex;
  static std::optional<std::set<std::string>> known;
  const std::lock_guard lock(mutex);
  if (known) return &*known;
  auto rows = connection.query(
      "SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE stability IN ('VOLATILE', "
      "'CONSISTENT_WITHIN_QUERY')");
  if (!rows) return tl::unexpected(rows.error());
  std::set<std::string> names = {"current_time", "current_timestamp", "localtime", "localtimestamp",
                                 "current_user", "getvariable",       "getenv"};
  for (std::size_t row = 0; row < rows->size(); ++row) names.insert(rows->text(row, 0));
  known = std::move(names);
  return &*known;
}

duck::Outcome<const FunctionKinds*> function_kinds(duck::Connection& connection) {
  static std::mutex mutex;
  static std::optional<FunctionKinds> known;
  const std::lock_guard lock(mutex);
  if (known) return &*known;
  const auto volatiles = volatile_functions(connection);
  if (!volatiles) return tl::unexpected(volatiles.error());
  auto rows = connection.query(
      "SELECT DISTINCT lower(function_name), function_type, lower(coalesce(array_to_string(regexp_extract_all("
      "macro_definition, '([A-Za-z_0-9]+)\"?\\s*\\(', 1), ' '), '')) FROM duckdb_functions()");
  if (!rows) return tl::unexpected(rows.error());
  FunctionKinds kinds{.known = {}, .aggregates = {}, .row_makers = {"unnest", "unlist"}, .volatiles = **volatiles};
  std::vector<std::pair<std::string, std::vector<std::string>>> macros;
  for (std::size_t row = 0; row < rows->size(); ++row) {
    const std::string name = rows->text(row, 0);
    kinds.known.insert(name);
    if (rows->text(row, 1) == "aggregate") kinds.aggregates.insert(name);
    std::istringstream calls(rows->text(row, 2));
    macros.emplace_back(name, std::vector<std::string>(std::istream_iterator<std::string>(calls), {}));
  }
  // Macros call macros.
  for (bool grew = true; grew;) {
    grew = false;
    for (auto* kind : {&kinds.aggregates, &kinds.row_makers, &kinds.volatiles})
      for (const auto& [name, calls] : macros) {
        const bool does = std::any_of(calls.begin(), calls.end(), [&](const auto& one) { return kind->contains(one); });
        if (does) grew = kind->insert(name).second || grew;
      }
  }
  known = std::move(kinds);
  return &*known;
}

}  // namespace weir::parse
