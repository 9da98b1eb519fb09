// One table that weir does not own, in a database attached for writing: how it is looked at, held still, changed. One
// class for what DuckDB's own SQL does, one file each for what PostgreSQL and SQLite need besides.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "build/holder.h"
#include "deliver/delta.h"
#include "lake/lakes.h"
#include "project/model.h"

namespace weir::deliver {

/// One row of the table weir_delivery beside the target: a delivery that happened.
struct DeliveryRow {
  std::string token;
  std::string model;
  std::string run;
  std::string environment;
  /// ISO 8601.
  std::string delivered;
  /// The commit record, as the commits of a lake carry it.
  std::string record;
};

/// Threads: one at a time.
class Target {
 public:
  /// `shows_values`: what the database says of a failure may hold values of rows.
  static std::unique_ptr<Target> of(const lake::Outlet& outlet, const Model& model, bool shows_values);
  Target(const lake::Outlet& outlet, const Model& model, bool shows_values)
      : outlet_(outlet), model_(model), asset_(*model.target), shows_values_(shows_values) {}
  virtual ~Target() = default;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  duck::TableName table() const { return outlet_.table(asset_.schema, asset_.name); }
  virtual build::Holder holder() const { return build::Holder::DuckDb; }
  /// The type in which a new column of weir's own is kept.
  std::string kept_as(std::string_view type) const;

  /// What the table is now, as the connection's transaction sees it: columns in the types that DuckDB reads, a default
  /// where the database fills one in. Rows are not counted. Errors: W6502 the database does not answer, W6508 a view.
  Result<lake::TableState> observe(duck::Connection& connection);
  /// Errors: W6506 a name that the database would cut.
  virtual Result<void> check_names(const std::vector<lake::ColumnState>& columns) const;

  /// Keeps other writers away until the transaction ends; readers go on. Requires: the writer's transaction has begun
  /// and done nothing yet. Errors: W6503 somebody else holds it.
  virtual Result<void> hold(duck::Connection& writer, const lake::TableState& state, Strategy strategy);
  /// Makes the table and its schema, new columns, wider types. Errors: W6501.
  Result<void> shape(duck::Connection& writer, const Delta& delta);
  /// Writes the rows. Errors: W6501.
  Result<void> write(duck::Connection& writer, const Delta& delta);

  /// Makes weir_delivery where it is missing, and adds the row. Errors: W6504.
  Result<void> note(duck::Connection& writer, const DeliveryRow& row);
  /// The newest delivery of the model in the environment; nothing: none was noted. Errors: W6505 it cannot be asked.
  Result<std::optional<DeliveryRow>> newest(duck::Connection& connection, const std::string& environment);
  /// The record of a delivery with this token; nothing: it did not happen. Errors: W6505 it cannot be asked.
  Result<std::optional<std::string>> record_of(duck::Connection& connection, const std::string& token);

  Diagnostic problem(Code code, std::string message, std::string hint = {}) const;
  Diagnostic refused(Code code, const std::string& doing, const duck::Failure& failure, std::string hint = {}) const;

 protected:
  duck::TableName delivery_table() const { return outlet_.table(asset_.schema, "weir_delivery"); }
  Result<void> run(duck::Connection& connection, const duck::Sql& sql, Code code = Code::W6501) const;
  Result<bool> keeps_deliveries(duck::Connection& connection) const;
  /// The engine remembers what tables of a server look like, also those of a transaction that was rolled back: it is
  /// told to look again.
  virtual duck::Outcome<std::int64_t> forget(duck::Connection& connection) const;
  Result<void> settle(duck::Connection& writer) const;
  /// True if the relation is there now.
  duck::Outcome<bool> finds(duck::Connection& connection, const duck::TableName& table) const;
  Failed cannot_ask(const duck::Failure& failure) const;
  /// The same. Errors: W6502.
  Result<bool> is_there(duck::Connection& connection, const duck::TableName& table) const;

  /// Nullability and defaults into `state.columns`, which hold names and types; is_view.
  virtual Result<void> look_closer(duck::Connection& connection, lake::TableState& state);
  /// CREATE or ALTER of a definition; columns in DuckDB's types.
  virtual Result<void> make_schema(duck::Connection& writer);
  virtual Result<void> make_table(duck::Connection& writer, const duck::TableName& table,
                                  const std::vector<lake::ColumnState>& columns, const std::string& primary_key);
  virtual Result<void> add_column(duck::Connection& writer, const lake::ColumnState& column);
  virtual Result<void> widen_column(duck::Connection& writer, const lake::ColumnState& column);
  virtual Result<void> empty(duck::Connection& writer);
  virtual Result<void> remove(duck::Connection& writer, const Delta& delta);
  virtual Result<void> change(duck::Connection& writer, const Delta& delta, const Change& change);

  const lake::Outlet outlet_;
  const Model& model_;
  const Asset& asset_;
  const bool shows_values_;
};

// One maker a kind of database.
std::unique_ptr<Target> postgres_target(const lake::Outlet& outlet, const Model& model, bool shows_values);
std::unique_ptr<Target> sqlite_target(const lake::Outlet& outlet, const Model& model, bool shows_values);

}  // namespace weir::deliver
