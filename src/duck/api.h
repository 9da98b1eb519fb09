// The functions of DuckDB's C API that weir calls, taken from the library when they are first needed: loading it costs
// more than everything else that a command without data does.
#pragma once

#include <duckdb.h>

#include <string>
#include <tl/expected.hpp>

/// Calls `take(name)` for each function that weir calls, without the prefix duckdb_.
#define WEIR_DUCKDB_FUNCTIONS(take)                                                                                    \
  take(add_scalar_function_to_set) take(array_type_array_size) take(array_type_child_type) take(close) take(           \
      column_count) take(column_logical_type) take(column_name) take(connect) take(connection_get_arrow_options)       \
      take(create_config) take(create_list_type) take(create_logical_type) take(create_scalar_function) take(          \
          create_scalar_function_set) take(create_task_state) take(data_chunk_get_size) take(data_chunk_get_vector)    \
          take(data_chunk_to_arrow) take(decimal_scale) take(decimal_width) take(destroy_arrow_options) take(          \
              destroy_config) take(destroy_data_chunk) take(destroy_error_data) take(destroy_extracted)                \
              take(destroy_logical_type) take(destroy_pending) take(destroy_prepare) take(destroy_result) take(        \
                  destroy_scalar_function) take(destroy_scalar_function_set) take(destroy_task_state) take(disconnect) \
                  take(error_data_error_type) take(error_data_has_error) take(error_data_message)                      \
                      take(execute_pending) take(execute_tasks_state) take(extract_statements) take(                   \
                          extract_statements_error) take(fetch_chunk) take(finish_execution) take(free)                \
                          take(get_type_id) take(interrupt) take(library_version) take(list_type_child_type) take(     \
                              list_vector_get_child) take(list_vector_get_size) take(logical_type_get_alias)           \
                              take(map_type_key_type) take(map_type_value_type) take(open_ext) take(pending_error)     \
                                  take(pending_prepared_streaming) take(prepare) take(prepare_error) take(             \
                                      prepared_statement_column_count) take(prepared_statement_column_logical_type)    \
                                      take(prepared_statement_column_name) take(query) take(query_progress) take(      \
                                          register_scalar_function_set) take(result_error) take(result_error_type)     \
                                          take(row_count) take(rows_changed) take(scalar_function_add_parameter) take( \
                                              scalar_function_get_extra_info) take(scalar_function_set_error)          \
                                              take(scalar_function_set_extra_info) take(scalar_function_set_function)  \
                                                  take(scalar_function_set_name) take(scalar_function_set_return_type) \
                                                      take(set_config) take(string_t_data) take(string_t_length) take( \
                                                          struct_type_child_count) take(struct_type_child_name)        \
                                                          take(struct_type_child_type) take(to_arrow_schema) take(     \
                                                              union_type_member_count) take(union_type_member_name)    \
                                                              take(union_type_member_type) take(validity_row_is_valid) \
                                                                  take(value_double) take(value_int64)                 \
                                                                      take(value_is_null) take(value_string)           \
                                                                          take(vector_get_data)                        \
                                                                              take(vector_get_validity)                \
                                                                                  take(vector_reference_vector)

namespace weir::duck {

struct Api {
#define WEIR_MEMBER(name) decltype(&duckdb_##name) name = nullptr;
  WEIR_DUCKDB_FUNCTIONS(WEIR_MEMBER)
#undef WEIR_MEMBER
};

/// Loads the library once; afterwards api() may be called. An error says why it can't be loaded. Threads: safe.
tl::expected<void, std::string> load_api();
/// Requires: load_api() succeeded.
const Api& api();

}  // namespace weir::duck
