#include "duck/type_text.h"

#include "duck/api.h"
#include "duck/sql.h"

namespace weir::duck {
namespace {

std::string struct_text(duckdb_logical_type type) {
  std::string text = "STRUCT(";
  for (idx_t i = 0; i < api().struct_type_child_count(type); ++i) {
    char* name = api().struct_type_child_name(type, i);
    duckdb_logical_type child = api().struct_type_child_type(type, i);
    if (i > 0) text += ", ";
    text += quote_identifier(name) + " " + type_text(child);
    api().free(name);
    api().destroy_logical_type(&child);
  }
  return text + ")";
}

std::string decimal_text(duckdb_logical_type type) {
  return "DECIMAL(" + std::to_string(api().decimal_width(type)) + "," + std::to_string(api().decimal_scale(type)) + ")";
}

std::string child_text(duckdb_logical_type child) {
  std::string text = type_text(child);
  api().destroy_logical_type(&child);
  return text;
}

}  // namespace

std::string type_text(duckdb_logical_type type) {
  if (char* alias = api().logical_type_get_alias(type); alias != nullptr) {
    std::string text = alias;
    api().free(alias);
    return text;
  }
  switch (api().get_type_id(type)) {
    case DUCKDB_TYPE_BOOLEAN:
      return "BOOLEAN";
    case DUCKDB_TYPE_TINYINT:
      return "TINYINT";
    case DUCKDB_TYPE_SMALLINT:
      return "SMALLINT";
    case DUCKDB_TYPE_INTEGER:
      return "INTEGER";
    case DUCKDB_TYPE_BIGINT:
      return "BIGINT";
    case DUCKDB_TYPE_UTINYINT:
      return "UTINYINT";
    case DUCKDB_TYPE_USMALLINT:
      return "USMALLINT";
    case DUCKDB_TYPE_UINTEGER:
      return "UINTEGER";
    case DUCKDB_TYPE_UBIGINT:
      return "UBIGINT";
    case DUCKDB_TYPE_FLOAT:
      return "FLOAT";
    case DUCKDB_TYPE_DOUBLE:
      return "DOUBLE";
    case DUCKDB_TYPE_TIMESTAMP:
      return "TIMESTAMP";
    case DUCKDB_TYPE_DATE:
      return "DATE";
    case DUCKDB_TYPE_TIME:
      return "TIME";
    case DUCKDB_TYPE_TIME_NS:
      return "TIME_NS";
    case DUCKDB_TYPE_INTERVAL:
      return "INTERVAL";
    case DUCKDB_TYPE_HUGEINT:
      return "HUGEINT";
    case DUCKDB_TYPE_UHUGEINT:
      return "UHUGEINT";
    case DUCKDB_TYPE_VARCHAR:
      return "VARCHAR";
    case DUCKDB_TYPE_BLOB:
      return "BLOB";
    case DUCKDB_TYPE_DECIMAL:
      return decimal_text(type);
    case DUCKDB_TYPE_TIMESTAMP_S:
      return "TIMESTAMP_S";
    case DUCKDB_TYPE_TIMESTAMP_MS:
      return "TIMESTAMP_MS";
    case DUCKDB_TYPE_TIMESTAMP_NS:
      return "TIMESTAMP_NS";
    case DUCKDB_TYPE_ENUM:
      return "ENUM";
    case DUCKDB_TYPE_LIST:
      return child_text(api().list_type_child_type(type)) + "[]";
    case DUCKDB_TYPE_ARRAY:
      return child_text(api().array_type_child_type(type)) + "[" + std::to_string(api().array_type_array_size(type)) +
             "]";
    case DUCKDB_TYPE_STRUCT:
      return struct_text(type);
    case DUCKDB_TYPE_MAP:
      return "MAP(" + child_text(api().map_type_key_type(type)) + ", " + child_text(api().map_type_value_type(type)) +
             ")";
    case DUCKDB_TYPE_UUID:
      return "UUID";
    case DUCKDB_TYPE_UNION:
      return "UNION";
    case DUCKDB_TYPE_BIT:
      return "BIT";
    case DUCKDB_TYPE_TIME_TZ:
      return "TIME WITH TIME ZONE";
    case DUCKDB_TYPE_TIMESTAMP_TZ:
      return "TIMESTAMP WITH TIME ZONE";
    case DUCKDB_TYPE_BIGNUM:
      return "BIGNUM";
    case DUCKDB_TYPE_SQLNULL:
      return "\"NULL\"";
    default:
      return "UNKNOWN";
  }
}

}  // namespace weir::duck
