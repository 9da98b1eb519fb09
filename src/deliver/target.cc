#include "deliver/target.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/failpoint.h"
#include "build/names.h"

namespace weir::deliver {
namespace {

/// How often tables that are not found are looked for anew.
constexpr int kLooks = 3;

/// `t."a" IS NOT DISTINCT FROM d.k0 AND …`: NULL is a key like any other.
duck::Sql key_match(const std::vector<std::string>& key) {
  std::vector<duck::Sql> terms;
  for (std::size_t i = 0; i < key.size(); ++i)
    terms.emplace_back("t.{} IS NOT DISTINCT FROM d.{}", duck::Identifier(key[i]),
                       duck::Identifier("k" + std::to_string(i)));
  return duck::Sql::join(terms, " AND ");
}

duck::Sql definition_of(const lake::ColumnState& column) {
  // A type as the engine spells it.
  duck::Sql definition("{} {}", duck::Identifier(column.name), duck::Sql::verbatim(column.type));
  return definition;
}

class DuckDbTarget final : public Target {
 public:
  using Target::Target;
};

}  // namespace

std::unique_ptr<Target> Target::of(const lake::Outlet& outlet, const Model& model, bool shows_values) {
  switch (outlet.kind) {
    case DatabaseLocation::Kind::Postgres:
      return postgres_target(outlet, model, shows_values);
    case DatabaseLocation::Kind::Sqlite:
      return sqlite_target(outlet, model, shows_values);
    case DatabaseLocation::Kind::DuckDb:
      break;
  }
  return std::make_unique<DuckDbTarget>(outlet, model, shows_values);
}

std::string Target::kept_as(std::string_view type) const {
  const auto kept = build::kept_as(holder(), build::parse_type(type));
  return kept ? build::to_text(*kept) : std::string(type);
}

Diagnostic Target::problem(Code code, std::string message, std::string hint) const {
  Diagnostic found{.code = code, .message = std::move(message)};
  found.path = model_.source == nullptr ? model_.path : model_.source->path;
  found.span = model_.target_span;
  found.hint = std::move(hint);
  return found;
}

Diagnostic Target::refused(Code code, const std::string& doing, const duck::Failure& failure, std::string hint) const {
  duck::Failure shown = failure;
  // PostgreSQL says values of rows from the second line on.
  if (!shows_values_) shown.message = shown.message.substr(0, shown.message.find('\n'));
  Diagnostic found = lake::explain(code, doing, shown);
  return problem(code, std::move(found.message), hint.empty() ? std::move(found.hint) : std::move(hint));
}

Result<void> Target::run(duck::Connection& connection, const duck::Sql& sql, Code code) const {
  if (failpoint("deliver_statement"))
    return fail(refused(code, "delivering to " + asset_.uri(), {duck::FailureType::Io, "failpoint", {}}));
  auto done = connection.execute(sql);
  // What this transaction has made is forgotten when another connection, a model that reads the database, looks at it.
  for (int looks = 0; !done && done.error().type == duck::FailureType::Catalog && looks < kLooks; ++looks) {
    WEIR_CHECK(settle(connection));
    done = connection.execute(sql);
  }
  if (!done) return fail(refused(code, "delivering to " + asset_.uri(), done.error()));
  return {};
}

duck::Outcome<std::int64_t> Target::forget(duck::Connection& /*connection*/) const { return 0; }

Result<void> Target::settle(duck::Connection& writer) const {
  if (auto done = forget(writer); !done)
    return fail(refused(Code::W6501, "delivering to " + asset_.uri(), done.error()));
  return {};
}

duck::Outcome<bool> Target::finds(duck::Connection& connection, const duck::TableName& table) const {
  if (auto done = forget(connection); !done) return tl::unexpected(done.error());
  const auto columns = connection.describe(duck::Sql("FROM {}", table));
  if (!columns && columns.error().type != duck::FailureType::Catalog) return tl::unexpected(columns.error());
  return columns.has_value();
}

Result<bool> Target::is_there(duck::Connection& connection, const duck::TableName& table) const {
  const auto found = finds(connection, table);
  if (found) return *found;
  return fail(refused(Code::W6502, fmt::format("database {} ({}) cannot be read", asset_.place, outlet_.shown),
                      found.error(), "check that it is reachable"));
}

Result<lake::TableState> Target::observe(duck::Connection& connection) {
  lake::TableState state;
  WEIR_TRY(state.exists, is_there(connection, table()));
  if (!state.exists) return state;
  const auto columns = connection.describe(duck::Sql("FROM {}", table()));
  if (!columns) return fail(refused(Code::W6502, asset_.uri() + " cannot be read", columns.error()));
  for (const duck::Column& column : *columns) state.columns.push_back({.name = column.name, .type = column.type});
  WEIR_CHECK(look_closer(connection, state));
  if (state.is_view)
    return fail(problem(Code::W6508, asset_.uri() + " is a view; weir delivers into tables only", "name a table"));
  return state;
}

Result<void> Target::check_names(const std::vector<lake::ColumnState>& /*columns*/) const { return {}; }

Result<void> Target::look_closer(duck::Connection& connection, lake::TableState& state) {
  // The functions that tell the same take a name as text, in which no quotation mark can be written.
  const auto rows = connection.query(
      duck::Sql("SELECT column_name, \"null\" = 'YES', \"default\" IS NOT NULL FROM (DESCRIBE {})", table()));
  if (!rows) return fail(refused(Code::W6502, asset_.uri() + " cannot be read", rows.error()));
  for (std::size_t i = 0; i < rows->size(); ++i)
    for (lake::ColumnState& column : state.columns) {
      if (column.name != rows->text(i, 0)) continue;
      column.nullable = rows->boolean(i, 1);
      if (rows->boolean(i, 2)) column.default_sql = "DEFAULT";
    }
  // Binding a DELETE tells a table from a view without looking through every attachment.
  state.is_view = !connection.describe(duck::Sql("DELETE FROM {} WHERE false", table())).has_value();
  return {};
}

// A DuckDB file belongs to one process, whose steps write to different tables.
Result<void> Target::hold(duck::Connection& /*writer*/, const lake::TableState& /*state*/, Strategy /*strategy*/) {
  return {};
}

Result<void> Target::make_schema(duck::Connection& writer) {
  return run(writer,
             duck::Sql("CREATE SCHEMA IF NOT EXISTS {}", duck::TableName{{}, outlet_.attachment, asset_.schema}));
}

Result<void> Target::make_table(duck::Connection& writer, const duck::TableName& table,
                                const std::vector<lake::ColumnState>& columns, const std::string& primary_key) {
  std::vector<duck::Sql> definitions;
  for (const lake::ColumnState& column : columns) definitions.push_back(definition_of(column));
  if (!primary_key.empty()) definitions.emplace_back("PRIMARY KEY ({})", duck::Identifier(primary_key));
  return run(writer, duck::Sql("CREATE TABLE {} ({})", table, duck::Sql::join(definitions, ", ")),
             primary_key.empty() ? Code::W6501 : Code::W6504);
}

Result<void> Target::add_column(duck::Connection& writer, const lake::ColumnState& column) {
  return run(writer, duck::Sql("ALTER TABLE {} ADD COLUMN {}", table(), definition_of(column)));
}

Result<void> Target::widen_column(duck::Connection& writer, const lake::ColumnState& column) {
  return run(writer, duck::Sql("ALTER TABLE {} ALTER COLUMN {} SET DATA TYPE {}", table(),
                               duck::Identifier(column.name), duck::Sql::verbatim(column.type)));
}

Result<void> Target::shape(duck::Connection& writer, const Delta& delta) {
  if (delta.makes_table) {
    WEIR_CHECK(make_schema(writer));
    WEIR_CHECK(make_table(writer, table(), delta.effect.columns, {}));
  }
  for (const lake::ColumnState& column : delta.added) WEIR_CHECK(add_column(writer, column));
  for (const lake::ColumnState& column : delta.widened) WEIR_CHECK(widen_column(writer, column));
  if (!delta.makes_table && delta.added.empty() && delta.widened.empty()) return {};
  return settle(writer);
}

Result<void> Target::empty(duck::Connection& writer) { return run(writer, duck::Sql("DELETE FROM {}", table())); }

Result<void> Target::remove(duck::Connection& writer, const Delta& delta) {
  return run(writer,
             duck::Sql("DELETE FROM {} AS t USING {} AS d WHERE {}", table(), *delta.gone, key_match(delta.key)));
}

Result<void> Target::change(duck::Connection& writer, const Delta& delta, const Change& change) {
  std::vector<duck::Sql> sets;
  for (std::size_t i = 0; i < change.columns.size(); ++i)
    sets.emplace_back("{} = d.{}", duck::Identifier(change.columns[i]), duck::Identifier("v" + std::to_string(i)));
  const duck::Sql open =
      delta.open_column ? duck::Sql(" AND t.{} IS NULL", duck::Identifier(*delta.open_column)) : duck::Sql();
  return run(writer, duck::Sql("UPDATE {} AS t SET {} FROM {} AS d WHERE {}{}", table(), duck::Sql::join(sets, ", "),
                               change.rows, key_match(delta.key), open));
}

Result<void> Target::write(duck::Connection& writer, const Delta& delta) {
  if (delta.empties) WEIR_CHECK(empty(writer));
  if (delta.gone) WEIR_CHECK(remove(writer, delta));
  for (const Change& one : delta.changes) WEIR_CHECK(change(writer, delta, one));
  if (!delta.fresh) return {};
  const duck::Sql names = duck::Sql::names(delta.fresh_columns);
  return run(writer, duck::Sql("INSERT INTO {} ({}) SELECT {} FROM ({}) AS rows_of_slice", table(), names, names,
                               *delta.fresh));
}

Result<void> Target::note(duck::Connection& writer, const DeliveryRow& row) {
  const std::string doing = "recording the delivery in " + asset_.schema + ".weir_delivery";
  const std::string hint =
      "grant the right to make and write that table, or add `ledger: false`, which gives up the "
      "protection against delivering twice";
  const auto said = [&](Result<void> done) -> Result<void> {
    if (done) return done;
    Diagnostic found = std::move(done).error().front();
    return fail(problem(Code::W6504, doing + ": " + found.message, hint));
  };
  WEIR_TRY(const bool exists, is_there(writer, delivery_table()));
  if (!exists) {
    WEIR_CHECK(said(make_schema(writer)));
    std::vector<lake::ColumnState> columns;
    for (const char* name : {"token", "model", "run", "environment", "delivered", "record"})
      columns.push_back({.name = name, .type = "VARCHAR"});
    WEIR_CHECK(said(make_table(writer, delivery_table(), columns, "token")));
    WEIR_CHECK(settle(writer));
  }
  std::vector<duck::Sql> values;
  for (const std::string* text : {&row.token, &row.model, &row.run, &row.environment, &row.delivered, &row.record})
    values.emplace_back("{}", duck::Literal(*text));
  return said(run(writer,
                  duck::Sql("INSERT INTO {} (token, model, run, environment, delivered, record) VALUES ({})",
                            delivery_table(), duck::Sql::join(values, ", ")),
                  Code::W6504));
}

Result<bool> Target::keeps_deliveries(duck::Connection& connection) const {
  const auto found = finds(connection, delivery_table());
  if (!found) return cannot_ask(found.error());
  return *found;
}

Failed Target::cannot_ask(const duck::Failure& failure) const {
  return fail(refused(Code::W6505, "asking " + asset_.place + " whether the last delivery happened", failure,
                      "nothing is delivered until that is known: run it again when the database answers"));
}

Result<std::optional<DeliveryRow>> Target::newest(duck::Connection& connection, const std::string& environment) {
  WEIR_TRY(const bool has_any, keeps_deliveries(connection));
  if (!has_any) return std::optional<DeliveryRow>();
  const auto rows = connection.query(duck::Sql(
      "SELECT token, model, run, environment, delivered, record FROM {} WHERE model = {} AND environment = {} "
      "ORDER BY delivered DESC, run DESC LIMIT 1",
      delivery_table(), duck::Literal(model_.path), duck::Literal(environment)));
  if (!rows) return cannot_ask(rows.error());
  if (rows->size() == 0) return std::optional<DeliveryRow>();
  return std::optional<DeliveryRow>(
      {rows->text(0, 0), rows->text(0, 1), rows->text(0, 2), rows->text(0, 3), rows->text(0, 4), rows->text(0, 5)});
}

Result<std::optional<std::string>> Target::record_of(duck::Connection& connection, const std::string& token) {
  WEIR_TRY(const bool has_any, keeps_deliveries(connection));
  if (!has_any) return std::optional<std::string>();
  const auto rows =
      connection.query(duck::Sql("SELECT record FROM {} WHERE token = {}", delivery_table(), duck::Literal(token)));
  if (!rows) return cannot_ask(rows.error());
  if (rows->size() == 0) return std::optional<std::string>();
  return std::optional<std::string>(rows->text(0, 0));
}

}  // namespace weir::deliver
