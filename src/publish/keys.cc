// Keys: which columns they are, what happens to a key that one result holds twice, and which keys' rows differ between
// two relations. Everything compares with IS NOT DISTINCT FROM or by grouping, for which NULL is a value like any
// other.
#include <algorithm>

#include "publish/draft.h"

namespace weir::publish {
namespace {

duck::Identifier numbered(char letter, std::size_t number) { return duck::Identifier(letter + std::to_string(number)); }

constexpr int kSampleKeys = 5;

// `: ` and up to five keys as text, `(1, a) ×3`; nothing where samples are switched off. Private values are veiled.
Result<std::string> sample_of(Draft& draft, const Key& key, const duck::Sql& relation) {
  if (!draft.request.samples) return std::string();
  const auto& hidden = draft.request.private_columns;
  std::vector<duck::Sql> parts;
  for (const ShapedColumn& column : key) {
    const bool is_private = std::any_of(hidden.begin(), hidden.end(), [&column](const std::string& name) {
      return build::same_name(name, column.state.name);
    });
    parts.push_back(is_private ? duck::Sql("'•••'")
                               : duck::Sql("coalesce(CAST({} AS VARCHAR), 'NULL')", value_from_stage(column)));
  }
  std::vector<duck::Sql> numbers;
  for (std::size_t i = 0; i < key.size(); ++i) numbers.push_back(duck::Sql("{}", i + 1));
  const duck::Sql one = duck::Sql::join(parts, " || ', ' || ");
  WEIR_TRY(
      const duck::Rows rows,
      draft.ask(duck::Sql(
          "SELECT {}, count(*) FROM {} AS s GROUP BY {} HAVING count(*) > 1 ORDER BY 2 DESC, 1 LIMIT {}", one, relation,
          duck::Sql::join(
              [&] {
                std::vector<duck::Sql> values;
                for (const ShapedColumn& column : key) values.push_back(value_from_stage(column));
                return values;
              }(),
              ", "),
          kSampleKeys)));
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i)
    text += (i == 0 ? ": (" : ", (") + rows.text(i, 0) + ") ×" + std::to_string(rows.integer(i, 1));
  return text;
}

std::string listed(const Key& key) {
  std::string text;
  for (const ShapedColumn& column : key) text += (text.empty() ? "" : ", ") + column.state.name;
  return text;
}

struct Census {
  std::int64_t rows = 0;
  std::int64_t keys = 0;
  std::int64_t repeated = 0;
};

Result<Census> census_of(Draft& draft, const Key& key, const duck::Sql& relation) {
  std::vector<duck::Sql> values;
  for (const ShapedColumn& column : key) values.push_back(value_from_stage(column));
  WEIR_TRY(const duck::Rows rows,
           draft.ask(duck::Sql("SELECT CAST(coalesce(sum(n), 0) AS BIGINT), count(*), count(*) FILTER (n > 1) "
                               "FROM (SELECT count(*) AS n FROM {} AS s GROUP BY {})",
                               relation, duck::Sql::join(values, ", "))));
  return Census{rows.integer(0, 0), rows.integer(0, 1), rows.integer(0, 2)};
}

Result<Source> choose(Draft& draft, const Key& key, Duplicates policy) {
  WEIR_TRY(const Key order, key_columns(draft, draft.request.model.order));
  std::vector<duck::Sql> values;
  for (const ShapedColumn& column : key) values.push_back(value_from_stage(column));
  std::vector<duck::Sql> terms;
  for (const ShapedColumn& column : order)  // a row without a value to order by never wins
    terms.push_back(policy == Duplicates::First ? duck::Sql("{} ASC NULLS LAST", value_from_stage(column))
                                                : duck::Sql("{} DESC NULLS LAST", value_from_stage(column)));
  WEIR_TRY(
      const duck::TableName chosen,
      draft.keep("chosen",
                 duck::Sql("SELECT s.* FROM {} AS s QUALIFY rank() OVER (PARTITION BY {} ORDER BY {}) = 1",
                           draft.request.stage.relation, duck::Sql::join(values, ", "), duck::Sql::join(terms, ", "))));
  const duck::Sql relation("{}", chosen);
  WEIR_TRY(const Census census, census_of(draft, key, relation));
  if (census.repeated == 0) return Source{relation, census.rows, census.keys};
  WEIR_TRY(const std::string sample, sample_of(draft, key, relation));
  return fail(draft.problem(Code::W6010,
                            std::to_string(census.repeated) + " keys (" + listed(key) +
                                ") have several rows that order= cannot tell apart" + sample,
                            "add a column to order= that decides"));
}

bool holds_inexact(const std::string& type) {
  const auto has = [&](std::string_view word) { return type.find(word) != std::string::npos; };
  return has("FLOAT") || has("DOUBLE") || has("INTERVAL");
}

}  // namespace

