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

Sql value_of(const AuditRequest& request, const std::string& name) { return is_private(request, name) ? Sql("'•••'") : Sql("{}", Identifier(name)); }

Sql object_of(const AuditRequest& request, const std::vector<std::string>& columns) {
  std::vector<Sql> pairs;
  for (const auto& name : columns) {
    if (build::same_name(name, lake::kPartitionColumn)) continue;
    pairs.push_back(Sql("{}, {}", Literal(name), value_of(request, name)));
  }
  return Sql("json_object({})", Sql::join(pairs, ", "));
}

/// The key first, then every other column: two runs over the same rows show the same ones.
Sql order_of(const Model& model, const std::vector<std::string>& columns) {
  std::vector<std::string> names;
  const auto add = [&names](const std::string& name) {
    for (const auto& have : names)
      if (build::same_name(have, name)) return;
    names.push_back(name);
  };
  for (const auto& key : model.key)
    for (const auto& name : columns)
      if (build::same_name(key, name)) add(name);
  for (const auto& name : columns) add(name);
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

std::string sample_rows(duck::Connection& connection, const Sql& relation, const std::vector<std::string>& columns, const AuditRequest& request) {
  return array_of(connection.query(Sql("SELECT CAST({} AS VARCHAR) FROM {} AS \"_weir_t\" ORDER BY {} LIMIT {}", object_of(request, columns), relation,
                                       order_of(request.model, columns), kSampleRows)));
}

std::string sample_groups(duck::Connection& connection, const Sql& relation, const std::vector<std::string>& columns, const AuditRequest& request) {
  const Sql value = columns.size() == 1 ? value_of(request, columns.front()) : object_of(request, columns);
  const Sql names = Sql::names(columns);
  return array_of(connection.query(Sql("SELECT CAST(json_object('value', {}, 'count', \"_weir_n\") AS VARCHAR) FROM (SELECT {}, count(*) AS \"_weir_n\" FROM {} "
                                       "AS \"_weir_t\" GROUP BY {} HAVING count(*) > 1) ORDER BY {} LIMIT {}",
                                       value, names, relation, names, names, kSampleRows)));
}

}  // namespace weir::audit
