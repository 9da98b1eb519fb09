// PostgreSQL: changes of rows and tables run on the server, behind rows that were copied into temporary tables there.
// DuckDB's own way deletes by the number of a row, which partitions share and which its reads do not give out; it does
// not alter types, and it spells some in a way that the server does not know (all measured).
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "build/names.h"
#include "deliver/target.h"
#include "project/delivery.h"

namespace weir::deliver {
namespace {

duck::Sql type_in_postgres(const build::Type& type) {
  static const std::map<std::string, const char*, std::less<>> other = {{"FLOAT", "real"},
                                                                        {"DOUBLE", "double precision"},
                                                                        {"VARCHAR", "text"},
                                                                        {"BLOB", "bytea"},
                                                                        {"DECIMAL", "numeric"}};
  if (type.name == "LIST") return {"{}[]", type_in_postgres(type.children.front().type)};
  if (type.name == "DECIMAL") return {"numeric({}, {})", type.parameters[0], type.parameters[1]};
  if (const auto mapped = other.find(type.name); mapped != other.end()) return duck::Sql::verbatim(mapped->second);
  return duck::Sql::verbatim(type.name);
}

duck::Sql definition_of(const lake::ColumnState& column) {
  return {"{} {}", duck::Identifier(column.name), type_in_postgres(build::parse_type(column.type))};
}

class PostgresTarget final : public Target {
 public:
  using Target::Target;

  build::Holder holder() const override { return build::Holder::Postgres; }

  Result<void> check_names(const std::vector<lake::ColumnState>& columns) const override {
    for (const lake::ColumnState& column : columns)
      if (column.name.size() > kLongestPostgresName)
        return fail(problem(Code::W6506,
                            fmt::format("the column {} has a name of {} bytes; PostgreSQL keeps {}", column.name,
                                        column.name.size(), kLongestPostgresName),
                            "give it a shorter name with AS"));
    return {};
  }

  // The lock comes before the transaction's first look, so that what it sees is what it holds still. Appending looks at
  // nothing and needs no more than the right to insert.
  Result<void> hold(duck::Connection& writer, const lake::TableState& state, Strategy strategy) override {
    if (!state.exists || strategy == Strategy::Append) return {};
    if (auto held = on_server(writer, duck::Sql("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE", exact_)); !held)
      return fail(refused(Code::W6503, asset_.uri() + " cannot be held still", held.error(),
                          "another session writes to it, or the user lacks the right to lock it (UPDATE or DELETE)"));
    return {};
  }

 protected:
  Result<void> look_closer(duck::Connection& connection, lake::TableState& state) override {
    const duck::Sql question(
        "SELECT n.nspname, c.relname, c.relkind::text, a.attname, a.attnotnull, a.atthasdef OR a.attidentity <> '' "
        "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND "
        "a.attnum > 0 AND NOT a.attisdropped WHERE lower(n.nspname) = lower({}) AND lower(c.relname) = lower({}) AND "
        "c.relkind IN ('r', 'v', 'm', 'f', 'p') ORDER BY c.relname = {} DESC, n.nspname = {} DESC, c.oid",
        duck::Literal(asset_.schema), duck::Literal(asset_.name), duck::Literal(asset_.name),
        duck::Literal(asset_.schema));
    const auto rows = connection.query(
        duck::Sql("SELECT * FROM postgres_query({}, {}) AS c(schema, name, kind, \"column\", required, filled)",
                  duck::Literal(outlet_.attachment), duck::Literal(question.text())));
    if (!rows) return fail(refused(Code::W6502, asset_.uri() + " cannot be read", rows.error()));
    if (rows->size() == 0) return {};
    exact_ = {{}, rows->text(0, 0), rows->text(0, 1)};
    state.is_view = rows->text(0, 2) == "v" || rows->text(0, 2) == "m";
    for (std::size_t i = 0; i < rows->size(); ++i)
      for (lake::ColumnState& column : state.columns) {
        if (rows->text(i, 1) != exact_.table || column.name != rows->text(i, 3)) continue;
        column.nullable = !rows->boolean(i, 4);
        if (rows->boolean(i, 5)) column.default_sql = "DEFAULT";
      }
    return {};
  }

  Result<void> make_schema(duck::Connection& writer) override {
    // Asked first: IF NOT EXISTS needs the right to make schemas even where there is nothing to make.
    const duck::Sql question("SELECT count(*) FROM pg_namespace WHERE nspname = {}", duck::Literal(asset_.schema));
    const auto rows = writer.query(duck::Sql("SELECT * FROM postgres_query({}, {}) AS c(n)",
                                             duck::Literal(outlet_.attachment), duck::Literal(question.text())));
    if (!rows) return fail(refused(Code::W6501, "delivering to " + asset_.uri(), rows.error()));
    if (rows->integer(0, 0) > 0) return {};
    return server(writer, duck::Sql("CREATE SCHEMA {}", duck::Identifier(asset_.schema)));
  }

  Result<void> make_table(duck::Connection& writer, const duck::TableName& table,
                          const std::vector<lake::ColumnState>& columns, const std::string& primary_key) override {
    const duck::TableName here{{}, table.schema, table.table};
    if (primary_key.empty()) exact_ = here;
    std::vector<duck::Sql> definitions;
    for (const lake::ColumnState& column : columns) definitions.push_back(definition_of(column));
    if (!primary_key.empty()) definitions.emplace_back("PRIMARY KEY ({})", duck::Identifier(primary_key));
    return server(writer, duck::Sql("CREATE TABLE {} ({})", here, duck::Sql::join(definitions, ", ")),
                  primary_key.empty() ? Code::W6501 : Code::W6504);
  }