Result<Key> key_columns(const Draft& draft, const std::vector<std::string>& names) {
  Key key;
  for (const std::string& name : names) {
    const auto& columns = draft.shape.columns;
    const auto found = std::find_if(columns.begin(), columns.end(), [&](const ShapedColumn& column) {
      return column.in_stage && build::same_name(column.state.name, name);
    });
    if (found == columns.end())
      return fail(draft.problem(
          Code::W6011, "the query returns no column " + name + ", which key=, track=, order= or valid_from= names"));
    key.push_back(*found);
  }
  return key;
}

std::vector<ShapedColumn> compared_columns(const Draft& draft, const Key& key) {
  std::vector<ShapedColumn> compared = key;
  for (const ShapedColumn& column : draft.shape.columns) {
    const bool is_key =
        std::any_of(key.begin(), key.end(), [&](const auto& part) { return part.state.name == column.state.name; });
    if (column.in_stage && !is_key) compared.push_back(column);
  }
  return compared;
}

duck::Sql key_match(const Key& key, const ValueOf& left, std::string_view right) {
  std::vector<duck::Sql> terms;
  for (std::size_t i = 0; i < key.size(); ++i)
    terms.push_back(duck::Sql("{} IS NOT DISTINCT FROM {}.{}", left(key[i]), duck::Identifier(std::string(right)),
                              numbered('k', i)));
  return duck::Sql::join(terms, " AND ");
}

duck::Sql key_list(const Key& key, const ValueOf& value_of) {
  std::vector<duck::Sql> items;
  for (std::size_t i = 0; i < key.size(); ++i)
    items.push_back(duck::Sql("{} AS {}", value_of(key[i]), numbered('k', i)));
  return duck::Sql::join(items, ", ");
}

Result<Source> without_duplicates(Draft& draft, const Key& key, Duplicates policy) {
  const duck::Sql& relation = draft.request.stage.relation;
  WEIR_TRY(const Census census, census_of(draft, key, relation));
  if (census.repeated == 0) return Source{relation, census.rows, census.keys};
  if (policy == Duplicates::First || policy == Duplicates::Last) return choose(draft, key, policy);
  WEIR_TRY(const std::string sample, sample_of(draft, key, relation));
  const std::string what = std::to_string(census.repeated) + (census.repeated == 1 ? " key (" : " keys (") +
                           listed(key) + (census.repeated == 1 ? ") has" : ") have") + " several rows in the result" +
                           sample;
  if (policy == Duplicates::Fail)
    return fail(draft.problem(Code::W6010, what,
                              "make the query return one row a key, or say duplicates=first or last with order="));
  draft.warn(Code::W6021, what, "all of them are kept; duplicates=fail, first or last decides otherwise");
  return Source{relation, census.rows, census.keys};
}

std::vector<duck::Sql> comparable(const duck::Sql& value, const std::string& type, bool by_value) {
  if (by_value) return {value};
  if (type == "FLOAT" || type == "DOUBLE") return {value, duck::Sql("({} = 0 AND signbit({}))", value, value)};
  if (holds_inexact(type)) return {value, duck::Sql("CAST({} AS VARCHAR)", value)};
  return {value};
}

