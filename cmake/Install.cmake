# bin/weir, lib/weir/libduckdb.so and lib/weir/extensions under a prefix that can be moved as a whole: weir finds the
# library and the extensions by its own place (src/io/installation.cc).
install(TARGETS weir RUNTIME DESTINATION bin)
install(FILES ${WEIR_DEPS}/duckdb/libduckdb.so DESTINATION lib/weir)
install(DIRECTORY ${WEIR_DEPS}/extensions/ DESTINATION lib/weir/extensions FILES_MATCHING PATTERN "*.duckdb_extension")
# The record names inodes, so the installed files get their own. scripts/setup checked their signatures; that the copies
# equal those files is compared by SHA-256 first.
install(CODE "set(checked_record \"${WEIR_DEPS}/extensions/verified\")
set(recorder \"${CMAKE_SOURCE_DIR}/tools/record_extensions\")")
install(CODE [[
  execute_process(COMMAND ${recorder} --from ${checked_record} $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib/weir/extensions RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "the installed extensions are not those that scripts/setup checked: run scripts/setup, then install again")
  endif()
]])
