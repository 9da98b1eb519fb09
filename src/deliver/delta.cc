#include "deliver/delta.h"

#include <algorithm>

#include "deliver/strategies.h"
#include "project/validity.h"
#include "project/window_rows.h"

namespace weir::deliver {
namespace {

using publish::Draft;
using publish::Key;
using publish::ShapedColumn;
using publish::Source;

std::vector<ShapedColumn> returned_columns(const Draft& draft) {
  std::vector<ShapedColumn> columns;
  for (const ShapedColumn& column : draft.shape.columns)
    if (column.in_stage) columns.push_back(column);
  return columns;
}

// Only what the query returns is written: other columns keep their values, or get the database's own.
void take_fresh(const Draft& draft, Delta& delta, const duck::Sql& from) {
  const std::vector<ShapedColumn> columns = returned_columns(draft);
  delta.fresh = duck::Sql("SELECT {} FROM {}", select_list(columns, publish::value_from_stage), from);
  for (const ShapedColumn& column : columns) delta.fresh_columns.push_back(column.state.name);
}

/// The same rows as an image of the table: NULL in columns that the query does not return.
duck::Sql fresh_image(const Draft& draft, const duck::Sql& from) {
  return {"SELECT {} FROM {}", select_list(draft.shape.columns, publish::value_from_stage), from};
}

Result<void> append(Draft& draft, Delta& delta) {
  publish::Effect& effect = draft.effect;
  const std::int64_t added = draft.request.stage.content.rows;
  effect.counts.inserted = added;
  effect.rows = added;
  const duck::Sql stage("{} AS s", draft.request.stage.relation);
  if (added > 0) take_fresh(draft, delta, stage);
  if (!draft.target.exists) return draft.finish(draft.stage_rows(), draft.stage_rows());
  // The slice that this run is responsible for is what it adds.
  return draft.finish(draft.stage_rows(), duck::Sql("{} UNION ALL {}", draft.target_rows(), draft.stage_rows()));
}

Result<void> replace(Draft& draft, Delta& delta) {
  publish::Effect& effect = draft.effect;
  const std::int64_t rows = draft.request.stage.content.rows;
  std::int64_t held = 0;
  bool differs = true;
  if (draft.target.exists) {
    const Key all = returned_columns(draft);
    WEIR_TRY(const duck::TableName old,
             draft.keep(
                 "old",
                 duck::Sql("SELECT {} FROM {} AS t", compared_list(all, publish::value_from_target), draft.readable()),
                 &held));
    std::int64_t changed = 0;
    if (rows == held) {
      // As a multiset: with every column for a key, a row is itself or another one.
      WEIR_CHECK(changed_keys(draft, all, all, Source{draft.request.stage.relation, rows, rows}, old, &changed));
    }
    differs = rows != held || changed > 0;
  }
  effect.rows = rows;
  effect.counts.inserted = differs ? rows : 0;
  effect.counts.deleted = differs ? held : 0;
  delta.empties = differs && held > 0;
  if (differs && rows > 0) take_fresh(draft, delta, duck::Sql("{} AS s", draft.request.stage.relation));
  if (!differs) return draft.finish(draft.target_rows(), draft.target_rows());
  return draft.finish(draft.stage_rows(), draft.stage_rows());
}

/// Which of the keys that differ the target holds, and which of those have one row on either side, so that the row can
/// be changed where it stands: whatever points at it, and columns of others in it, stay.
struct Sides {
  duck::TableName held;
  duck::TableName twins;
};

Result<Sides> take_sides(Draft& draft, const Key& key, const Source& source, const duck::TableName& old,
                         const duck::TableName& changed) {
  const auto old_value = [](std::size_t i) { return duck::Sql("o.{}", duck::Identifier("c" + std::to_string(i))); };
  std::vector<duck::Sql> names;
  std::vector<duck::Sql> old_match;
  std::vector<duck::Sql> given_match;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const duck::Identifier k("k" + std::to_string(i));
    names.push_back(duck::Sql("{} AS {}", old_value(i), k));
    old_match.push_back(duck::Sql("{} IS NOT DISTINCT FROM k.{}", old_value(i), k));
    given_match.push_back(duck::Sql("h.{} IS NOT DISTINCT FROM g.{}", k, k));
  }
  WEIR_TRY(
      const duck::TableName held,
      draft.keep("held", duck::Sql("SELECT {}, count(*) AS n FROM {} AS o SEMI JOIN {} AS k ON ({}) GROUP BY ALL",
                                   duck::Sql::join(names, ", "), old, changed, duck::Sql::join(old_match, " AND "))));
  WEIR_TRY(const duck::TableName given,
           draft.keep("given", duck::Sql("SELECT {}, count(*) AS n FROM {} AS s SEMI JOIN {} AS k ON ({}) GROUP BY ALL",
                                         key_list(key, publish::value_from_stage), source.relation, changed,
                                         key_match(key, publish::value_from_stage, "k"))));
  WEIR_TRY(const duck::TableName twins,
           draft.keep("twins", duck::Sql("SELECT h.* EXCLUDE (n) FROM {} AS h SEMI JOIN {} AS g ON ({} AND h.n = 1 AND "
                                         "g.n = 1)",
                                         held, given, duck::Sql::join(given_match, " AND "))));
  return Sides{held, twins};
}

duck::Sql keys_match(const Key& key, const char* left, const char* right) {
  std::vector<duck::Sql> terms;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const duck::Identifier k("k" + std::to_string(i));
    terms.push_back(
        duck::Sql("{}.{} IS NOT DISTINCT FROM {}.{}", duck::Identifier(left), k, duck::Identifier(right), k));
  }
  return duck::Sql::join(terms, " AND ");
}