  Result<void> add_column(duck::Connection& writer, const lake::ColumnState& column) override {
    return server(writer, duck::Sql("ALTER TABLE {} ADD COLUMN {}", exact_, definition_of(column)));
  }

  Result<void> widen_column(duck::Connection& writer, const lake::ColumnState& column) override {
    return server(writer, duck::Sql("ALTER TABLE {} ALTER COLUMN {} TYPE {}", exact_, duck::Identifier(column.name),
                                    type_in_postgres(build::parse_type(column.type))));
  }

  duck::Outcome<std::int64_t> forget(duck::Connection& connection) const override {
    return connection.execute(duck::Sql("CALL pg_clear_cache()"));
  }

  Result<void> empty(duck::Connection& writer) override { return server(writer, duck::Sql("DELETE FROM {}", exact_)); }

  Result<void> remove(duck::Connection& writer, const Delta& delta) override {
    WEIR_TRY(const Copied copied, copy(writer, delta.key, *delta.gone, {}));
    for (const duck::Sql& match : matches(delta.key, copied))
      WEIR_CHECK(server(writer, duck::Sql("DELETE FROM {} AS t USING {} AS d WHERE {}", exact_, copied.name, match)));
    return {};
  }

  Result<void> change(duck::Connection& writer, const Delta& delta, const Change& change) override {
    WEIR_TRY(const Copied copied, copy(writer, delta.key, change.rows, change.columns));
    std::vector<duck::Sql> sets;
    for (const std::string& column : change.columns)
      sets.emplace_back("{} = d.{}", duck::Identifier(column), duck::Identifier(column));
    const duck::Sql open =
        delta.open_column ? duck::Sql(" AND t.{} IS NULL", duck::Identifier(*delta.open_column)) : duck::Sql();
    for (const duck::Sql& match : matches(delta.key, copied))
      WEIR_CHECK(server(writer, duck::Sql("UPDATE {} AS t SET {} FROM {} AS d WHERE {}{}", exact_,
                                          duck::Sql::join(sets, ", "), copied.name, match, open)));
    return {};
  }

 private:
  struct Copied {
    duck::Sql name;
    bool has_null_keys = false;
  };

  duck::Outcome<std::int64_t> on_server(duck::Connection& writer, const duck::Sql& sql) const {
    return writer.execute(
        duck::Sql("CALL postgres_execute({}, {})", duck::Literal(outlet_.attachment), duck::Literal(sql.text())));
  }

  Result<void> server(duck::Connection& writer, const duck::Sql& sql, Code code = Code::W6501) const {
    return run(writer,
               duck::Sql("CALL postgres_execute({}, {})", duck::Literal(outlet_.attachment), duck::Literal(sql.text())),
               code);
  }

  /// Copies keys and values into a temporary table of the server, whose columns have the target's names and types.
  Result<Copied> copy(duck::Connection& writer, const std::vector<std::string>& key, const duck::TableName& rows,
                      const std::vector<std::string>& columns) {
    std::vector<std::string> names = key;
    names.insert(names.end(), columns.begin(), columns.end());
    const std::string table = fmt::format("weir_rows_{}", ++copies_);
    Copied copied{.name = duck::Sql("pg_temp.{}", duck::Identifier(table))};
    WEIR_CHECK(server(writer, duck::Sql("CREATE TEMP TABLE {} ON COMMIT DROP AS SELECT {} FROM {} WITH NO DATA",
                                        duck::Identifier(table), duck::Sql::names(names), exact_)));
    WEIR_CHECK(settle(writer));
    std::vector<duck::Sql> values;
    std::vector<duck::Sql> nulls;
    for (std::size_t i = 0; i < key.size(); ++i) {
      values.emplace_back("{}", duck::Identifier("k" + std::to_string(i)));
      nulls.emplace_back("{} IS NULL", values.back());
    }
    for (std::size_t i = 0; i < columns.size(); ++i)
      values.emplace_back("{}", duck::Identifier("v" + std::to_string(i)));
    WEIR_CHECK(run(writer, duck::Sql("INSERT INTO {} ({}) SELECT {} FROM {}",
                                     duck::TableName{outlet_.attachment, "pg_temp", table}, duck::Sql::names(names),
                                     duck::Sql::join(values, ", "), rows)));
    const auto found =
        writer.query(duck::Sql("SELECT count(*) FROM {} WHERE {}", rows, duck::Sql::join(nulls, " OR ")));
    if (!found) return fail(refused(Code::W6501, "delivering to " + asset_.uri(), found.error()));
    copied.has_null_keys = found->integer(0, 0) > 0;
    return copied;
  }

  // Equality is what the server has indexes for; keys with a NULL get a statement of their own.
  static std::vector<duck::Sql> matches(const std::vector<std::string>& key, const Copied& copied) {
    std::vector<duck::Sql> equal;
    std::vector<duck::Sql> same;
    std::vector<duck::Sql> nulls;
    for (const std::string& name : key) {
      const duck::Identifier column(name);
      equal.emplace_back("t.{} = d.{}", column, column);
      same.emplace_back("t.{} IS NOT DISTINCT FROM d.{}", column, column);
      nulls.emplace_back("d.{} IS NULL", column);
    }
    std::vector<duck::Sql> all{duck::Sql::join(equal, " AND ")};
    if (copied.has_null_keys)
      all.emplace_back("({}) AND {}", duck::Sql::join(nulls, " OR "), duck::Sql::join(same, " AND "));
    return all;
  }

  /// The table's name as the server spells it: DuckDB finds it in any case, the server does not.
  duck::TableName exact_{};
  int copies_ = 0;
};

}  // namespace

std::unique_ptr<Target> postgres_target(const lake::Outlet& outlet, const Model& model, bool shows_values) {
  return std::make_unique<PostgresTarget>(outlet, model, shows_values);
}

}  // namespace weir::deliver
