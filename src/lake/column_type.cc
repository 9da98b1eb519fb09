#include "lake/column_type.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "duck/sql.h"

namespace weir::lake {
namespace {

constexpr auto kSimple = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"boolean", "BOOLEAN"},
    {"int8", "TINYINT"},
    {"int16", "SMALLINT"},
    {"int32", "INTEGER"},
    {"int64", "BIGINT"},
    {"int128", "HUGEINT"},
    {"uint8", "UTINYINT"},
    {"uint16", "USMALLINT"},
    {"uint32", "UINTEGER"},
    {"uint64", "UBIGINT"},
    {"uint128", "UHUGEINT"},
    {"float32", "FLOAT"},
    {"float64", "DOUBLE"},
    {"timestamptz", "TIMESTAMP WITH TIME ZONE"},
    {"timestamp_us", "TIMESTAMP"},
    {"timetz", "TIME WITH TIME ZONE"},
});

std::vector<std::size_t> parts_of(const std::vector<ColumnRecord>& records, std::int64_t parent) {
  std::vector<std::size_t> parts;
  for (std::size_t i = 0; i < records.size(); ++i)
    if (records[i].parent == parent) parts.push_back(i);
  return parts;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

}  // namespace

std::string spell_type(const std::vector<ColumnRecord>& records, std::size_t index) {
  const ColumnRecord& record = records[index];
  const auto simple =
      std::find_if(kSimple.begin(), kSimple.end(), [&](const auto& entry) { return entry.first == record.type; });
  if (simple != kSimple.end()) return std::string(simple->second);
  const bool nested = record.type == "list" || record.type == "struct" || record.type == "map";
  if (!nested) return upper(record.type);  // date, time, timestamp_ns, decimal(10,2), varchar, json, …
  const auto parts = parts_of(records, record.id);
  if (record.type == "list") return parts.empty() ? "UNKNOWN[]" : spell_type(records, parts[0]) + "[]";
  if (record.type == "map")
    return parts.size() < 2 ? "MAP"
                            : "MAP(" + spell_type(records, parts[0]) + ", " + spell_type(records, parts[1]) + ")";
  std::string text = "STRUCT(";
  for (const std::size_t part : parts) {
    if (part != parts.front()) text += ", ";
    text += duck::quote_identifier(records[part].name) + " " + spell_type(records, part);
  }
  return text + ")";
}

}  // namespace weir::lake