/// Columns that the query returns and that are no part of the key, with their place in a Change.
std::vector<ShapedColumn> payload(const Draft& draft, const Key& key) {
  std::vector<ShapedColumn> columns = compared_columns(draft, key);
  columns.erase(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(key.size()));
  return columns;
}

Result<duck::Sql> take_changes(Draft& draft, Delta& delta, const Key& key, const Source& source, const Sides& sides) {
  const std::vector<ShapedColumn> columns = payload(draft, key);
  std::vector<duck::Sql> values;
  Change change;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    values.push_back(
        duck::Sql(", {} AS {}", publish::value_from_stage(columns[i]), duck::Identifier("v" + std::to_string(i))));
    change.columns.push_back(columns[i].state.name);
  }
  std::int64_t rows = 0;
  WEIR_TRY(change.rows,
           draft.keep("changes",
                      duck::Sql("SELECT {}{} FROM {} AS s SEMI JOIN {} AS k ON ({})",
                                key_list(key, publish::value_from_stage), duck::Sql::join(values, ""), source.relation,
                                sides.twins, key_match(key, publish::value_from_stage, "k")),
                      &rows));
  const publish::ValueOf changed_value = [&](const ShapedColumn& column) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (columns[i].state.name == column.state.name)
        return duck::Sql("u.{}", duck::Identifier("v" + std::to_string(i)));
    return publish::value_from_target(column);
  };
  const duck::Sql image("SELECT {} FROM {} AS t JOIN {} AS u ON ({})", select_list(draft.shape.columns, changed_value),
                        draft.readable(), change.rows, key_match(key, publish::value_from_target, "u"));
  if (rows > 0 && !change.columns.empty()) delta.changes.push_back(std::move(change));
  return image;
}

/// Without a key the rows of windows are told apart by all their columns.
bool is_window_of_rows(const Draft& draft) {
  return is_windowed(draft.request.model) && draft.request.model.key.empty();
}

bool is_whole_truth(const Draft& draft) {
  return draft.request.model.strategy == Strategy::FullMerge || is_window_of_rows(draft);
}

Result<void> merge_into_nothing(Draft& draft, Delta& delta, const Source& source) {
  publish::Effect& effect = draft.effect;
  if (is_window_of_rows(draft))
    effect.counts = {.inserted = source.rows, .updated = {}, .deleted = 0, .closed = {}, .unchanged = {}};
  else
    effect.counts = {.inserted = source.rows, .updated = 0, .deleted = {}, .closed = {}, .unchanged = 0};
  effect.rows = source.rows;
  if (source.rows > 0) take_fresh(draft, delta, duck::Sql("{} AS s", source.relation));
  const duck::Sql rows = draft.stage_rows(source.relation);
  return draft.finish(rows, rows);
}

