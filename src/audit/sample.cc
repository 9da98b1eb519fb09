#include "audit/sample.h"

#include "build/names.h"

namespace weir::audit {
namespace {

using duck::Identifier;
using duck::Literal;
using duck::Sql;

bool is_private(const AuditRequest& request, const std::string& name) {
  for (const auto& hidden : request.private_columns)
    if (build::same_name(hidden, name)) return true;
  return false;
}

/// JSON has no NaN and no infinity: such a number is shown as text, and so is a nested value that may hold one.
Sql value_of(const AuditRequest& request, const duck::Column& column) {
  if (is_private(request, column.name)) return Sql("'•••'");
  const Identifier name(column.name);
  if (column.type == "DOUBLE" || column.type == "FLOAT")
    return Sql("CASE WHEN isfinite({}) THEN to_json({}) ELSE to_json(CAST({} AS VARCHAR)) END", name, name, name);
  if (column.type.find("DOUBLE") != std::string::npos || column.type.find("FLOAT") != std::string::npos)
    return Sql("CAST({} AS VARCHAR)", name);
  return Sql("{}", name);
}

Sql object_of(const AuditRequest& request, const std::vector<duck::Column>& columns) {
  std::vector<Sql> pairs;
  for (const auto& column : columns) {
    if (build::same_name(column.name, lake::kPartitionColumn)) continue;
    pairs.push_back(Sql("{}, {}", Literal(column.name), value_of(request, column)));
  }
  return Sql("json_object({})", Sql::join(pairs, ", "));
}

/// The key first, then every other column: two runs over the same rows show the same ones.
Sql order_of(const Model& model, const std::vector<duck::Column>& columns) {
  std::vector<std::string> names;
  const auto add = [&names](const std::string& name) {
    for (const auto& have : names)
      if (build::same_name(have, name)) return;
    names.push_back(name);
  };
  for (const auto& key : model.key)
    for (const auto& column : columns)
      if (build::same_name(key, column.name)) add(column.name);
  for (const auto& column : columns) add(column.name);
  return Sql::names(names);
}

std::string array_of(const duck::Outcome<duck::Rows>& rows) {
  if (!rows || rows->size() == 0) return {};
  std::string json = "[";
  for (std::size_t i = 0; i < rows->size(); ++i) json += (i == 0 ? "" : ",") + rows->text(i, 0);
  json += "]";
  return json.size() > kSampleBytes ? std::string() : json;
}

}  // namespace

std::string sample_rows(duck::Connection& connection, const Sql& relation, const std::vector<duck::Column>& columns,
                        const AuditRequest& request) {
  return array_of(
      connection.query(Sql("SELECT CAST({} AS VARCHAR) FROM {} AS \"_weir_t\" ORDER BY {} LIMIT {}",
                           object_of(request, columns), relation, order_of(request.model, columns), kSampleRows)));
}

std::string sample_groups(duck::Connection& connection, const Sql& relation, const std::vector<std::string>& columns,
                          const AuditRequest& request) {
  std::vector<duck::Column> typed;
  for (const auto& name : columns)
    if (const auto* found = build::find_column(request.columns, name); found != nullptr)
      typed.push_back({found->name, found->type});
  const Sql value = typed.size() == 1 ? value_of(request, typed.front()) : object_of(request, typed);
  const Sql names = Sql::names(columns);
  return array_of(
      connection.query(Sql("SELECT CAST(json_object('value', {}, 'count', \"_weir_n\") AS VARCHAR) FROM (SELECT {}, "
                           "count(*) AS \"_weir_n\" FROM {} "
                           "AS \"_weir_t\" GROUP BY {} HAVING count(*) > 1) ORDER BY {} LIMIT {}",
                           value, names, relation, names, names, kSampleRows)));
}

}  // namespace weir::audit
