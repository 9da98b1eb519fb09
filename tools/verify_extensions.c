// Loads each extension file that is named, in an instance that demands DuckDB's signature. scripts/setup trusts a file
// only after this; weir itself opens with unsigned extensions allowed, because the check hashes 40 MB at every start,
// and compares size, time and inode with what was checked here.
//   verify_extensions FOLDER NAME...     FOLDER holds v<version>/<platform>/NAME.duckdb_extension
#include <duckdb.h>
#include <stdio.h>

int main(int count, char** words) {
  if (count < 3) {
    fprintf(stderr, "usage: %s FOLDER NAME...\n", words[0]);
    return 2;
  }
  duckdb_config config;
  duckdb_database database;
  duckdb_connection connection;
  char* problem = NULL;
  if (duckdb_create_config(&config) != DuckDBSuccess ||
      duckdb_set_config(config, "allow_unsigned_extensions", "false") != DuckDBSuccess ||
      duckdb_set_config(config, "autoinstall_known_extensions", "false") != DuckDBSuccess ||
      duckdb_set_config(config, "extension_directory", words[1]) != DuckDBSuccess ||
      duckdb_open_ext(NULL, &database, config, &problem) != DuckDBSuccess ||
      duckdb_connect(database, &connection) != DuckDBSuccess) {
    fprintf(stderr, "DuckDB does not start: %s\n", problem == NULL ? "no reason given" : problem);
    return 1;
  }
  int failed = 0;
  for (int i = 2; i < count; ++i) {
    char statement[256];
    snprintf(statement, sizeof statement, "LOAD %s", words[i]);
    duckdb_result result;
    if (duckdb_query(connection, statement, &result) != DuckDBSuccess) {
      fprintf(stderr, "extension %s is refused: %s\n", words[i], duckdb_result_error(&result));
      failed = 1;
    }
    duckdb_destroy_result(&result);
  }
  duckdb_disconnect(&connection);
  duckdb_close(&database);
  duckdb_destroy_config(&config);
  return failed;
}