/// Fills counts: what came, what changed, what went.
Result<void> count_merge(Draft& draft, const Key& key, const Source& source, const Sides& sides,
                         const duck::TableName& changed) {
  publish::Effect& effect = draft.effect;
  const duck::Sql stage_key = key_match(key, publish::value_from_stage, "k");
  WEIR_TRY(const std::int64_t differing, draft.count(duck::Sql("SELECT count(*) FROM {} AS s SEMI JOIN {} AS k ON ({})",
                                                               source.relation, changed, stage_key)));
  WEIR_TRY(const std::int64_t updated, draft.count(duck::Sql("SELECT count(*) FROM {} AS s SEMI JOIN {} AS k ON ({})",
                                                             source.relation, sides.held, stage_key)));
  effect.counts.inserted = differing - updated;
  effect.counts.updated = updated;
  effect.counts.unchanged = source.rows - differing;
  WEIR_TRY(const std::int64_t held,
           draft.count(duck::Sql("SELECT CAST(coalesce(sum(n), 0) AS BIGINT) FROM {}", sides.held)));
  WEIR_TRY(const std::int64_t total,
           draft.count(duck::Sql("SELECT count(*) FROM {} AS t{}", draft.readable(), draft.where_slice())));
  effect.rows = total - held + differing;
  if (is_window_of_rows(draft)) {
    effect.counts = {.inserted = differing, .updated = {}, .deleted = held, .closed = {}, .unchanged = {}};
    return {};
  }
  if (!is_whole_truth(draft)) return {};
  WEIR_TRY(effect.counts.deleted,
           draft.count(duck::Sql("SELECT CAST(coalesce(sum(n), 0) AS BIGINT) FROM {} AS k ANTI JOIN {} AS s ON ({})",
                                 sides.held, source.relation, stage_key)));
  return {};
}

Result<void> merge(Draft& draft, Delta& delta) {
  const publish::PrepareRequest& request = draft.request;
  Key key = returned_columns(draft);
  const std::int64_t staged = request.stage.content.rows;
  Source source{request.stage.relation, staged, staged};
  if (!is_window_of_rows(draft)) {
    WEIR_TRY(key, key_columns(draft, request.model.key));
    WEIR_TRY(source, without_duplicates(draft, key, request.model.duplicates));
  }
  for (const ShapedColumn& column : key) delta.key.push_back(column.state.name);
  if (!draft.target.exists) return merge_into_nothing(draft, delta, source);
  const std::vector<ShapedColumn> compared = compared_columns(draft, key);
  const duck::Sql in_source =
      is_whole_truth(draft)
          ? draft.where_slice()
          : duck::Sql(" SEMI JOIN (SELECT {} FROM {} AS s) AS k ON ({})", key_list(key, publish::value_from_stage),
                      source.relation, key_match(key, publish::value_from_target, "k"));
  WEIR_TRY(const duck::TableName old,
           draft.keep("old", duck::Sql("SELECT {} FROM {} AS t{}", compared_list(compared, publish::value_from_target),
                                       draft.readable(), in_source)));
  std::int64_t differing = 0;
  WEIR_TRY(const duck::TableName changed, changed_keys(draft, key, compared, source, old, &differing));
  WEIR_TRY(const Sides sides, take_sides(draft, key, source, old, changed));
  WEIR_CHECK(count_merge(draft, key, source, sides, changed));
  if (differing == 0) return draft.finish(draft.target_rows(draft.where_slice()), draft.target_rows());

  WEIR_TRY(const duck::Sql changed_image, take_changes(draft, delta, key, source, sides));
  std::int64_t gone_rows = 0;
  WEIR_TRY(const duck::TableName gone,
           draft.keep("gone",
                      duck::Sql("SELECT h.* EXCLUDE (n) FROM {} AS h ANTI JOIN {} AS w ON ({})", sides.held,
                                sides.twins, keys_match(key, "h", "w")),
                      &gone_rows));
  if (gone_rows > 0) delta.gone = gone;
  WEIR_TRY(const duck::TableName fresh,
           draft.keep("fresh", duck::Sql("SELECT s.* FROM {} AS s SEMI JOIN {} AS k ON ({}) ANTI JOIN {} AS w ON ({})",
                                         source.relation, changed, key_match(key, publish::value_from_stage, "k"),
                                         sides.twins, key_match(key, publish::value_from_stage, "w"))));
  WEIR_TRY(const std::int64_t fresh_rows, draft.count(duck::Sql("SELECT count(*) FROM {}", fresh)));
  const duck::Sql fresh_source("{} AS s", fresh);
  if (fresh_rows > 0) take_fresh(draft, delta, fresh_source);
  const duck::Sql rest("SELECT {} FROM {} AS t ANTI JOIN {} AS h ON ({})",
                       select_list(draft.shape.columns, publish::value_from_target), draft.readable(), sides.held,
                       key_match(key, publish::value_from_target, "h"));
  const duck::Sql table("{} UNION ALL {} UNION ALL {}", rest, changed_image, fresh_image(draft, fresh_source));
  if (!is_window_of_rows(draft)) return draft.finish(table, table);
  return draft.finish(duck::Sql("SELECT * FROM ({}) AS t{}", table, draft.where_slice()), table);
}

