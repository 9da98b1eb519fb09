# The writer of Arrow's stream and file formats: C sources of nanoarrow and of the part of flatcc that it needs, built as
# they come.
set(nanoarrow_folder ${WEIR_DEPS}/nanoarrow/arrow-nanoarrow/src)
set(flatcc_folder ${WEIR_DEPS}/nanoarrow/flatcc)
if(NOT EXISTS ${nanoarrow_folder}/nanoarrow/ipc/writer.c)
  message(FATAL_ERROR "nanoarrow is not installed in ${WEIR_DEPS}: run scripts/setup")
endif()
file(STRINGS ${CMAKE_SOURCE_DIR}/scripts/dependencies.lock pinned REGEX "sdist +nanoarrow ")
string(REGEX MATCH "([0-9]+)\\.([0-9]+)\\.([0-9]+)" NANOARROW_VERSION "${pinned}")
set(NANOARROW_VERSION_MAJOR ${CMAKE_MATCH_1})
set(NANOARROW_VERSION_MINOR ${CMAKE_MATCH_2})
set(NANOARROW_VERSION_PATCH ${CMAKE_MATCH_3})
set(NANOARROW_NAMESPACE_DEFINE "#define NANOARROW_NAMESPACE Weir")
configure_file(${nanoarrow_folder}/nanoarrow/nanoarrow_config.h.in ${CMAKE_BINARY_DIR}/nanoarrow/nanoarrow/nanoarrow_config.h @ONLY)
add_library(nanoarrow STATIC
  ${nanoarrow_folder}/nanoarrow/common/array.c
  ${nanoarrow_folder}/nanoarrow/common/array_stream.c
  ${nanoarrow_folder}/nanoarrow/common/schema.c
  ${nanoarrow_folder}/nanoarrow/common/utils.c
  ${nanoarrow_folder}/nanoarrow/ipc/codecs.c
  ${nanoarrow_folder}/nanoarrow/ipc/decoder.c
  ${nanoarrow_folder}/nanoarrow/ipc/encoder.c
  ${nanoarrow_folder}/nanoarrow/ipc/writer.c
  ${flatcc_folder}/src/runtime/builder.c
  ${flatcc_folder}/src/runtime/emitter.c
  ${flatcc_folder}/src/runtime/refmap.c
  ${flatcc_folder}/src/runtime/verifier.c)
target_include_directories(nanoarrow SYSTEM PUBLIC ${nanoarrow_folder} ${CMAKE_BINARY_DIR}/nanoarrow)
target_include_directories(nanoarrow SYSTEM PRIVATE ${flatcc_folder}/include)
# Their warnings are theirs; flatcc reads words at odd addresses on purpose.
target_compile_options(nanoarrow PRIVATE -w -fno-sanitize=undefined)
