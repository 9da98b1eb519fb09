#include "publish/versions.h"

#include <algorithm>

namespace weir::publish {
namespace {

// Such a row is neither current nor past: the history would stand beside it and never close it.
Diagnostic without_validity(const Draft& draft, std::int64_t rows) {
  return draft.problem(Code::W6018,
                       draft.request.model.target->uri() + " is no history: " + std::to_string(rows) +
                           (rows == 1 ? " row has" : " rows have") + " no validity",
                       "rebuild it with --full-refresh, or name another table");
}

}  // namespace

duck::Sql at_micros(std::int64_t micros) { return duck::Sql("make_timestamp(CAST({} AS BIGINT))", micros); }

const duck::Sql& no_end() {
  static const duck::Sql sql("CAST(NULL AS TIMESTAMP)");
  return sql;
}

ValueOf with_validity(const ValidityColumns& validity, const duck::Sql& from, const duck::Sql& to, bool is_current,
                      const ValueOf& otherwise, const std::optional<duck::Sql>& deleted) {
  return [=](const ShapedColumn& column) {
    if (!column.managed) return otherwise(column);
    if (build::same_name(column.state.name, validity.from)) return from;
    if (build::same_name(column.state.name, validity.to)) return to;
    if (build::same_name(column.state.name, validity.current)) return duck::Sql("{}", duck::Literal(is_current));
    if (deleted) return *deleted;
    // A version that begins is no mark; one that ends stays what it is.
    return is_current ? duck::Sql("false") : otherwise(column);
  };
}

ValidityColumns held_validity(const Draft& draft) {
  return draft.validity().of_table([&](std::string_view name) { return draft.target.column(name) != nullptr; });
}

Result<Past> look_back(Draft& draft) {
  Past past;
  if (!draft.target.exists) return past;
  const ValidityColumns validity = held_validity(draft);
  const duck::Identifier from{std::string(validity.from)};
  const duck::Identifier to{std::string(validity.to)};
  WEIR_TRY(const duck::Rows rows,
           draft.ask(duck::Sql("SELECT count(*) FILTER ({}), epoch_us(max(t.{})), epoch_us(max(t.{})), count(*) FILTER "
                               "(t.{} IS NULL OR {} IS DISTINCT FROM (t.{} IS NULL)) FROM {} AS t",
                               validity.is_live("t"), from, to, from, validity.is_open("t"), to, draft.readable())));
  if (const std::int64_t outside = rows.integer(0, 3); outside > 0) return fail(without_validity(draft, outside));
  past.live_rows = rows.integer(0, 0);
  if (!rows.is_null(0, 1)) past.newest_from = rows.integer(0, 1);
  if (!rows.is_null(0, 2)) past.newest_to = rows.integer(0, 2);
  return past;
}

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
                                          duck::Sql::names(draft.shape.names()), base, draft.validity().is_live())};
}

Result<void> change_versions(Draft& draft, const std::optional<duck::TableName>& gone,
                             const std::optional<duck::TableName>& fresh, const std::vector<duck::Sql>& view) {
  Effect& effect = draft.effect;
  effect.statements = draft.shape.alters;
  if (gone) effect.statements.push_back(draft.remove(*gone));
  duck::Sql rows;
  if (fresh) rows = duck::Sql("SELECT {} FROM {}", duck::Sql::names(draft.shape.names()), *fresh);
  if (fresh) effect.statements.push_back(draft.insert(rows));
  effect.changes = !effect.statements.empty() || draft.request.always_commit;
  if (effect.statements.empty() && effect.changes) effect.statements.push_back(draft.touch());
  if (effect.changes) effect.statements.insert(effect.statements.end(), view.begin(), view.end());
  duck::Sql table = gone ? duck::Sql("SELECT {} FROM {} AS t ANTI JOIN {} AS g ON (t.rowid = g.r)",
                                     select_list(draft.shape.columns, value_from_target), draft.readable(), *gone)
                         : draft.target_rows();
  if (fresh) table = duck::Sql("{} UNION ALL {}", table, rows);
  return finish_versions(draft, table);
}

Result<void> finish_versions(Draft& draft, const duck::Sql& table) {
  WEIR_CHECK(draft.finish(table, table));
  WEIR_TRY(draft.effect.slice_image,
           draft.image("slice",
                       duck::Sql("SELECT * FROM {} WHERE {}", draft.effect.table_image, draft.validity().is_live())));
  return {};
}

}  // namespace weir::publish
