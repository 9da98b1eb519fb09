// Runs one statement in plain DuckDB, without weir, and prints its rows as comma-separated text: what the demo's tables are
// compared with.
#include <duckdb.h>
#include <stdio.h>

int main(int count, char** words) {
  duckdb_database database;
  duckdb_connection connection;
  duckdb_result result;
  if (count != 2 || duckdb_open(NULL, &database) != DuckDBSuccess ||
      duckdb_connect(database, &connection) != DuckDBSuccess) {
    fprintf(stderr, "usage: %s STATEMENT\n", words[0]);
    return 2;
  }
  if (duckdb_query(connection, words[1], &result) != DuckDBSuccess) {
    fprintf(stderr, "%s\n", duckdb_result_error(&result));
    return 1;
  }
  for (idx_t row = 0; row < duckdb_row_count(&result); ++row) {
    for (idx_t column = 0; column < duckdb_column_count(&result); ++column) {
      char* text = duckdb_value_varchar(&result, column, row);
      printf("%s%s", column == 0 ? "" : ",", text == NULL ? "" : text);
      duckdb_free(text);
    }
    printf("\n");
  }
  duckdb_destroy_result(&result);
  duckdb_disconnect(&connection);
  duckdb_close(&database);
  return 0;
}