duck::Sql compared_list(const std::vector<ShapedColumn>& compared, const ValueOf& value_of) {
  std::vector<duck::Sql> items;
  for (std::size_t i = 0; i < compared.size(); ++i)
    items.push_back(duck::Sql("{} AS {}", value_of(compared[i]), numbered('c', i)));
  return duck::Sql::join(items, ", ");
}

duck::Sql old_rows_of(const Key& key, const duck::TableName& old, const duck::TableName& changed) {
  std::vector<duck::Sql> names;
  std::vector<duck::Sql> terms;
  for (std::size_t i = 0; i < key.size(); ++i) {
    names.push_back(duck::Sql("o.{} AS {}", numbered('c', i), numbered('k', i)));
    terms.push_back(duck::Sql("o.{} IS NOT DISTINCT FROM k.{}", numbered('c', i), numbered('k', i)));
  }
  return duck::Sql("SELECT o.r, {} FROM {} AS o SEMI JOIN {} AS k ON ({})", duck::Sql::join(names, ", "), old, changed,
                   duck::Sql::join(terms, " AND "));
}

namespace {

// Grouping both sides together, the stage's rows counting +1 and the table's -1, leaves zero exactly where they agree:
// one pass, right for repeated rows, and exact where a hash of rows would only be likely.
Result<duck::TableName> compare_groups(Draft& draft, const Key& key, const std::vector<ShapedColumn>& compared,
                                       const Source& source, const duck::TableName& old,
                                       const std::set<std::string>& by_value, std::int64_t& keys) {
  std::vector<duck::Sql> groups;
  std::vector<duck::Sql> columns;
  for (std::size_t i = 0; i < compared.size(); ++i) {
    columns.push_back(duck::Sql("{}", numbered('c', i)));
    const ShapedColumn& column = compared[i];
    const bool is_merged = column.in_stage && by_value.contains(column.in_stage->name);
    for (const duck::Sql& form : comparable(columns.back(), column.state.type, is_merged)) groups.push_back(form);
  }
  std::vector<duck::Sql> names;
  for (std::size_t i = 0; i < key.size(); ++i)
    names.push_back(duck::Sql("{} AS {}", numbered('c', i), numbered('k', i)));
  return draft.keep(
      "changed",
      duck::Sql("SELECT DISTINCT {} FROM (SELECT {} FROM (SELECT {}, 1 AS w FROM {} AS s UNION ALL SELECT {}, -1 AS w "
                "FROM {}) "
                "GROUP BY {} HAVING sum(w) <> 0)",
                duck::Sql::join(names, ", "), duck::Sql::join(columns, ", "), compared_list(compared, value_from_stage),
                source.relation, duck::Sql::join(columns, ", "), old, duck::Sql::join(groups, ", ")),
      &keys);
}

}  // namespace

// A difference of spelling alone is none where the lake cannot keep it: such rows would be written again by each run.
// That is asked only when something differs, so equal data is compared once.
Result<duck::TableName> changed_keys(Draft& draft, const Key& key, const std::vector<ShapedColumn>& compared,
                                     const Source& source, const duck::TableName& old, std::int64_t* keys) {
  std::int64_t found = 0;
  WEIR_TRY(duck::TableName changed, compare_groups(draft, key, compared, source, old, {}, found));
  const bool has_spellings = std::any_of(compared.begin(), compared.end(),
                                         [](const auto& column) { return holds_inexact(column.state.type); });
  if (found > 0 && has_spellings) {
    WEIR_TRY(const std::set<std::string> merged, draft.merged_columns(source.relation));
    if (!merged.empty()) {
      WEIR_TRY(changed, compare_groups(draft, key, compared, source, old, merged, found));
    }
  }
  if (keys != nullptr) *keys = found;
  return changed;
}

}  // namespace weir::publish
