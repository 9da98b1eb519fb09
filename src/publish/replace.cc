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

// What the target holds of the slice, in the form of a stage, so that both are hashed alike. `condition` is a WHERE.
build::Stage stage_of_target(const Draft& draft, const duck::Sql& condition) {
  std::vector<std::string> names;
  for (const lake::ColumnState& column : draft.request.stage.columns) names.push_back(column.name);
  build::Stage held;
  held.relation = duck::Sql("(SELECT {} FROM {} AS t{})", duck::Sql::names(names, "t"), draft.readable(), condition);
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

Result<void> add_hashes(Draft& draft, build::Stage& rows, const std::set<std::string>& by_value = {}) {
  WEIR_TRY(duck::Connection* const connection, draft.reading());
  return build::add_hashes(*connection, rows, by_value);
}

// Exact, by reading both. `fresh` may have its sums already.
Result<bool> has_rows_of(Draft& draft, build::Stage fresh, build::Stage held) {
  const auto are_equal = [&](const std::set<std::string>& by_value) -> Result<bool> {
    WEIR_CHECK(add_hashes(draft, held, by_value));
    if (!by_value.empty() || fresh.content.sum.empty()) WEIR_CHECK(add_hashes(draft, fresh, by_value));
    return held.content.sum == fresh.content.sum && held.content.sum_of_hashes == fresh.content.sum_of_hashes;
  };
  WEIR_TRY(const bool equal, are_equal({}));
  if (equal) return true;
  // What the lake spells otherwise than the stage it was written from is no difference, see build::merged_columns().
  WEIR_TRY(const std::set<std::string> merged, draft.merged_columns(fresh.relation));
  return merged.empty() ? false : are_equal(merged);
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
  if (stage.content.sum.empty()) WEIR_CHECK(add_hashes(draft, stage));
  draft.effect.content = stage.content;
  if (recorded && !recorded->sum.empty())
    return recorded->sum == stage.content.sum && recorded->sum_of_hashes == stage.content.sum_of_hashes;
  WEIR_TRY(const bool clears, clears_values(draft));
  if (clears) return false;
  return has_rows_of(draft, std::move(stage), stage_of_target(draft, draft.where_slice()));
}

/// What a write changes of the slice.
struct Change {
  bool any = true;
  /// Rows that come and go.
  std::int64_t fresh = 0;
  std::int64_t held = 0;
  /// The pieces of the stage that differ, and the rows that the target holds of each piece; nothing where the slice is
  /// one.
  std::vector<std::size_t> pieces;
  std::vector<std::int64_t> held_of = {};
};

/// Files by windows are judged and written one by one.
bool goes_by_pieces(const Draft& draft) {
  return draft.target.exists && draft.request.stage.pieces.size() > 1 && draft.can_add_files() &&
         draft.shape.alters.empty() && !draft.request.always_commit;
}

Result<std::vector<std::int64_t>> rows_of_pieces(Draft& draft) {
  std::vector<std::int64_t> held(draft.request.stage.pieces.size(), 0);
  WEIR_TRY(const duck::Sql number, draft.number_of_piece());
  WEIR_TRY(const duck::Rows rows,
           draft.ask(duck::Sql("SELECT piece, count(*) FROM (SELECT {} AS piece FROM {} AS t{}) GROUP BY piece", number,
                               draft.readable(), draft.where_slice())));
  for (std::size_t i = 0; i < rows.size(); ++i) held[static_cast<std::size_t>(rows.integer(i, 0))] = rows.integer(i, 1);
  return held;
}

Result<bool> is_piece_unchanged(Draft& draft, const build::Piece& piece) {
  WEIR_TRY(const duck::Sql condition, draft.in_windows_named(piece.windows));
  build::Stage fresh;
  fresh.columns = draft.request.stage.columns;
  fresh.relation = duck::Sql("({})", build::rows_of_files(draft.request.stage, piece.files));
  return has_rows_of(draft, std::move(fresh), stage_of_target(draft, duck::Sql(" WHERE {}", condition)));
}

// A piece with another number of rows has changed; others are hashed on both sides. Where the first, the middle and the
// last of those all differ, so does the rest, as when everything is computed by another rule: to write an equal piece
// again is no fault, and comparing costs as much as writing.
Result<Change> change_of_pieces(Draft& draft) {
  Change change;
  WEIR_TRY(change.held_of, rows_of_pieces(draft));
  const std::vector<build::Piece>& pieces = draft.request.stage.pieces;
  WEIR_TRY(const bool clears, clears_values(draft));
  std::vector<bool> differs(pieces.size());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    differs[i] = clears || pieces[i].rows != change.held_of[i];
    if (!differs[i] && pieces[i].rows > 0) open.push_back(i);
  }
  bool all_differ = !open.empty();
  std::set<std::size_t> asked;
  const auto ask = [&](std::size_t at) -> Result<void> {
    if (!asked.insert(open[at]).second) return {};
    WEIR_TRY(const bool same, is_piece_unchanged(draft, pieces[open[at]]));
    differs[open[at]] = !same;
    all_differ = all_differ && !same;
    return {};
  };
  for (const std::size_t at : {std::size_t{0}, open.size() / 2, open.size() - 1})
    if (at < open.size()) WEIR_CHECK(ask(at));
  for (std::size_t at = 0; at < open.size(); ++at) {
    if (!all_differ) WEIR_CHECK(ask(at));
    if (all_differ) differs[open[at]] = true;
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!differs[i]) continue;
    change.pieces.push_back(i);
    change.fresh += pieces[i].rows;
    change.held += change.held_of[i];
  }
  change.any = !change.pieces.empty();
  return change;
}

