// History (SCD2): the result is the current snapshot, one row a key; each tracked change closes the open version and
// opens a new one, all at one effective time, so that versions touch and never overlap. An unchanged snapshot writes
// nothing.
//
// Closing is an update of three columns, written here as the delete of the row and the insert of its closed form, like
// the rest: one delete by row number and one insert a run, and an image that holds the very rows that will be inserted.
#include <algorithm>

#include "publish/draft.h"

namespace weir::publish {
namespace {

duck::Sql at_micros(std::int64_t micros) { return duck::Sql("make_timestamp(CAST({} AS BIGINT))", micros); }

// Validity columns of a row of the shape, by name; other columns as `otherwise` says.
ValueOf with_validity(const ValidityColumns& validity, const duck::Sql& from, const duck::Sql& to, bool is_current,
                      const ValueOf& otherwise) {
  return [=](const ShapedColumn& column) {
    if (!column.managed) return otherwise(column);
    if (build::same_name(column.state.name, validity.from)) return from;
    if (build::same_name(column.state.name, validity.to)) return to;
    return duck::Sql("{}", duck::Literal(is_current));
  };
}

const duck::Sql& no_end() {
  static const duck::Sql sql("CAST(NULL AS TIMESTAMP)");
  return sql;
}

struct Past {
  std::int64_t open_rows = 0;
  std::int64_t effective = 0;  // microseconds
};

// Such a row is neither current nor past: the history would stand beside it and never close it.
Diagnostic without_validity(const Draft& draft, std::int64_t rows) {
  return draft.problem(Code::W6018,
                       draft.request.model.target->uri() + " is no history: " + std::to_string(rows) +
                           (rows == 1 ? " row has" : " rows have") + " no validity",
                       "rebuild it with --full-refresh, or name another table");
}

Result<Past> look_back(Draft& draft) {
  Past past;
  past.effective = draft.request.effective_micros;
  if (!draft.target.exists) return past;
  const ValidityColumns validity = draft.validity();
  const duck::Identifier from{std::string(validity.from)};
  const duck::Identifier to{std::string(validity.to)};
  WEIR_TRY(const duck::Rows rows,
           draft.ask(duck::Sql("SELECT count(*) FILTER ({}), epoch_us(max(t.{})), epoch_us(max(t.{})), count(*) FILTER "
                               "(t.{} IS NULL OR {} IS DISTINCT FROM (t.{} IS NULL)) FROM {} AS t",
                               validity.is_open("t"), from, to, from, validity.is_open("t"), to, draft.readable())));
  if (const std::int64_t outside = rows.integer(0, 3); outside > 0) return fail(without_validity(draft, outside));
  past.open_rows = rows.integer(0, 0);
  past.effective = effective_time(draft, rows, 1, 2);
  return past;
}

// The current view: made with the history, and again when columns change or somebody dropped it.
Result<std::vector<duck::Sql>> current_view(Draft& draft) {
  if (draft.request.model.plane != Plane::Managed) return std::vector<duck::Sql>{};
  Asset view = *draft.request.model.target;
  view.name += "_current";
  WEIR_TRY(const lake::TableState state, draft.observe(view));
  if (state.exists && !state.is_view)
    return fail(draft.problem(Code::W6014, view.uri() + " is a table; the view of current rows would need its name",
                              "rename that table, or the history"));
  const bool is_first = !draft.target.exists;
  if (state.exists && !is_first && draft.shape.alters.empty()) return std::vector<duck::Sql>{};
  if (state.exists && !draft.request.target.exists)
    draft.warn(Code::W6025, "the view " + view.uri() + " is replaced by the current rows of the new history");
  const duck::TableName name = draft.request.lake.writable(view.schema, view.name);
  // Two-part names: a lake may be attached under any name.
  const duck::TableName base{{}, view.schema, draft.request.model.target->name};
  return std::vector<duck::Sql>{duck::Sql("CREATE OR REPLACE VIEW {} AS SELECT {} FROM {} WHERE {}", name,
                                          duck::Sql::names(draft.shape.names()), base, draft.validity().is_open())};
}

struct Versions {
  duck::TableName fresh;  // all rows to insert: closed, refreshed, opened
  std::optional<duck::TableName> gone;
  std::int64_t opened = 0;
  std::int64_t closed = 0;
  std::int64_t refreshed = 0;
};

// Open rows whose values in added columns are now known, and which stay open.
Result<std::optional<duck::TableName>> refreshed_rows(Draft& draft, const Key& key, const Source& source,
                                                      const duck::TableName& closing, std::int64_t& rows) {
  std::vector<duck::Sql> known;
  for (const ShapedColumn& column : draft.shape.columns)
    if (column.in_stage && !column.in_target) known.push_back(duck::Sql("{} IS NOT NULL", value_from_stage(column)));
  if (known.empty()) return std::optional<duck::TableName>();
  const ValueOf values = [](const ShapedColumn& column) {
    return column.in_stage && !column.in_target ? value_from_stage(column) : value_from_target(column);
  };
  std::vector<duck::Sql> match;
  for (const ShapedColumn& column : key)
    match.push_back(duck::Sql("{} IS NOT DISTINCT FROM {}", value_from_target(column), value_from_stage(column)));
  WEIR_TRY(
      const duck::TableName refreshed,
      draft.keep(
          "refreshed",
          duck::Sql("SELECT t.rowid AS r, {} FROM {} AS t JOIN {} AS s ON ({}) ANTI JOIN {} AS g ON (t.rowid = g.r) "
                    "WHERE {} AND ({})",
                    compared_list(draft.shape.columns, values), draft.readable(), source.relation,
                    duck::Sql::join(match, " AND "), closing, draft.validity().is_open("t"),
                    duck::Sql::join(known, " OR ")),
          &rows));
  return std::optional<duck::TableName>(refreshed);
}

duck::Sql numbered_columns(const Draft& draft, const duck::TableName& table) {
  std::vector<duck::Sql> items;
  for (std::size_t i = 0; i < draft.shape.columns.size(); ++i)
    items.push_back(duck::Sql("{} AS {}", duck::Identifier("c" + std::to_string(i)),
                              duck::Identifier(draft.shape.columns[i].state.name)));
  return duck::Sql("SELECT {} FROM {}", duck::Sql::join(items, ", "), table);
}

Result<Versions> compare(Draft& draft, const Key& key, const Key& track, const Source& source, std::int64_t effective) {
  Versions versions;
  const std::vector<ShapedColumn> compared = tracked_columns(draft, key, track);
  const bool closes = draft.request.model.deletes_close;
  const duck::Sql in_source =
      closes ? duck::Sql()
             : duck::Sql(" SEMI JOIN (SELECT {} FROM {} AS s) AS k ON ({})", key_list(key, value_from_stage),
                         source.relation, key_match(key, value_from_target, "k"));
  WEIR_TRY(const duck::TableName old,
           draft.keep("old", duck::Sql("SELECT t.rowid AS r, {} FROM {} AS t{} WHERE {}",
                                       compared_list(compared, value_from_target), draft.readable(), in_source,
                                       draft.validity().is_open("t"))));
  WEIR_TRY(const duck::TableName changed, changed_keys(draft, key, compared, source, old, nullptr));
  WEIR_TRY(const duck::TableName closing, draft.keep("closing", old_rows_of(key, old, changed), &versions.closed));
  WEIR_TRY(const std::optional<duck::TableName> refreshed,
           refreshed_rows(draft, key, source, closing, versions.refreshed));

  const duck::Sql now = at_micros(effective);
  const ValidityColumns validity = draft.validity();
  const auto closed_values = with_validity(validity, duck::Sql("t.{}", duck::Identifier(std::string(validity.from))),
                                           now, false, value_from_target);
  std::vector<duck::Sql> parts{duck::Sql("SELECT {} FROM {} AS t SEMI JOIN {} AS g ON (t.rowid = g.r)",
                                         select_list(draft.shape.columns, closed_values), draft.readable(), closing)};
  if (refreshed) parts.push_back(numbered_columns(draft, *refreshed));
  parts.push_back(
      duck::Sql("SELECT {} FROM {} AS s SEMI JOIN {} AS k ON ({})",
                select_list(draft.shape.columns, with_validity(validity, now, no_end(), true, value_from_stage)),
                source.relation, changed, key_match(key, value_from_stage, "k")));
  std::int64_t rows = 0;
  WEIR_TRY(versions.fresh, draft.keep("fresh", duck::Sql::join(parts, " UNION ALL "), &rows));
  versions.opened = rows - versions.closed - versions.refreshed;
  if (versions.closed + versions.refreshed == 0) return versions;
  versions.gone = closing;
  if (versions.refreshed > 0) {
    WEIR_TRY(versions.gone,
             draft.keep("gone", duck::Sql("SELECT r FROM {} UNION ALL SELECT r FROM {}", closing, *refreshed)));
  }
  return versions;
}

Result<void> finish(Draft& draft, const duck::Sql& table) {
  WEIR_CHECK(draft.finish(table, table));
  WEIR_TRY(draft.effect.slice_image,
           draft.image("slice",
                       duck::Sql("SELECT * FROM {} WHERE {}", draft.effect.table_image, draft.validity().is_open())));
  return {};
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
  return finish(draft, rows);
}

}  // namespace

std::int64_t effective_time(Draft& draft, const duck::Rows& rows, std::size_t newest_from, std::size_t newest_to) {
  const std::int64_t now = draft.request.effective_micros;
  std::int64_t earliest = now;
  if (!rows.is_null(0, newest_from)) earliest = std::max(earliest, rows.integer(0, newest_from) + 1);
  if (!rows.is_null(0, newest_to)) earliest = std::max(earliest, rows.integer(0, newest_to));
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
  WEIR_CHECK(draft.need_row_numbers());
  WEIR_TRY(const Key key, key_columns(draft, draft.request.model.key));
  WEIR_TRY(const Key track, key_columns(draft, draft.request.model.track));
  const Duplicates policy = draft.request.model.duplicates;
  // Several open rows of one key would be no history.
  WEIR_TRY(const Source source, without_duplicates(draft, key, policy == Duplicates::Keep ? Duplicates::Fail : policy));
  WEIR_TRY(const std::vector<duck::Sql> view, current_view(draft));
  WEIR_TRY(const Past past, look_back(draft));
  if (!draft.target.exists) return open_all(draft, source, past.effective, view);

  WEIR_TRY(const Versions versions, compare(draft, key, track, source, past.effective));
  Effect& effect = draft.effect;
  effect.counts = {.inserted = versions.opened,
                   .updated = {},
                   .deleted = {},
                   .closed = versions.closed,
                   .unchanged = source.rows - versions.opened};
  if (versions.refreshed > 0) effect.counts.updated = versions.refreshed;
  effect.rows = past.open_rows - versions.closed + versions.opened;
  effect.statements = draft.shape.alters;
  const bool has_fresh = versions.opened + versions.closed + versions.refreshed > 0;
  const duck::Sql fresh("SELECT {} FROM {}", duck::Sql::names(draft.shape.names()), versions.fresh);
  if (versions.gone) effect.statements.push_back(draft.remove(*versions.gone));
  if (has_fresh) effect.statements.push_back(draft.insert(fresh));
  effect.changes = !effect.statements.empty() || draft.request.always_commit;
  if (effect.statements.empty() && effect.changes) effect.statements.push_back(draft.touch());
  if (effect.changes) effect.statements.insert(effect.statements.end(), view.begin(), view.end());
  const duck::Sql values = select_list(draft.shape.columns, value_from_target);
  duck::Sql table = versions.gone ? duck::Sql("SELECT {} FROM {} AS t ANTI JOIN {} AS g ON (t.rowid = g.r)", values,
                                              draft.readable(), *versions.gone)
                                  : draft.target_rows();
  if (has_fresh) table = duck::Sql("{} UNION ALL {}", table, fresh);
  return finish(draft, table);
}

}  // namespace weir::publish
