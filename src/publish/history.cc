// History (SCD2): the result is the current snapshot, one row a key; each tracked change closes the open version and
// opens a new one, all at one effective time, so that versions touch and never overlap. An unchanged snapshot writes
// nothing.
//
// Closing is an update of three columns, written here as the delete of the row and the insert of its closed form, like
// the rest: one delete by row number and one insert a run, and an image that holds the very rows that will be inserted.
#include <algorithm>

#include "publish/versions.h"

namespace weir::publish {
namespace {

struct Versions {
  duck::TableName fresh;  // all rows to insert: closed, refreshed, opened
  std::optional<duck::TableName> gone;
  std::int64_t opened = 0;
  std::int64_t closed = 0;
  std::int64_t refreshed = 0;
  /// Marks of deleted keys: those that begin, and those among the closed.
  std::int64_t marked = 0;
  std::int64_t closed_marks = 0;
};

bool is_among(const std::vector<ShapedColumn>& columns, const ShapedColumn& column) {
  return std::any_of(columns.begin(), columns.end(),
                     [&](const ShapedColumn& one) { return one.state.name == column.state.name; });
}

// Columns that an open version takes from the result while it stays open: added ones, whose values are known now, and
// with untracked=refresh those that are not tracked.
std::vector<ShapedColumn> refreshed_columns(const Draft& draft, const std::vector<ShapedColumn>& compared) {
  std::vector<ShapedColumn> columns;
  for (const ShapedColumn& column : draft.shape.columns) {
    if (column.managed || !column.in_stage) continue;
    const bool is_untracked = column.in_target && !is_among(compared, column);
    if (!column.in_target || (is_untracked && draft.request.model.refreshes_untracked)) columns.push_back(column);
  }
  return columns;
}

Result<std::optional<duck::TableName>> refreshed_rows(Draft& draft, const Key& key,
                                                      const std::vector<ShapedColumn>& compared, const Source& source,
                                                      const duck::TableName& closing, std::int64_t& rows) {
  const std::vector<ShapedColumn> refreshed = refreshed_columns(draft, compared);
  if (refreshed.empty()) return std::optional<duck::TableName>();
  std::vector<duck::Sql> differs;
  for (const ShapedColumn& column : refreshed)
    differs.push_back(duck::Sql("{} IS DISTINCT FROM {}", value_from_stage(column), value_from_target(column)));
  const ValueOf values = [&](const ShapedColumn& column) {
    return is_among(refreshed, column) ? value_from_stage(column) : value_from_target(column);
  };
  std::vector<duck::Sql> match;
  for (const ShapedColumn& column : key)
    match.push_back(duck::Sql("{} IS NOT DISTINCT FROM {}", value_from_target(column), value_from_stage(column)));
  WEIR_TRY(
      const duck::TableName made,
      draft.keep(
          "refreshed",
          duck::Sql("SELECT t.rowid AS r, {} FROM {} AS t JOIN {} AS s ON ({}) ANTI JOIN {} AS g ON (t.rowid = g.r) "
                    "WHERE {} AND ({})",
                    compared_list(draft.shape.columns, values), draft.readable(), source.relation,
                    duck::Sql::join(match, " AND "), closing, draft.validity().is_open("t"),
                    duck::Sql::join(differs, " OR ")),
          &rows));
  return std::optional<duck::TableName>(made);
}

duck::Sql numbered_columns(const Draft& draft, const duck::TableName& table) {
  std::vector<duck::Sql> items;
  for (std::size_t i = 0; i < draft.shape.columns.size(); ++i)
    items.push_back(duck::Sql("{} AS {}", duck::Identifier("c" + std::to_string(i)),
                              duck::Identifier(draft.shape.columns[i].state.name)));
  return duck::Sql("SELECT {} FROM {}", duck::Sql::join(items, ", "), table);
}

duck::Sql key_alone(const Key& key) {
  std::vector<duck::Sql> names;
  for (std::size_t i = 0; i < key.size(); ++i)
    names.push_back(duck::Sql("{}", duck::Identifier("k" + std::to_string(i))));
  return duck::Sql::join(names, ", ");
}

// The open versions that end: r and the key as k0, k1, … A mark ends where its key is back, whatever its values.
Result<duck::TableName> closing_rows(Draft& draft, const Key& key, const duck::TableName& old,
                                     const duck::TableName& changed, Versions& versions) {
  const duck::Sql of_old = old_rows_of(key, old, changed);
  const ValidityColumns held = held_validity(draft);
  if (held.deleted.empty()) return draft.keep("closing", of_old, &versions.closed);
  WEIR_TRY(const duck::TableName marks,
           draft.keep("marks",
                      duck::Sql("SELECT t.rowid AS r, {} FROM {} AS t SEMI JOIN {} AS k ON ({}) WHERE {} AND t.{}",
                                key_list(key, value_from_target), draft.readable(), changed,
                                key_match(key, value_from_target, "k"), held.is_open("t"),
                                duck::Identifier(std::string(held.deleted))),
                      &versions.closed_marks));
  return draft.keep("closing", duck::Sql("{} UNION ALL SELECT r, {} FROM {}", of_old, key_alone(key), marks),
                    &versions.closed);
}

// Versions that say that their key is gone: the last values once more.
duck::Sql marks_of_vanished(const Draft& draft, const Key& key, const Source& source, const duck::TableName& closing,
                            const duck::Sql& now) {
  const ValidityColumns validity = draft.validity();
  const ValueOf marked = with_validity(validity, now, no_end(), true, value_from_target, duck::Sql("true"));
  return {
      "SELECT {} FROM {} AS t SEMI JOIN (SELECT g.r FROM {} AS g WHERE NOT EXISTS (SELECT 1 FROM {} AS s WHERE "
      "{})) AS v ON (t.rowid = v.r)",
      select_list(draft.shape.columns, marked),
      draft.readable(),
      closing,
      source.relation,
      key_match(key, value_from_stage, "g")};
}

Result<Versions> compare(Draft& draft, const Key& key, const Key& track, const Source& source, std::int64_t effective) {
  Versions versions;
  const std::vector<ShapedColumn> compared = tracked_columns(draft, key, track);
  const Deletes deletes = draft.request.model.deletes;
  const duck::Sql in_source = deletes != Deletes::Leave ? duck::Sql()
                                                        : duck::Sql(" SEMI JOIN (SELECT {} FROM {} AS s) AS k ON ({})",
                                                                    key_list(key, value_from_stage), source.relation,
                                                                    key_match(key, value_from_target, "k"));
  WEIR_TRY(const duck::TableName old,
           draft.keep("old", duck::Sql("SELECT t.rowid AS r, {} FROM {} AS t{} WHERE {}",
                                       compared_list(compared, value_from_target), draft.readable(), in_source,
                                       held_validity(draft).is_live("t"))));
  WEIR_TRY(const duck::TableName changed, changed_keys(draft, key, compared, source, old, nullptr));
  WEIR_TRY(const duck::TableName closing, closing_rows(draft, key, old, changed, versions));
  WEIR_TRY(const std::optional<duck::TableName> refreshed,
           refreshed_rows(draft, key, compared, source, closing, versions.refreshed));

  const duck::Sql now = at_micros(effective);
  const ValidityColumns validity = draft.validity();
  const auto closed_values = with_validity(validity, duck::Sql("t.{}", duck::Identifier(std::string(validity.from))),
                                           now, false, value_from_target);
  std::vector<duck::Sql> parts{duck::Sql("SELECT {} FROM {} AS t SEMI JOIN {} AS g ON (t.rowid = g.r)",
                                         select_list(draft.shape.columns, closed_values), draft.readable(), closing)};
  if (refreshed) parts.push_back(numbered_columns(draft, *refreshed));
  if (deletes == Deletes::Mark) {
    WEIR_TRY(const duck::TableName marks,
             draft.keep("marked", marks_of_vanished(draft, key, source, closing, now), &versions.marked));
    parts.push_back(duck::Sql("SELECT * FROM {}", marks));
  }
  parts.push_back(
      duck::Sql("SELECT {} FROM {} AS s SEMI JOIN {} AS k ON ({})",
                select_list(draft.shape.columns, with_validity(validity, now, no_end(), true, value_from_stage)),
                source.relation, changed, key_match(key, value_from_stage, "k")));
  std::int64_t rows = 0;
  WEIR_TRY(versions.fresh, draft.keep("fresh", duck::Sql::join(parts, " UNION ALL "), &rows));
  versions.opened = rows - versions.closed - versions.refreshed - versions.marked;
  if (versions.closed + versions.refreshed == 0) return versions;
  versions.gone = closing;
  if (versions.refreshed > 0) {
    WEIR_TRY(versions.gone,
             draft.keep("gone", duck::Sql("SELECT r FROM {} UNION ALL SELECT r FROM {}", closing, *refreshed)));
  }
  return versions;
}

Result<void> open_all(Draft& draft, const Source& source, std::int64_t effective, const std::vector<duck::Sql>& view) {
  Effect& effect = draft.effect;
  const duck::Sql rows("SELECT {} FROM {} AS s",
                       select_list(draft.shape.columns, with_validity(draft.validity(), at_micros(effective), no_end(),
                                                                      true, value_from_stage)),
                       source.relation);
  effect.counts = {.inserted = source.rows, .updated = {}, .deleted = {}, .closed = 0, .unchanged = 0};
  effect.rows = source.rows;
  effect.statements = draft.create();
  if (source.rows > 0) effect.statements.push_back(draft.insert(rows));
  effect.statements.insert(effect.statements.end(), view.begin(), view.end());
  return finish_versions(draft, rows);
}

}  // namespace

std::int64_t effective_time(Draft& draft, std::optional<std::int64_t> newest_from,
                            std::optional<std::int64_t> newest_to) {
  const std::int64_t now = draft.request.effective_micros;
  std::int64_t earliest = now;
  if (newest_from) earliest = std::max(earliest, *newest_from + 1);
  if (newest_to) earliest = std::max(earliest, *newest_to);
  if (earliest > now)
    draft.warn(Code::W6022, "the clock is behind the newest version of " + draft.request.model.target->uri() +
                                ": this run takes effect one microsecond after it");
  return earliest;
}

std::vector<ShapedColumn> tracked_columns(const Draft& draft, const Key& key, const Key& track) {
  std::vector<ShapedColumn> compared = key;
  const auto is_in = [](const Key& columns, const ShapedColumn& column) {
    return std::any_of(columns.begin(), columns.end(),
                       [&](const auto& one) { return one.state.name == column.state.name; });
  };
  for (const ShapedColumn& column : draft.shape.columns) {
    // A column that is new to the table is compared from the next run on.
    if (column.managed || !column.in_stage || !column.in_target || is_in(key, column)) continue;
    if (track.empty() || is_in(track, column)) compared.push_back(column);
  }
  return compared;
}

Result<void> prepare_history(Draft& draft) {
  if (!draft.request.model.valid_from.empty()) return prepare_history_by_time(draft);
  WEIR_CHECK(draft.need_row_numbers());
  WEIR_TRY(const Key key, key_columns(draft, draft.request.model.key));
  WEIR_TRY(const Key track, key_columns(draft, draft.request.model.track));
  const Duplicates policy = draft.request.model.duplicates;
  // Several open rows of one key would be no history.
  WEIR_TRY(const Source source, without_duplicates(draft, key, policy == Duplicates::Keep ? Duplicates::Fail : policy));
  WEIR_TRY(const std::vector<duck::Sql> view, current_view(draft));
  WEIR_TRY(const Past past, look_back(draft));
  const std::int64_t effective = effective_time(draft, past.newest_from, past.newest_to);
  if (!draft.target.exists) return open_all(draft, source, effective, view);

  WEIR_TRY(const Versions versions, compare(draft, key, track, source, effective));
  Effect& effect = draft.effect;
  effect.counts = {.inserted = versions.opened,
                   .updated = {},
                   .deleted = {},
                   .closed = versions.closed,
                   .unchanged = source.rows - versions.opened};
  if (versions.refreshed > 0) effect.counts.updated = versions.refreshed;
  if (versions.marked > 0) effect.counts.deleted = versions.marked;
  effect.rows = past.live_rows - (versions.closed - versions.closed_marks) + versions.opened;
  const bool has_fresh = versions.opened + versions.closed + versions.refreshed > 0;
  return change_versions(draft, versions.gone, has_fresh ? std::optional(versions.fresh) : std::nullopt, view);
}

}  // namespace weir::publish