Result<Change> change_of(Draft& draft) {
  if (goes_by_pieces(draft)) return change_of_pieces(draft);
  Change change;
  change.fresh = draft.request.stage.content.rows;
  change.held = draft.request.target.exists ? draft.request.target.rows : 0;
  if (draft.target.exists && replaces_part(draft.request.model)) {
    WEIR_TRY(change.held, draft.rows_of_slice());
  }
  WEIR_TRY(const bool unchanged, is_unchanged(draft, change.held));
  change.any = !unchanged;
  return change;
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
    effect.statements.push_back(adds_files ? draft.add_files(draft.request.stage.files) : rows);
  }
  const bool is_small = draft.target.rows < kSmall && draft.request.stage.content.rows < kSmall;
  if (is_same_table && is_small && !adds_files) effect.keeping = std::move(in_place);
}

// A lake keeps the number of every row that it deletes in a tree, 0.2 µs and 50 bytes a row, until the statement ends.
constexpr std::int64_t kRowsOfOneDelete = 4'000'000;

/// DELETEs of pieces whose windows end where files end, so that those go as a whole.
Result<std::vector<duck::Sql>> deletes_of(const Draft& draft, const Change& change) {
  std::vector<duck::Sql> deletes;
  calendar::Windows windows;
  std::int64_t rows = 0;
  const auto flush = [&]() -> Result<void> {
    if (rows == 0) return {};
    WEIR_TRY(const duck::Sql condition, draft.in_windows_named(windows.name()));
    deletes.push_back(duck::Sql("DELETE FROM {} AS t WHERE {}", draft.writable(), condition));
    windows = {};
    rows = 0;
    return {};
  };
  for (const std::size_t piece : change.pieces) {
    if (change.held_of[piece] == 0) continue;
    const auto own = calendar::Windows::parse(draft.request.stage.pieces[piece].windows);
    for (const calendar::Window& part : own.value_or(calendar::Windows()).parts()) windows.add(part);
    rows += change.held_of[piece];
    if (rows >= kRowsOfOneDelete) WEIR_CHECK(flush());
  }
  WEIR_CHECK(flush());
  return deletes;
}

Result<void> write_pieces(Draft& draft, const Change& change) {
  Effect& effect = draft.effect;
  WEIR_TRY(effect.statements, deletes_of(draft, change));
  std::set<std::size_t> changed(change.pieces.begin(), change.pieces.end());
  std::vector<std::string> files;
  const std::vector<build::Piece>& pieces = draft.request.stage.pieces;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::vector<std::string>& list = changed.contains(i) ? files : effect.files_left;
    list.insert(list.end(), pieces[i].files.begin(), pieces[i].files.end());
  }
  effect.takes_files = true;
  if (!files.empty()) effect.statements.push_back(draft.add_files(files));
  return {};
}

Result<void> write_part(Draft& draft, const Change& change) {
  if (!change.pieces.empty()) return write_pieces(draft, change);
  Effect& effect = draft.effect;
  if (draft.target.exists)
    effect.statements = draft.shape.alters;
  else
    effect.statements = draft.create();
  effect.shaping = effect.statements.size();
  if (draft.target.exists && change.held > 0)
    effect.statements.push_back(duck::Sql("DELETE FROM {} AS t{}", draft.writable(), draft.where_slice()));
  if (draft.request.stage.content.rows > 0) {
    // Deleted first, added after: a DELETE that empties a file added in its own transaction would remove the file.
    effect.takes_files = draft.can_add_files();
    effect.statements.push_back(effect.takes_files ? draft.add_files(draft.request.stage.files)
                                                   : draft.insert(draft.stage_rows()));
  }
  if (effect.statements.empty()) effect.statements.push_back(draft.touch());
  return {};
}

}  // namespace

Result<void> prepare_replace(Draft& draft) {
  Effect& effect = draft.effect;
  const build::Content& fresh = draft.request.stage.content;
  const bool is_part = replaces_part(draft.request.model);
  effect.rows = fresh.rows;
  effect.content = fresh;
  WEIR_TRY(const Change change, change_of(draft));
  effect.changes = change.any;
  effect.counts.inserted = change.any ? change.fresh : 0;
  effect.counts.deleted = change.any ? change.held : 0;
  if (change.any && is_part) WEIR_CHECK(write_part(draft, change));
  if (change.any && !is_part) write_table(draft);
  // Files of an unchanged slice are not published, so its image is the target's own rows.
  const bool reads_target = !change.any && !draft.request.stage.files.empty();
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
