// History in a table that weir does not own (scd): as on the other planes, the result is the current snapshot, one row
// a key; here the open version of a changed key is closed where it stands, by key.
#include <algorithm>

#include "deliver/strategies.h"
#include "project/validity.h"

namespace weir::deliver {
namespace {

using publish::Draft;
using publish::Key;
using publish::ShapedColumn;
using publish::Source;
using publish::ValueOf;

struct Past {
  std::int64_t open_rows = 0;
  std::int64_t effective = 0;  // microseconds
};

duck::Identifier named(std::string_view name) { return duck::Identifier(std::string(name)); }

/// Validity columns may be kept as text.
duck::Sql instant(std::int64_t micros, const std::string& type) {
  return {"CAST(make_timestamp(CAST({} AS BIGINT)) AS {})", micros, duck::Sql::verbatim(type)};
}

Result<Past> look_back(Draft& draft, const ValidityColumns& validity) {
  Past past;
  past.effective = draft.request.effective_micros;
  if (!draft.target.exists) return past;
  WEIR_TRY(const duck::Rows rows,
           draft.ask(duck::Sql("SELECT count(*) FILTER ({}), epoch_us(max(CAST(t.{} AS TIMESTAMP))), "
                               "epoch_us(max(CAST(t.{} AS TIMESTAMP))) FROM {} AS t",
                               validity.is_open("t"), named(validity.from), named(validity.to), draft.readable())));
  past.open_rows = rows.integer(0, 0);
  const auto micros = [&rows](std::size_t column) {
    return rows.is_null(0, column) ? std::nullopt : std::optional(rows.integer(0, column));
  };
  past.effective = effective_time(draft, micros(1), micros(2));
  return past;
}

/// A value for each column of a version that begins, or of one that goes on.
ValueOf version(const ValidityColumns& validity, const duck::Sql& from, const duck::Sql& to, const ValueOf& otherwise) {
  return [=](const ShapedColumn& column) {
    if (!column.managed) return otherwise(column);
    return build::same_name(column.state.name, validity.from) ? from : to;
  };
}

std::string type_of(const Draft& draft, std::string_view name) {
  for (const ShapedColumn& column : draft.shape.columns)
    if (build::same_name(column.state.name, name)) return column.state.type;
  return "TIMESTAMP";
}

/// Versions that begin now, from rows called s.
void open_versions(const Draft& draft, Delta& delta, const duck::Sql& from, const ValueOf& opened) {
  std::vector<ShapedColumn> columns;
  for (const ShapedColumn& column : draft.shape.columns)
    if (column.in_stage || column.managed) columns.push_back(column);
  delta.fresh = duck::Sql("SELECT {} FROM {}", select_list(columns, opened), from);
  for (const ShapedColumn& column : columns) delta.fresh_columns.push_back(column.state.name);
}

/// What open versions take that go on: the values of added columns, and with untracked=refresh of those that are not
/// tracked.
Result<std::optional<Change>> refresh(Draft& draft, const Key& key, const std::vector<ShapedColumn>& compared,
                                      const Source& source, const duck::TableName& changed, const duck::Sql& open) {
  Change change;
  std::vector<duck::Sql> values;
  std::vector<duck::Sql> differs;
  for (const ShapedColumn& column : draft.shape.columns) {
    const bool is_compared = std::any_of(compared.begin(), compared.end(), [&column](const ShapedColumn& one) {
      return one.state.name == column.state.name;
    });
    if (!column.in_stage || is_compared || (column.in_target && !draft.request.model.refreshes_untracked)) continue;
    values.push_back(
        duck::Sql(", {} AS {}", publish::value_from_stage(column), named("v" + std::to_string(change.columns.size()))));
    differs.push_back(
        duck::Sql("{} IS DISTINCT FROM {}", publish::value_from_stage(column), publish::value_from_target(column)));
    change.columns.push_back(column.state.name);
  }
  if (change.columns.empty()) return std::optional<Change>();
  std::vector<duck::Sql> match;
  for (const ShapedColumn& column : key)
    match.push_back(
        duck::Sql("{} IS NOT DISTINCT FROM {}", publish::value_from_stage(column), publish::value_from_target(column)));
  std::int64_t rows = 0;
  WEIR_TRY(change.rows,
           draft.keep("refreshed",
                      duck::Sql("SELECT {}{} FROM {} AS s JOIN {} AS t ON ({} AND {}) ANTI JOIN {} AS k "
                                "ON ({}) WHERE {}",
                                key_list(key, publish::value_from_stage), duck::Sql::join(values, ""), source.relation,
                                draft.readable(), duck::Sql::join(match, " AND "), open, changed,
                                key_match(key, publish::value_from_stage, "k"), duck::Sql::join(differs, " OR ")),
                      &rows));
  if (rows == 0) return std::optional<Change>();
  draft.effect.counts.updated = rows;
  return std::optional(change);
}

Result<void> finish(Draft& draft, const ValidityColumns& validity, const duck::Sql& table) {
  WEIR_CHECK(draft.finish(table, table));
  WEIR_TRY(draft.effect.slice_image,
           draft.image("slice", duck::Sql("SELECT * FROM {} WHERE {}", draft.effect.table_image, validity.is_open())));
  return {};
}

/// The table as it will be: closed versions closed, refreshed ones with their new values, and those that begin.
duck::Sql image_of(const Draft& draft, const ValidityColumns& validity, const Key& key, const duck::TableName& closing,
                   const duck::Sql& now, const std::optional<Change>& refreshed, const duck::Sql& opened) {
  const ValueOf value = [&](const ShapedColumn& column) {
    if (build::same_name(column.state.name, validity.to))
      return duck::Sql("CASE WHEN c.k0_is IS NULL THEN {} ELSE {} END", publish::value_from_target(column), now);
    if (refreshed)
      for (std::size_t i = 0; i < refreshed->columns.size(); ++i)
        if (refreshed->columns[i] == column.state.name)
          return duck::Sql("CASE WHEN r.k0_is IS NULL THEN {} ELSE r.{} END", publish::value_from_target(column),
                           named("v" + std::to_string(i)));
    return publish::value_from_target(column);
  };
  const duck::Sql open = validity.is_open("t");
  duck::Sql joined("{} AS t LEFT JOIN (SELECT *, true AS k0_is FROM {}) AS c ON ({} AND {})", draft.readable(), closing,
                   open, key_match(key, publish::value_from_target, "c"));
  if (refreshed)
    joined += duck::Sql(" LEFT JOIN (SELECT *, true AS k0_is FROM {}) AS r ON ({} AND {})", refreshed->rows, open,
                        key_match(key, publish::value_from_target, "r"));
  return {"SELECT {} FROM {} UNION ALL {}", select_list(draft.shape.columns, value), joined, opened};
}

}  // namespace

Result<void> keep_history(Draft& draft, Delta& delta) {
  const ValidityColumns validity = validity_columns(draft.request.model);
  WEIR_TRY(const Key key, key_columns(draft, draft.request.model.key));
  WEIR_TRY(const Key track, key_columns(draft, draft.request.model.track));
  for (const ShapedColumn& column : key) delta.key.push_back(column.state.name);
  delta.open_column = std::string(validity.to);
  const Duplicates policy = draft.request.model.duplicates;
  // Several open rows of one key would be no history.
  WEIR_TRY(const Source source, without_duplicates(draft, key, policy == Duplicates::Keep ? Duplicates::Fail : policy));
  WEIR_TRY(const Past past, look_back(draft, validity));
  publish::Effect& effect = draft.effect;
  const duck::Sql now = instant(past.effective, type_of(draft, validity.to));
  const ValueOf opened = version(validity, instant(past.effective, type_of(draft, validity.from)),
                                 duck::Sql("CAST(NULL AS {})", duck::Sql::verbatim(type_of(draft, validity.to))),
                                 publish::value_from_stage);
  if (!draft.target.exists) {
    effect.counts = {.inserted = source.rows, .updated = {}, .deleted = {}, .closed = 0, .unchanged = 0};
    effect.rows = source.rows;
    const duck::Sql from("{} AS s", source.relation);
    if (source.rows > 0) open_versions(draft, delta, from, opened);
    return finish(draft, validity, duck::Sql("SELECT {} FROM {}", select_list(draft.shape.columns, opened), from));
  }

  const std::vector<ShapedColumn> compared = tracked_columns(draft, key, track);
  const duck::Sql in_source =
      draft.request.model.deletes == Deletes::Close
          ? duck::Sql()
          : duck::Sql(" SEMI JOIN (SELECT {} FROM {} AS s) AS k ON ({})", key_list(key, publish::value_from_stage),
                      source.relation, key_match(key, publish::value_from_target, "k"));
  WEIR_TRY(const duck::TableName old, draft.keep("old", duck::Sql("SELECT {} FROM {} AS t{} WHERE {}",
                                                                  compared_list(compared, publish::value_from_target),
                                                                  draft.readable(), in_source, validity.is_open("t"))));
  WEIR_TRY(const duck::TableName changed, changed_keys(draft, key, compared, source, old, nullptr));
  std::vector<duck::Sql> held;
  std::vector<duck::Sql> match;
  for (std::size_t i = 0; i < key.size(); ++i) {
    held.push_back(duck::Sql("o.{} AS {}", named("c" + std::to_string(i)), named("k" + std::to_string(i))));
    match.push_back(
        duck::Sql("o.{} IS NOT DISTINCT FROM k.{}", named("c" + std::to_string(i)), named("k" + std::to_string(i))));
  }
  std::int64_t closed = 0;
  WEIR_TRY(const duck::TableName closing,
           draft.keep("closing",
                      duck::Sql("SELECT {}, {} AS v0 FROM {} AS o SEMI JOIN {} AS k ON ({})",
                                duck::Sql::join(held, ", "), now, old, changed, duck::Sql::join(match, " AND ")),
                      &closed));
  std::int64_t begun = 0;
  WEIR_TRY(const duck::TableName fresh,
           draft.keep("fresh",
                      duck::Sql("SELECT s.* FROM {} AS s SEMI JOIN {} AS k ON ({})", source.relation, changed,
                                key_match(key, publish::value_from_stage, "k")),
                      &begun));
  effect.counts = {.inserted = begun, .updated = {}, .deleted = {}, .closed = closed, .unchanged = source.rows - begun};
  effect.rows = past.open_rows - closed + begun;
  WEIR_TRY(const std::optional<Change> refreshed,
           refresh(draft, key, compared, source, changed, validity.is_open("t")));
  if (closed > 0) delta.changes.push_back({closing, {std::string(validity.to)}});
  if (refreshed) delta.changes.push_back(*refreshed);
  const duck::Sql from("{} AS s", fresh);
  if (begun > 0) open_versions(draft, delta, from, opened);
  return finish(draft, validity,
                image_of(draft, validity, key, closing, now, refreshed,
                         duck::Sql("SELECT {} FROM {}", select_list(draft.shape.columns, opened), from)));
}

}  // namespace weir::deliver
