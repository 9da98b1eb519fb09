// Types of the places that weir delivers to, as their attachments read them back (measured): SQLite knows whole
// numbers, doubles, texts and bytes; PostgreSQL lacks unsigned and small numbers, nanoseconds and unnamed composites.
#include "build/holder.h"

#include <map>
#include <set>

namespace weir::build {
namespace {

Type plain(std::string_view name) { return {std::string(name), {}, {}}; }
Type decimal(int precision, int scale) { return {"DECIMAL", {precision, scale}, {}}; }

/// Digits that a double keeps of every decimal.
constexpr int kDigitsOfDouble = 15;

std::optional<Type> in_postgres(const Type& type) {
  static const std::map<std::string, std::string, std::less<>> other = {
      {"TINYINT", "SMALLINT"},       {"UTINYINT", "SMALLINT"},     {"USMALLINT", "INTEGER"},
      {"UINTEGER", "BIGINT"},        {"TIMESTAMP_S", "TIMESTAMP"}, {"TIMESTAMP_MS", "TIMESTAMP"},
      {"TIMESTAMP_NS", "TIMESTAMP"}, {"ENUM", "VARCHAR"},
  };
  static const std::set<std::string, std::less<>> same = {
      "BOOLEAN",
      "SMALLINT",
      "INTEGER",
      "BIGINT",
      "FLOAT",
      "DOUBLE",
      "DECIMAL",
      "VARCHAR",
      "BLOB",
      "DATE",
      "TIME",
      "UUID",
      "JSON",
      "TIMESTAMP",
      "TIMESTAMP WITH TIME ZONE",
      "TIME WITH TIME ZONE",
      "INTERVAL",
  };
  if (type.name == "UBIGINT") return decimal(20, 0);
  if (type.name == "HUGEINT" || type.name == "UHUGEINT") return decimal(38, 0);
  if (const auto mapped = other.find(type.name); mapped != other.end()) return plain(mapped->second);
  if (same.contains(type.name)) return type;
  if (type.name != "LIST" && type.name != "ARRAY") return std::nullopt;
  // Lists of lists must be rectangular there, which no type says.
  const Type& element = type.children.front().type;
  if (element.name == "LIST" || element.name == "ARRAY" || element.name == "JSON") return std::nullopt;
  const auto kept = in_postgres(element);
  if (!kept) return std::nullopt;
  Type list{"LIST", {}, {}};
  list.children.push_back({{}, *kept});
  return list;
}

std::optional<Type> in_sqlite(const Type& type) {
  static const std::set<std::string, std::less<>> whole = {"BOOLEAN",  "TINYINT",   "SMALLINT", "INTEGER",
                                                           "UTINYINT", "USMALLINT", "UINTEGER", "BIGINT"};
  static const std::set<std::string, std::less<>> texts = {
      "VARCHAR",
      "JSON",
      "UUID",
      "ENUM",
      "DATE",
      "TIME",
      "TIME WITH TIME ZONE",
      "TIMESTAMP",
      "TIMESTAMP_S",
      "TIMESTAMP_MS",
      "TIMESTAMP_NS",
      "TIMESTAMP WITH TIME ZONE",
      "INTERVAL",
      "UBIGINT",
      "HUGEINT",
      "UHUGEINT",
  };
  if (whole.contains(type.name)) return plain("BIGINT");
  if (type.name == "FLOAT" || type.name == "DOUBLE") return plain("DOUBLE");
  // A text would not be added up or ordered as a number.
  if (type.name == "DECIMAL") return plain(type.parameters.front() <= kDigitsOfDouble ? "DOUBLE" : "VARCHAR");
  if (type.name == "BLOB") return type;
  if (texts.contains(type.name)) return plain("VARCHAR");
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Holder holder) {
  switch (holder) {
    case Holder::Lake:
      return "a lake";
    case Holder::Postgres:
      return "PostgreSQL";
    case Holder::Sqlite:
      return "SQLite";
    case Holder::DuckDb:
      return "DuckDB";
    case Holder::File:
      return "a file";
  }
  return "";
}

std::optional<Type> kept_as(Holder holder, const Type& type) {
  if (type.name == "NULL") return std::nullopt;
  switch (holder) {
    case Holder::Postgres:
      return in_postgres(type);
    case Holder::Sqlite:
      return in_sqlite(type);
    case Holder::File:
      return without_huge(type);  // Parquet writes a 128-bit number as a double
    case Holder::DuckDb:
    case Holder::Lake:
      break;
  }
  return type;
}

}  // namespace weir::build
