#include "parse/functions.h"

#include <gtest/gtest.h>

namespace weir::parse {
namespace {

std::shared_ptr<duck::Database> with_extensions() {
  auto database = duck::Database::open({.extension_folder = WEIR_EXTENSION_FOLDER, .threads = 1});
  EXPECT_TRUE(database.has_value());
  for (const char* extension : {"ducklake", "sqlite_scanner", "postgres_scanner", "httpfs"})
    EXPECT_TRUE((*database)->load(extension).has_value()) << extension;
  return *database;
}

// A newer engine or extension brings functions that nobody has looked at: this test names them.
TEST(Functions, EveryTableFunctionOfTheEngineIsEitherAllowedOrRefused) {
  const auto database = with_extensions();
  auto connection = database->connect();
  const auto rows = connection->query(
      "SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE function_type IN ('table', 'table_macro')");
  ASSERT_TRUE(rows.has_value());
  ASSERT_GT(rows->size(), 80U);
  for (std::size_t row = 0; row < rows->size(); ++row) {
    const std::string name = rows->text(row, 0);
    EXPECT_NE(is_allowed_table_function(name), is_refused_table_function(name) || is_table_scan(name)) << name;
  }
}

TEST(Functions, WhatActsIsNeverAllowed) {
  for (const char* name : {"ducklake_delete_orphaned_files", "ducklake_add_data_files", "ducklake_set_option",
                           "checkpoint", "postgres_execute", "enable_logging", "json_execute_serialized_sql"}) {
    EXPECT_TRUE(is_refused_function(name)) << name;
    EXPECT_FALSE(is_allowed_table_function(name)) << name;
  }
}

TEST(Functions, ReservedNamesAreFoundWithinTextsInAnyCase) {
  EXPECT_TRUE(names_reserved("FROM \"_WEIR_r_main\".main.t"));
  EXPECT_TRUE(names_reserved("from __ducklake_metadata_main.ducklake_table"));
  EXPECT_FALSE(names_reserved("FROM weir_target.t"));
}

}  // namespace
}  // namespace weir::parse
