#include "lake/table_sizes.h"

namespace weir::lake {

Result<std::map<std::string, TableSize>> table_sizes(duck::Connection& connection, const Lake& lake) {
  std::map<std::string, TableSize> sizes;
  if (!lake.exists()) return sizes;
  const auto rows = connection.query(duck::Sql(
      "SELECT s.schema_name, t.table_name, coalesce(f.records, 0)::BIGINT, coalesce(f.bytes, 0)::BIGINT FROM {} t JOIN "
      "{} s ON s.schema_id = t.schema_id AND s.end_snapshot IS NULL LEFT JOIN (SELECT table_id, sum(record_count) AS "
      "records, sum(file_size_bytes) AS bytes FROM {} WHERE end_snapshot IS NULL GROUP BY table_id) f ON f.table_id = "
      "t.table_id WHERE t.end_snapshot IS NULL",
      lake.metadata("ducklake_table"), lake.metadata("ducklake_schema"), lake.metadata("ducklake_data_file")));
  if (!rows) return fail(explain(Code::W6003, "the lake " + lake.name() + " cannot be read", rows.error()));
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const Asset table{AssetKind::Lake, lake.name(), rows->text(i, 0), rows->text(i, 1)};
    sizes[table.key()] = {rows->integer(i, 2), rows->integer(i, 3)};
  }
  return sizes;
}

}  // namespace weir::lake
