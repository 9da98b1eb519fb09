// Merge: for each key of the result whose rows differ, as a multiset, from the table's, the table's rows go and the
// result's come. A full merge takes the result for the whole truth: keys that it lacks go too. A hash merge is a merge
// that can keep a hash of each row for its readers. The table is scanned once, for the rows whose key is in the result;
// they go by row number, so that the write under the lock looks nothing up. (100,000 rows into one of 10 partitions of
// 10 million: DELETE by row number and INSERT 52 ms, DELETE USING the key 62, MERGE 85.)
#include <algorithm>

#include "publish/draft.h"

namespace weir::publish {
namespace {

struct Difference {
  duck::Sql fresh;  // a SELECT of the shape's columns
  std::optional<duck::TableName> gone;
  std::int64_t inserted = 0;
  std::int64_t updated = 0;
  /// Rows of the table that go, and those of them whose key the result lacks.
  std::int64_t gone_rows = 0;
  std::int64_t vanished_rows = 0;
  /// Rows of a key beyond those that the result has of it.
  std::int64_t surplus = 0;
};

bool is_whole_truth(const Draft& draft) { return draft.request.model.strategy == Strategy::FullMerge; }

// The rows that change: all of the source if every key of it does, else a table of them.
Result<void> take_fresh(Draft& draft, const Key& key, const Source& source, const duck::TableName& changed,
                        std::int64_t changed_keys, Difference& difference, std::int64_t& rows) {
  if (changed_keys == source.keys && !is_whole_truth(draft)) {
    rows = source.rows;
    difference.fresh = draft.stage_rows(source.relation);
    return {};
  }
  WEIR_TRY(const duck::TableName fresh,
           draft.keep("fresh",
                      duck::Sql("{} SEMI JOIN {} AS k ON ({})", draft.stage_rows(source.relation), changed,
                                key_match(key, value_from_stage, "k")),
                      &rows));
  difference.fresh = duck::Sql("SELECT {} FROM {}", duck::Sql::names(draft.shape.names()), fresh);
  return {};
}

// Where one side holds a key more often than the other, what it has beyond that is no update: such a row of the table
// goes, such a row of the result comes.
Result<void> count_surplus(Draft& draft, const Key& key, const Source& source, const duck::TableName& gone,
                           Difference& difference) {
  // One row a key on the side of the result: each row of the table beyond that one is too many.
  if (source.rows == source.keys) {
    difference.surplus = difference.gone_rows - difference.vanished_rows - difference.updated;
    return {};
  }
  std::vector<duck::Sql> names;
  std::vector<duck::Sql> values;
  std::vector<duck::Sql> terms;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const duck::Identifier name("k" + std::to_string(i));
    names.push_back(duck::Sql("{}", name));
    values.push_back(value_from_stage(key[i]));
    terms.push_back(duck::Sql("g.{} IS NOT DISTINCT FROM n.{}", name, name));
  }
  const auto beyond = [&](const char* more, const char* less) {
    return draft.count(
        duck::Sql("SELECT CAST(coalesce(sum(greatest({}.rows - {}.rows, 0)), 0) AS BIGINT) FROM (SELECT {}, count(*) "
                  "AS rows FROM {} GROUP BY {}) AS g JOIN (SELECT {}, count(*) AS rows FROM {} AS s GROUP BY {}) AS n "
                  "ON ({})",
                  duck::Identifier(more), duck::Identifier(less), duck::Sql::join(names, ", "), gone,
                  duck::Sql::join(names, ", "), key_list(key, value_from_stage), source.relation,
                  duck::Sql::join(values, ", "), duck::Sql::join(terms, " AND ")));
  };
  WEIR_TRY(difference.surplus, beyond("g", "n"));
  WEIR_TRY(const std::int64_t more, beyond("n", "g"));
  difference.updated -= more;
  return {};
}

Result<Difference> compare(Draft& draft, const Key& key, const Source& source) {
  Difference difference;
  const std::vector<ShapedColumn> compared = compared_columns(draft, key);
  const duck::Sql in_source = is_whole_truth(draft) ? duck::Sql()
                                                    : duck::Sql(" SEMI JOIN (SELECT {} FROM {} AS s) AS k ON ({})",
                                                                key_list(key, value_from_stage), source.relation,
                                                                key_match(key, value_from_target, "k"));
  WEIR_TRY(const duck::TableName old, draft.keep("old", duck::Sql("SELECT t.rowid AS r, {} FROM {} AS t{}{}",
                                                                  compared_list(compared, value_from_target),
                                                                  draft.readable(), in_source, draft.where_slice())));
  std::int64_t changed_count = 0;
  WEIR_TRY(const duck::TableName changed, changed_keys(draft, key, compared, source, old, &changed_count));
  std::int64_t fresh_rows = 0;
  WEIR_CHECK(take_fresh(draft, key, source, changed, changed_count, difference, fresh_rows));
  WEIR_TRY(const duck::TableName gone, draft.keep("gone", old_rows_of(key, old, changed), &difference.gone_rows));
  if (difference.gone_rows > 0) {
    difference.gone = gone;
    // A row of the result is an update if the table holds its key.
    WEIR_TRY(difference.updated, draft.count(duck::Sql("SELECT count(*) FROM {} AS s SEMI JOIN {} AS k ON ({})",
                                                       source.relation, gone, key_match(key, value_from_stage, "k"))));
    if (is_whole_truth(draft)) {
      WEIR_TRY(difference.vanished_rows,
               draft.count(duck::Sql("SELECT count(*) FROM {} AS k WHERE NOT EXISTS (SELECT 1 FROM {} AS s WHERE {})",
                                     gone, source.relation, key_match(key, value_from_stage, "k"))));
    }
    WEIR_CHECK(count_surplus(draft, key, source, gone, difference));
  }
  difference.inserted = fresh_rows - difference.updated;
  return difference;
}

Result<void> merge_into_nothing(Draft& draft, const Source& source) {
  Effect& effect = draft.effect;
  const duck::Sql rows = draft.stage_rows(source.relation);
  effect.counts = {.inserted = source.rows,
                   .updated = 0,
                   .deleted = is_whole_truth(draft) ? std::optional<std::int64_t>(0) : std::nullopt,
                   .closed = {},
                   .unchanged = 0};
  effect.rows = source.rows;
  effect.statements = draft.create();
  effect.shaping = effect.statements.size();
  if (source.rows > 0) effect.statements.push_back(draft.insert(rows));
  return draft.finish(rows, rows);
}

duck::Sql remaining(const Draft& draft, const Difference& difference, const duck::Sql& condition) {
  if (!difference.gone) return draft.target_rows(condition);
  return duck::Sql("SELECT {} FROM {} AS t ANTI JOIN {} AS g ON (t.rowid = g.r){}",
                   select_list(draft.shape.columns, value_from_target), draft.readable(), *difference.gone, condition);
}

}  // namespace

