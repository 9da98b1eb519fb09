// Replace: the slice, whole table, partition or windows, becomes exactly the query's rows. Unchanged content writes
// nothing; a small table is kept, a large one made anew.
#include <algorithm>

#include "project/window_rows.h"
#include "publish/draft.h"

namespace weir::publish {
namespace {

// Below this many rows deleting all and inserting is cheaper than a new table, whose schema change makes every
// connection reload its catalog (9 against 26 ms for 1,000 rows); above about a million, DELETE's cost per row wins
// over it.
constexpr std::int64_t kSmall = 100'000;

bool same_columns(const Draft& draft) {
  const auto& staged = draft.request.stage.columns;
  const std::size_t managed = draft.is_partitioned() ? 1 : 0;
  if (draft.target.columns.size() != staged.size() + managed) return false;
  for (std::size_t i = 0; i < staged.size(); ++i)
    if (draft.target.columns[i].name != staged[i].name || draft.target.columns[i].type != staged[i].type) return false;
  return true;
}

// What the target holds in the slice, in the form of a stage, so that both are hashed alike.
build::Stage stage_of_target(const Draft& draft) {
  std::vector<std::string> names;
  for (const lake::ColumnState& column : draft.request.stage.columns) names.push_back(column.name);
  build::Stage held;
  held.relation =
      duck::Sql("(SELECT {} FROM {} AS t{})", duck::Sql::names(names, "t"), draft.readable(), draft.where_slice());
  held.columns = draft.request.stage.columns;
  return held;
}

// Sums of small stages are hashes, those of files bounds: where both have a bound it must be the same.
bool differ(const build::Content::ColumnSums& a, const build::Content::ColumnSums& b) {
  const auto moved = [](const auto& one, const auto& other) { return one && other && *one != *other; };
  return a.nulls != b.nulls || moved(a.minimum, b.minimum) || moved(a.maximum, b.maximum);
}

bool differ(const build::Content& a, const build::Content& b) {
  return a.rows != b.rows || !std::equal(a.columns.begin(), a.columns.end(), b.columns.begin(), b.columns.end(),
                                         [](const auto& one, const auto& other) {
                                           return one.first == other.first && !differ(one.second, other.second);
                                         });
}

// A column that the query no longer returns may hold values, which a write would clear.
Result<bool> clears_values(Draft& draft) {
  if (draft.shape.removed.empty()) return false;
  std::vector<duck::Sql> held;
  for (const std::string& name : draft.shape.removed)
    held.push_back(duck::Sql("t.{} IS NOT NULL", duck::Identifier(name)));
  WEIR_TRY(const std::int64_t rows, draft.count(duck::Sql("SELECT count(*) FROM {} AS t{}", draft.readable(),
                                                          draft.where_slice(duck::Sql::join(held, " OR ")))));
  return rows > 0;
}

// Counts and bounds are free and decide nearly always; hashes are taken only when those agree. Where no hash was
// recorded, the target's rows are hashed as they are: exact, and needed once.
Result<bool> is_unchanged(Draft& draft, std::int64_t held_rows) {
  const build::Content& fresh = draft.request.stage.content;
  const auto& recorded = draft.request.recorded;
  if (!draft.target.exists || draft.request.always_commit || !draft.shape.alters.empty()) return false;
  if (!replaces_part(draft.request.model) && !same_columns(draft)) return false;
  if (held_rows != fresh.rows) return false;
  if (recorded && differ(*recorded, fresh)) return false;
  if (fresh.rows == 0) return true;
  build::Stage stage = draft.request.stage;
  const auto add_hashes = [&draft](build::Stage& rows, const std::set<std::string>& by_value) -> Result<void> {
    WEIR_TRY(duck::Connection* const connection, draft.reading());
    return build::add_hashes(*connection, rows, by_value);
  };
  if (stage.content.sum.empty()) WEIR_CHECK(add_hashes(stage, {}));
  draft.effect.content = stage.content;
  if (recorded && !recorded->sum.empty())
    return recorded->sum == stage.content.sum && recorded->sum_of_hashes == stage.content.sum_of_hashes;
  WEIR_TRY(const bool clears, clears_values(draft));
  if (clears) return false;
  const auto equals_held = [&](const std::set<std::string>& by_value) -> Result<bool> {
    build::Stage held = stage_of_target(draft);
    WEIR_CHECK(add_hashes(held, by_value));
    if (!by_value.empty()) WEIR_CHECK(add_hashes(stage, by_value));
    return held.content.sum == stage.content.sum && held.content.sum_of_hashes == stage.content.sum_of_hashes;
  };
  WEIR_TRY(const bool equal, equals_held({}));
  if (equal) return true;
  // What the lake spells otherwise than the stage it was written from is no difference, see build::merged_columns().
  WEIR_TRY(const std::set<std::string> merged, draft.merged_columns(stage.relation));
  return merged.empty() ? false : equals_held(merged);
}

void write_table(Draft& draft) {
  Effect& effect = draft.effect;
  const bool adds_files = draft.can_add_files();
  effect.takes_files = adds_files;
  const duck::Sql rows = draft.insert(draft.stage_rows());
  const bool has_rows = draft.request.stage.content.rows > 0;
  const bool is_same_table = draft.target.exists && same_columns(draft);
  std::vector<duck::Sql> in_place;
  if (is_same_table) {
    if (draft.target.rows > 0) in_place.push_back(duck::Sql("DELETE FROM {}", draft.writable()));
    if (has_rows) in_place.push_back(rows);
    if (in_place.empty()) in_place.push_back(draft.touch());
    // Partitioning by expressions cannot be restated from what the lake tells: such a table is always kept.
    if (draft.target.has_other_partitioning) {
      effect.statements = std::move(in_place);
      effect.takes_files = false;
      return;
    }
  }
  effect.statements = draft.create();
  if (has_rows && !adds_files && draft.is_plain_creation()) {
    effect.statements.pop_back();
    effect.statements.push_back(duck::Sql("CREATE OR REPLACE TABLE {} AS {}", draft.writable(), draft.stage_rows()));
  } else if (has_rows) {
    effect.statements.push_back(adds_files ? draft.add_files() : rows);
  }
  const bool is_small = draft.target.rows < kSmall && draft.request.stage.content.rows < kSmall;
  if (is_same_table && is_small && !adds_files) effect.keeping = std::move(in_place);
}

void write_part(Draft& draft, std::int64_t held_rows) {
  Effect& effect = draft.effect;
  if (draft.target.exists)
    effect.statements = draft.shape.alters;
  else
    effect.statements = draft.create();
  effect.shaping = effect.statements.size();
  if (draft.target.exists && held_rows > 0)
    effect.statements.push_back(duck::Sql("DELETE FROM {} AS t{}", draft.writable(), draft.where_slice()));
  if (draft.request.stage.content.rows > 0) {
    // Deleted first, added after: a DELETE that empties a file added in its own transaction would remove the file.
    effect.takes_files = draft.can_add_files();
    effect.statements.push_back(effect.takes_files ? draft.add_files() : draft.insert(draft.stage_rows()));
  }
  if (effect.statements.empty()) effect.statements.push_back(draft.touch());
}

}  // namespace

Result<void> prepare_replace(Draft& draft) {
  Effect& effect = draft.effect;
  const build::Content& fresh = draft.request.stage.content;
  const bool is_part = replaces_part(draft.request.model);
  std::int64_t held_rows = draft.request.target.exists ? draft.request.target.rows : 0;
  if (draft.target.exists && is_part) {
    WEIR_TRY(held_rows, draft.rows_of_slice());
  }
  effect.rows = fresh.rows;
  effect.content = fresh;
  WEIR_TRY(const bool unchanged, is_unchanged(draft, held_rows));
  effect.changes = !unchanged;
  effect.counts.inserted = unchanged ? 0 : fresh.rows;
  effect.counts.deleted = unchanged ? 0 : held_rows;
  if (effect.changes) {
    if (is_part)
      write_part(draft, held_rows);
    else
      write_table(draft);
  }
  // Files of an unchanged slice are not published, so its image is the target's own rows.
  const bool reads_target = unchanged && !draft.request.stage.files.empty();
  const duck::Sql slice = reads_target ? draft.target_rows(draft.where_slice()) : draft.stage_rows();
  if (!is_part && !reads_target && draft.shows_stage_as_it_is()) {
    draft.finish_with(draft.request.stage.relation);
    return {};
  }
  if (!is_part || !draft.target.exists) return draft.finish(slice, slice);
  if (reads_target) return draft.finish(slice, draft.target_rows());
  std::vector<duck::Sql> table;
  for (const duck::Sql& outside : draft.conditions_outside())
    table.push_back(draft.target_rows(duck::Sql(" WHERE {}", outside)));
  table.push_back(slice);
  return draft.finish(slice, duck::Sql::join(table, " UNION ALL "));
}

}  // namespace weir::publish