/// A table that is there already can be a history only if it has the columns of one: they are not made up for its rows.
Result<void> judge_history(const Draft& draft) {
  if (!draft.request.model.is_history() || !draft.target.exists) return {};
  for (const auto& [name, type] : validity_columns(draft.request.model).columns())
    if (draft.target.column(name) == nullptr)
      return fail(draft.problem(
          Code::W6514, draft.request.model.target->uri() + " is no history: it has no column " + std::string(name),
          "name another table, or one that is not there yet"));
  return {};
}

/// What DDL the shape asks for, in the types that the target keeps.
void take_columns(const Draft& draft, Delta& delta) {
  delta.makes_table = !draft.target.exists;
  if (delta.makes_table) return;
  for (const ShapedColumn& column : draft.shape.columns) {
    if (!column.in_target)
      delta.added.push_back(column.state);
    else if (column.in_target->type != column.state.type)
      delta.widened.push_back(column.state);
  }
}

}  // namespace

Result<Delta> work_out(duck::Connection& clean, const publish::PrepareRequest& request,
                       const std::function<std::string(std::string_view)>& kept_as) {
  Draft draft(clean, request);
  draft.target = request.target;  // there is no way to make it anew
  Delta delta;
  WEIR_CHECK(judge_history(draft));
  WEIR_CHECK(draft.take_shape());
  for (ShapedColumn& column : draft.shape.columns)
    if (column.managed && !column.in_target) column.state.type = kept_as(column.state.type);
  switch (request.model.strategy) {
    case Strategy::Append:
      WEIR_CHECK(append(draft, delta));
      break;
    case Strategy::Replace:
      WEIR_CHECK(replace(draft, delta));
      break;
    case Strategy::Merge:
    case Strategy::FullMerge:
    case Strategy::IncrementalByTime:
      WEIR_CHECK(merge(draft, delta));
      break;
    case Strategy::History:
      WEIR_CHECK(keep_history(draft, delta));
      break;
    case Strategy::HashMerge:
      return fail(draft.problem(Code::W6026, "the strategy " + std::string(name_of(request.model.strategy)) +
                                                 " is not there yet for plane `table`"));
  }
  take_columns(draft, delta);
  publish::Effect& effect = draft.effect;
  effect.changes = delta.makes_table || delta.empties || delta.gone || delta.fresh || !delta.changes.empty() ||
                   !delta.added.empty() || !delta.widened.empty();
  delta.effect = std::move(effect);
  WEIR_CHECK(draft.end_reading());
  return delta;
}

}  // namespace weir::deliver
