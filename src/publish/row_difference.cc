#include "publish/row_difference.h"

#include "publish/draft.h"

namespace weir::publish {
namespace {

duck::Identifier numbered(std::size_t index) { return duck::Identifier("c" + std::to_string(index)); }

duck::Sql qualified(std::size_t index, const duck::Sql& alias) {
  return alias.empty() ? duck::Sql("{}", numbered(index)) : duck::Sql("{}.{}", alias, numbered(index));
}

}  // namespace

std::vector<duck::Sql> forms_of(const PairedColumn& column, std::size_t index, const duck::Sql& alias) {
  return comparable(qualified(index, alias), column.type, false);
}

duck::Sql numbered_columns(std::size_t count, const duck::Sql& alias) {
  std::vector<duck::Sql> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(qualified(i, alias));
  return duck::Sql::join(names, ", ");
}

namespace {

/// `SELECT <value> AS c0, …, <weight> AS w FROM <relation>` of one side.
duck::Sql side(const std::vector<PairedColumn>& columns, const duck::Sql& relation, bool is_left) {
  std::vector<duck::Sql> values;
  for (std::size_t i = 0; i < columns.size(); ++i)
    values.push_back(duck::Sql("{} AS {}", is_left ? columns[i].left : columns[i].right, numbered(i)));
  return duck::Sql("SELECT {}, {} AS w FROM {}", duck::Sql::join(values, ", "), is_left ? 1 : -1, relation);
}

duck::Sql all_forms(const std::vector<PairedColumn>& columns) {
  std::vector<duck::Sql> forms;
  for (std::size_t i = 0; i < columns.size(); ++i)
    for (const duck::Sql& form : forms_of(columns[i], i)) forms.push_back(form);
  return duck::Sql::join(forms, ", ");
}

/// Rows of one side with their hash h.
duck::Sql hashed(const std::vector<PairedColumn>& columns, const duck::Sql& relation, bool is_left) {
  return duck::Sql("SELECT *, hash({}) AS h FROM ({})", all_forms(columns), side(columns, relation, is_left));
}

}  // namespace

duck::Sql differing_buckets(const std::vector<PairedColumn>& columns, const duck::Sql& left, const duck::Sql& right) {
  const auto of_side = [&](const duck::Sql& relation, bool is_left) {
    return duck::Sql("SELECT w, h FROM ({})", hashed(columns, relation, is_left));
  };
  return duck::Sql(
      "SELECT h & 65535 AS b FROM ({} UNION ALL {}) GROUP BY ALL HAVING sum(h) FILTER (w > 0) IS DISTINCT FROM sum(h) "
      "FILTER (w < 0) OR sum(hash(h)) FILTER (w > 0) IS DISTINCT FROM sum(hash(h)) FILTER (w < 0)",
      of_side(left, true), of_side(right, false));
}

duck::Sql row_difference(const std::vector<PairedColumn>& columns, const duck::Sql& left, const duck::Sql& right,
                         const duck::Sql& buckets) {
  return duck::Sql(
      "SELECT {}, CAST(sum(w) AS BIGINT) AS n FROM ({} UNION ALL {}) WHERE h & 65535 IN (SELECT b FROM {}) GROUP BY {} "
      "HAVING sum(w) <> 0",
      numbered_columns(columns.size()), hashed(columns, left, true), hashed(columns, right, false), buckets,
      all_forms(columns));
}

}  // namespace weir::publish
