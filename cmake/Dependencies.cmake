# Everything the build links. DuckDB comes from the folder that scripts/setup fills; the rest are Debian packages.
set(WEIR_DEPS ${CMAKE_SOURCE_DIR}/.deps CACHE PATH "Folder that scripts/setup filled")
if(NOT EXISTS ${WEIR_DEPS}/duckdb/libduckdb.so)
  message(FATAL_ERROR "DuckDB is not installed in ${WEIR_DEPS}: run scripts/setup")
endif()
add_library(duckdb SHARED IMPORTED)
set_target_properties(duckdb PROPERTIES
  IMPORTED_LOCATION ${WEIR_DEPS}/duckdb/libduckdb.so
  IMPORTED_NO_SONAME ON
  INTERFACE_INCLUDE_DIRECTORIES ${WEIR_DEPS}/duckdb)

find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(tl-expected REQUIRED)
find_package(date REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-cpp)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(PQ REQUIRED IMPORTED_TARGET libpq)
pkg_check_modules(SIMDJSON REQUIRED IMPORTED_TARGET simdjson)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
# SOCI's package has no CMake files.
foreach(part core sqlite3 postgresql)
  find_library(SOCI_${part} NAMES libsoci_${part}.a soci_${part} REQUIRED)
  add_library(SOCI::soci_${part} UNKNOWN IMPORTED)
  set_target_properties(SOCI::soci_${part} PROPERTIES IMPORTED_LOCATION ${SOCI_${part}})
endforeach()
target_include_directories(SOCI::soci_postgresql SYSTEM INTERFACE ${PQ_INCLUDE_DIRS})
target_link_libraries(SOCI::soci_core INTERFACE ${CMAKE_DL_LIBS})
target_link_libraries(SOCI::soci_sqlite3 INTERFACE SOCI::soci_core PkgConfig::SQLITE)
target_link_libraries(SOCI::soci_postgresql INTERFACE SOCI::soci_core PkgConfig::PQ)
