#include "duck/file_guard.h"

#include <utility>
#include <vector>

#include "duck/api.h"
#include "duck/database.h"

namespace weir::duck {
namespace {

thread_local std::string made;

// Names of files may be NULL, which DuckDB's readers refuse themselves.
std::vector<std::string> texts_of(duckdb_vector vector, idx_t count) {
  std::vector<std::string> texts;
  auto* data = static_cast<duckdb_string_t*>(api().vector_get_data(vector));
  std::uint64_t* valid = api().vector_get_validity(vector);
  for (idx_t i = 0; i < count; ++i)
    if (valid == nullptr || api().validity_row_is_valid(valid, i))
      texts.emplace_back(api().string_t_data(&data[i]), api().string_t_length(data[i]));
  return texts;
}

void pass_files(duckdb_function_info call, duckdb_data_chunk input, duckdb_vector output, bool is_list) {
  const auto& database = *static_cast<const Database*>(api().scalar_function_get_extra_info(call));
  duckdb_vector names = api().data_chunk_get_vector(input, 0);
  const auto texts = is_list ? texts_of(api().list_vector_get_child(names), api().list_vector_get_size(names))
                             : texts_of(names, api().data_chunk_get_size(input));
  for (const std::string& text : texts)
    if (auto objection = database.objection_to(text)) {
      made = *objection;
      api().scalar_function_set_error(call, made.c_str());
      return;
    }
  api().vector_reference_vector(output, names);
}

void pass_file(duckdb_function_info call, duckdb_data_chunk input, duckdb_vector output) {
  pass_files(call, input, output, false);
}
void pass_list(duckdb_function_info call, duckdb_data_chunk input, duckdb_vector output) {
  pass_files(call, input, output, true);
}

}  // namespace

bool make_file_guard(duckdb_connection connection, Database* database) {
  const std::string name(kFileGuard);
  duckdb_scalar_function_set set = api().create_scalar_function_set(name.c_str());
  duckdb_logical_type text = api().create_logical_type(DUCKDB_TYPE_VARCHAR);
  duckdb_logical_type list = api().create_list_type(text);
  bool done = true;
  for (const bool is_list : {false, true}) {
    duckdb_scalar_function function = api().create_scalar_function();
    api().scalar_function_set_name(function, name.c_str());
    api().scalar_function_add_parameter(function, is_list ? list : text);
    api().scalar_function_set_return_type(function, is_list ? list : text);
    api().scalar_function_set_extra_info(function, database, nullptr);
    api().scalar_function_set_function(function, is_list ? pass_list : pass_file);
    done = done && api().add_scalar_function_to_set(set, function) == DuckDBSuccess;
    api().destroy_scalar_function(&function);
  }
  done = done && api().register_scalar_function_set(connection, set) == DuckDBSuccess;
  api().destroy_scalar_function_set(&set);
  api().destroy_logical_type(&list);
  api().destroy_logical_type(&text);
  return done;
}

std::string take_objection() { return std::exchange(made, {}); }

}  // namespace weir::duck
