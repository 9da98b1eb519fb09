// The catalogue of metrics: pages in the order of table, kind, name and script, by table or by folder.
#include <algorithm>

#include "state/sql_store.h"
#include "state/store.h"

namespace weir::state {
namespace {

constexpr std::size_t kLargestPage = 1000;

std::string text(Field& field) { return std::move(field).value_or(std::string()); }

}  // namespace

std::string table_key_of(const std::string& path) {
  std::string key = path;
  for (char& c : key)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return key;
}

Result<MetricPage> SqlStore::metrics(const MetricQuery& query) {
  const std::size_t limit = std::clamp<std::size_t>(query.limit, 1, kLargestPage);
  std::string sql =
      "SELECT script_path, table_path, kind, name, expr, filter, description, unit, format, created_at FROM "
      "data_metric WHERE environment = :environment";
  Row values = {query.environment};
  if (query.table) {
    sql += " AND table_key = :table";
    values.push_back(table_key_of(*query.table));
  }
  std::string folder = query.folder.value_or("");
  while (folder.ends_with('/')) folder.pop_back();
  if (!folder.empty()) {
    // All that begins with `folder/`: the byte behind the slash is the zero.
    sql += " AND script_path >= :first AND script_path < :behind";
    values.push_back(folder + "/");
    values.push_back(folder + "0");
  }
  if (query.after) {
    sql += " AND (table_key, kind, name, script_path) > (:table_key, :kind, :name, :script)";
    for (const std::string& part :
         {table_key_of(query.after->table), query.after->kind, query.after->name, query.after->script})
      values.push_back(part);
  }
  sql += " ORDER BY table_key, kind, name, script_path LIMIT " + std::to_string(limit + 1);
  WEIR_TRY(auto found, rows(sql, values, 10));
  MetricPage page;
  for (Row& row : found) {
    if (page.metrics.size() == limit) {
      const MetricRecord& last = page.metrics.back();
      page.next = MetricCursor{last.table, last.kind, last.name, last.script};
      break;
    }
    MetricRecord metric;
    metric.script = text(row[0]);
    metric.table = text(row[1]);
    metric.kind = text(row[2]);
    metric.name = text(row[3]);
    metric.expression = text(row[4]);
    metric.filter = std::move(row[5]);
    metric.description = text(row[6]);
    metric.unit = text(row[7]);
    metric.format = text(row[8]);
    metric.deployed = text(row[9]);
    page.metrics.push_back(std::move(metric));
  }
  return page;
}

}  // namespace weir::state