Result<void> prepare_merge(Draft& draft) {
  WEIR_CHECK(draft.need_row_numbers());
  WEIR_TRY(const Key key, key_columns(draft, draft.request.model.key));
  WEIR_TRY(const Source source, without_duplicates(draft, key, draft.request.model.duplicates));
  if (!draft.target.exists) return merge_into_nothing(draft, source);
  std::int64_t held = draft.target.rows;
  if (draft.is_partitioned()) {
    WEIR_TRY(held, draft.rows_of_slice());
  }
  WEIR_TRY(const Difference difference, compare(draft, key, source));
  Effect& effect = draft.effect;
  const std::int64_t fresh_rows = difference.inserted + difference.updated;
  effect.counts = {.inserted = difference.inserted,
                   .updated = difference.updated,
                   .deleted = is_whole_truth(draft) ? std::optional(difference.vanished_rows) : std::nullopt,
                   .closed = {},
                   .unchanged = source.rows - fresh_rows};
  if (difference.surplus > 0) {
    effect.counts.deleted = effect.counts.deleted.value_or(0) + difference.surplus;
    draft.warn(Code::W6029, (difference.surplus == 1 ? "1 row" : std::to_string(difference.surplus) + " rows") +
                                " of " + draft.request.model.target->uri() +
                                " went: the table held keys more often than the result returns them");
  }
  effect.rows = held - difference.gone_rows + fresh_rows;
  effect.statements = draft.shape.alters;
  effect.shaping = effect.statements.size();
  if (difference.gone) effect.statements.push_back(draft.remove(*difference.gone));
  if (fresh_rows > 0) effect.statements.push_back(draft.insert(difference.fresh));
  effect.changes = !effect.statements.empty() || draft.request.always_commit;
  if (effect.statements.empty() && effect.changes) effect.statements.push_back(draft.touch());
  const duck::Sql slice = remaining(draft, difference, draft.where_slice());
  const duck::Sql table = remaining(draft, difference, {});
  if (fresh_rows == 0) return draft.finish(slice, table);
  return draft.finish(duck::Sql("{} UNION ALL {}", slice, difference.fresh),
                      duck::Sql("{} UNION ALL {}", table, difference.fresh));
}

}  // namespace weir::publish
