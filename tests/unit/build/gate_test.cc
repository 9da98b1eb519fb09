#include "build/gate.h"

#include "slice.h"

namespace weir::build {
namespace {

class Gate : public Slice {
 protected:
  /// "" if the query passes, else the codes.
  std::string judged(const std::string& query, const std::vector<parse::FunctionCall>& calls = {}) {
    model_of(query);
    model.script.statements.back().functions = calls;
    auto plan = bind_plan(*clean_, duck::Sql::verbatim(query));
    EXPECT_TRUE(plan.has_value());
    const auto verdict = judge(*plan, {.path = model.source->path, .statement = model.result(), .macros = {}});
    if (verdict) return plan->is_known ? "" : "unknown";
    return std::string(name_of(verdict.error()[0].code));
  }
};

TEST_F(Gate, ReadersOfFilesRangesAndUnnestPass) {
  run(duck::Sql("COPY (SELECT 1 AS a) TO {}", duck::Literal(folder_ + "/x.parquet")));
  run(duck::Sql("COPY (SELECT 1 AS a) TO {} (FORMAT csv)", duck::Literal(folder_ + "/x.csv")));
  EXPECT_EQ(judged("FROM read_parquet('" + folder_ + "/x.parquet')"), "");
  EXPECT_EQ(judged("FROM read_csv('" + folder_ + "/x.csv')"), "unknown");
  EXPECT_EQ(judged("SELECT unnest([1, 2]) AS a FROM range(3)"), "");
  EXPECT_EQ(judged("FROM query('FROM range(3)')"), "");
}

TEST_F(Gate, ListsOfAttachmentsAreRefusedHoweverTheyAreReached) {
  EXPECT_EQ(judged("FROM duckdb_databases()"), "W4003");
  EXPECT_EQ(judged("FROM (SHOW DATABASES)"), "W4003");
  EXPECT_EQ(judged("SELECT 1 AS a WHERE EXISTS (FROM query('FROM duckdb_settings()'))"), "W4003");
  EXPECT_EQ(judged("FROM information_schema.tables"), "W4003");
  EXPECT_EQ(judged("FROM pg_catalog.pg_database"), "W4003");
  run("CREATE MACRO hidden() AS TABLE FROM duckdb_databases()");
  EXPECT_EQ(judged("FROM hidden()"), "W4003");
  run("CREATE VIEW hiding AS FROM duckdb_tables()");
  EXPECT_EQ(judged("WITH x AS (FROM hiding) SELECT count(*) AS n FROM x"), "W4003");
}

TEST_F(Gate, MaintenanceOfALakeIsRefusedAndBindingItRunsNothing) {
  attach_lake();
  run("CREATE TABLE lake.t AS SELECT 1 AS a");
  run("INSERT INTO lake.t SELECT 2");
  run("DROP TABLE lake.t");
  run("CALL ducklake_expire_snapshots('lake', older_than => now())");
  const auto files = [&] {
    return one(duck::Sql("SELECT count(*) FROM glob({})", duck::Literal(folder_ + "/data/**/*.parquet")));
  };
  const std::string before = files();
  ASSERT_NE(before, "0");
  EXPECT_EQ(judged("FROM ducklake_cleanup_old_files('lake', cleanup_all => true)"), "W4003");
  EXPECT_EQ(judged("FROM query('FROM ducklake_delete_orphaned_files(''lake'', cleanup_all => true)')"), "W4003");
  EXPECT_EQ(judged("FROM ducklake_expire_snapshots('lake', older_than => now())"), "W4003");
  EXPECT_EQ(files(), before);
  EXPECT_EQ(judged("SELECT snapshot_id FROM ducklake_snapshots('lake')"), "");
}

TEST_F(Gate, WhatCannotBeBoundMayNotHideCalls) {
  run(duck::Sql("COPY (SELECT 1 AS a) TO {} (FORMAT csv)", duck::Literal(folder_ + "/x.csv")));
  const std::string query = "FROM read_csv('" + folder_ + "/x.csv'), query('FROM duckdb_databases()')";
  EXPECT_EQ(judged(query, {{.name = "query", .is_table_function = true}}), "W4003");
  EXPECT_EQ(judged(query, {{.name = "query_table", .is_table_function = true}}), "W4003");
  EXPECT_EQ(judged(query, {{.name = "m", .catalog = "lake"}}), "W4003");
  EXPECT_EQ(judged(query, {{.name = "duckdb_databases", .is_table_function = true}}), "W4003");
  EXPECT_EQ(judged("SELECT upper(a) AS a FROM read_csv('" + folder_ + "/x.csv')",
                   {{.name = "read_csv", .is_table_function = true}, {.name = "upper"}}),
            "unknown");
  EXPECT_EQ(judged(query), "W4003");
}

TEST_F(Gate, CallsWithinExpressionsAreSeenThroughMacros) {
  run("CREATE MACRO logs() AS write_log('x')");
  EXPECT_EQ(judged("SELECT logs() AS a"), "W4003");
  EXPECT_EQ(judged("SELECT 1 AS a WHERE EXISTS (SELECT logs())"), "W4003");
  run("CREATE MACRO asks(x) AS current_setting(x)");
  EXPECT_EQ(judged("SELECT asks('extension_directory') AS a"), "W4003");
  EXPECT_EQ(judged("SELECT asks('TimeZone') AS a"), "");
  run("CREATE MACRO plans() AS json_serialize_plan('FROM nosuch')");
  EXPECT_EQ(judged("SELECT plans() AS a"), "W4003");
}

TEST_F(Gate, AttachmentsThatWriteAndCatalogFilesAreReachedByNoDetour) {
  attach_lake();
  run("CREATE TABLE lake.t AS SELECT 1 AS a");
  run("ATTACH ':memory:' AS _weir_w_x_0123456789abcdef");
  run("CREATE TABLE _weir_w_x_0123456789abcdef.t AS SELECT 1 AS a");
  EXPECT_EQ(judged("FROM query('FROM _weir_w_x_0123456789abcdef.main.t')"), "W4003");
  EXPECT_EQ(judged("FROM query_table('_weir_w_x_0123456789abcdef.main.t')"), "W4003");
  run(duck::Sql("CREATE MACRO peek() AS TABLE FROM sqlite_scan({}, 'ducklake_table')",
                duck::Literal(folder_ + "/catalog.db")));
  EXPECT_EQ(judged("FROM peek()"), "W4003");
  EXPECT_EQ(judged("FROM lake.main.t"), "");
}

TEST_F(Gate, AViewOverCsvHidesNothing) {
  run(duck::Sql("COPY (SELECT 1 AS a) TO {} (FORMAT csv)", duck::Literal(folder_ + "/x.csv")));
  run(duck::Sql("CREATE VIEW plain AS FROM read_csv({})", duck::Literal(folder_ + "/x.csv")));
  run(duck::Sql("CREATE VIEW hiding AS SELECT a, database_name FROM read_csv({}), duckdb_databases()",
                duck::Literal(folder_ + "/x.csv")));
  EXPECT_EQ(judged("FROM plain"), "unknown");
  EXPECT_EQ(judged("FROM hiding"), "W4003");
  EXPECT_EQ(judged("SELECT a FROM plain WHERE a IN (SELECT a FROM hiding)"), "W4003");
}

TEST_F(Gate, TablesOfAnUnplannablePivotAreLookedAtOneByOne) {
  run("CREATE VIEW listing AS SELECT database_name, 1 AS n FROM duckdb_databases()");
  run("CREATE TABLE harmless AS SELECT 'x' AS database_name, 1 AS n");
  for (const auto& [table, expected] : {std::pair{"listing", false}, std::pair{"harmless", true}}) {
    model_of(std::string("PIVOT ") + table + " ON database_name USING sum(n)");
    parse::TableReference reference;
    reference.span = {model.result().span.begin + 6,
                      model.result().span.begin + 6 + static_cast<std::uint32_t>(std::string(table).size())};
    reference.parts = {table};
    model.script.statements.back().tables = {reference};
    const auto sql = parse::Spliced::make(model.source->text, model.result().span, {});
    EXPECT_EQ(
        pass_gate(*clean_, bind_plan(*clean_, sql.sql()), sql, {.path = "m", .statement = model.result(), .macros = {}})
            .has_value(),
        expected)
        << table;
  }
}

TEST_F(Gate, ComputeAsksItOfQueryAndSetup) {
  EXPECT_EQ(codes_of("SELECT database_name FROM duckdb_databases()"), "W4003");
  const std::string text = "SELECT 1 AS a; CREATE TEMP TABLE x AS FROM duckdb_databases()";
  model_of(text);
  const Span whole{10 + 15, static_cast<std::uint32_t>(model.source->text.size())};
  parse::Statement create;
  create.kind = parse::StatementKind::CreateTempTable;
  create.span = whole;
  create.query = {whole.begin + 23, whole.end};
  model.script.statements.back().span = {10, 10 + 13};
  model.script.statements.insert(model.script.statements.begin(), create);
  setup.push_back(parse::Spliced::make(model.source->text, whole, {}));
  const auto stage = compute(*step_, request_of());
  ASSERT_FALSE(stage.has_value());
  EXPECT_EQ(stage.error()[0].code, Code::W4003);
  EXPECT_EQ(one("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'x'"), "0");
}

}  // namespace
}  // namespace weir::build
