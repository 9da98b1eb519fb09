#include "project/render.h"

#include <gtest/gtest.h>

#include "project/partition_macro.h"
#include "project/references.h"

namespace weir {
namespace {

class Rendering : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    database_ = *duck::Database::open({});
    connection_ = std::make_unique<duck::Connection>(*database_->connect());
  }
  static void TearDownTestSuite() {
    connection_.reset();
    database_.reset();
  }
  static Model model(const std::string& sql, bool partitioned = true) {
    Model made;
    auto source = std::make_shared<Source>();
    source->path = "models/m.sql";
    source->text = sql;
    made.source = source;
    made.path = "m";
    if (partitioned)
      made.partitioning =
          calendar::Partitioning{.kind = calendar::PartitionKind::Daily, .tz = "UTC", .format = "%Y-%m-%d"};
    made.arguments = {{.name = "cutoff", .type = "DATE", .default_value = {}, .span = {}}};
    Config config;
    config.lakes = {{.name = "main", .catalog = {}, .data = "d", .retention = {}}};
    auto script = parse::parse_script(*connection_, sql, "models/m.sql");
    EXPECT_TRUE(script.has_value()) << sql;
    if (script.has_value()) made.script = *script;
    const Diagnostics found = resolve_references(made, config, {}, {});
    for (const Diagnostic& one : found) EXPECT_NE(one.severity, Severity::Error) << one.message;
    return made;
  }
  static std::string last(const Model& made, const std::string& partition = "2026-07-05",
                          const std::map<std::string, std::string>& arguments = {}) {
    return splice_statement(
               made, made.script.statements.size() - 1,
               [](const Reference& one) { return "\"r\".\"" + one.asset.schema + "\".\"" + one.asset.name + "\""; },
               partition, arguments)
        .text();
  }
  static std::string value(const std::string& sql) {
    auto rows = connection_->query(duck::Sql::verbatim(sql));
    return rows ? rows->text(0, 0) : "error";
  }
  static std::shared_ptr<duck::Database> database_;
  static std::unique_ptr<duck::Connection> connection_;
};
std::shared_ptr<duck::Database> Rendering::database_;
std::unique_ptr<duck::Connection> Rendering::connection_;

TEST_F(Rendering, ReferencesKeepTheNameThatColumnsAreQualifiedBy) {
  EXPECT_EQ(last(model("ATTACH 'ducklake' AS dl; SELECT dl.t.a, t.b, o.c FROM dl.t AT (VERSION => 3), dl.s.u AS o")),
            "SELECT \"t\".a, t.b, o.c FROM \"r\".\"main\".\"t\" AS \"t\" AT (VERSION => 3), \"r\".\"s\".\"u\" AS o");
}

TEST_F(Rendering, BareAndQuotedTokensAreTheSameLiteral) {
  EXPECT_EQ(last(model("SELECT {partition} AS p")), last(model("SELECT '{partition}' AS p")));
  EXPECT_EQ(last(model("SELECT 's3://b/{partition}/x' AS p -- {partition}")), "SELECT 's3://b/2026-07-05/x' AS p");
  EXPECT_EQ(last(model("SELECT 1 AS \"{partition}\" /* {partition} */, 2 AS y")),
            "SELECT 1 AS \"{partition}\" /* {partition} */, 2 AS y");
  EXPECT_EQ(last(model("SELECT '{partition}' AS p", false)), "SELECT '{partition}' AS p");
}

TEST_F(Rendering, AStoragePathTakesThePartition) {
  Model made = model("SELECT * FROM read_parquet('s3:///in/{partition}.parquet')");
  const auto at = static_cast<std::uint32_t>(made.source->text.find("'s3"));
  made.storage_paths = {
      {Span{at, static_cast<std::uint32_t>(made.source->text.size() - 1)}, "/data/in/{partition}.parquet"}};
  EXPECT_EQ(last(made), "SELECT * FROM read_parquet(_weir_file('/data/in/2026-07-05.parquet'))");
}

TEST_F(Rendering, NoValueLeavesItsLiteral) {
  const std::string bad = "'; DROP TABLE x; --\n";
  for (const char* sql :
       {"SELECT {partition}", "SELECT '{partition}'", "SELECT $partition", "SELECT substr('x{partition}', 2)",
        "SELECT substr($a$x{partition}$a$, 2)", "SELECT substr(E'x{partition}', 2)"})
    EXPECT_EQ(value(last(model(sql), bad)), bad) << sql;
}

TEST_F(Rendering, ArgumentsAreTypedLiterals) {
  EXPECT_EQ(last(model("SELECT $cutoff AS x"), "", {{"cutoff", "2024-01-01"}}),
            "SELECT CAST('2024-01-01' AS DATE) AS x");
  EXPECT_EQ(last(model("SELECT $cutoff AS x")), "SELECT CAST(NULL AS DATE) AS x");
}

TEST_F(Rendering, TheTimeRangeStandsBesideThePartitionTestWhereItIsTheSame) {
  EXPECT_EQ(last(model("FROM t WHERE wm_partition(t.ts) = {partition} AND x")),
            "FROM \"r\".\"main\".\"t\" AS \"t\" WHERE (wm_partition(t.ts) = '2026-07-05' AND t.ts >= CAST('2026-07-05 "
            "00:00:00' AS TIMESTAMP) AND t.ts < CAST('2026-07-06 00:00:00' AS TIMESTAMP)) AND x");
  for (const char* sql :
       {"FROM t WHERE wm_partition(ts + 1) = {partition}", "FROM t WHERE wm_partition(ts) = {partition} || 'x'",
        "FROM t WHERE f(1, wm_partition(ts) = {partition})",
        "FROM t WHERE x BETWEEN 1 AND wm_partition(ts) = {partition}"})
    EXPECT_EQ(last(model(sql)).find("TIMESTAMP"), std::string::npos) << sql;
}

TEST_F(Rendering, LinesThatWeirAnswersAreEmpty) {
  const Model made =
      model("ATTACH 'ducklake' AS dl; USE dl; INSTALL httpfs; LOAD httpfs; SET timezone = 'UTC'; SELECT 1 AS x");
  const auto text = [&made](std::size_t i) {
    return splice_statement(made, i, [](const Reference&) { return std::string(); }, "", {}).text();
  };
  for (const std::size_t i : {0U, 1U, 2U, 3U}) EXPECT_EQ(text(i), "");
  EXPECT_EQ(text(4), "SET timezone = 'UTC'");
}

TEST_F(Rendering, PlacesLeadBackToTheSource) {
  const std::string sql = "ATTACH 'ducklake' AS dl; SELECT oops FROM dl.t WHERE nope";
  const Model made = model(sql);
  const auto spliced =
      splice_statement(made, 1, [](const Reference&) { return std::string("\"reader\".\"main\".\"t\""); }, "", {});
  const auto at = static_cast<std::uint32_t>(spliced.text().find("nope"));
  EXPECT_EQ(spliced.source_of(at)->begin, sql.find("nope"));
  EXPECT_EQ(spliced.source_of(static_cast<std::uint32_t>(spliced.text().find("reader")))->begin, sql.find("dl.t"));
}

TEST_F(Rendering, MacrosRenderTheIdentity) {
  const auto make = [](calendar::PartitionKind kind, const std::string& format, const std::string& tz = "UTC",
                       bool own = false) {
    Model made;
    made.plane = Plane::Managed;
    made.partitioning = calendar::Partitioning{.kind = kind, .tz = tz, .format = format, .has_own_format = own};
    for (const duck::Sql& one : partition_macros(made))
      ASSERT_TRUE(connection_->execute(one).has_value()) << one.text();
  };
  make(calendar::PartitionKind::Daily, "%Y/%m/%d", "America/New_York", true);
  EXPECT_EQ(value("SELECT wm_partition(TIMESTAMP '2026-05-16 00:30:00')"), "2026/05/16");
  EXPECT_EQ(value("SELECT weir_partition(TIMESTAMPTZ '2026-05-16 00:30:00+00')"), "2026/05/15");
  for (const char* type : {"DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"})
    EXPECT_EQ(value("SELECT weir_partition(CAST('2026-05-16' AS " + std::string(type) + "))"), "2026/05/16") << type;
  EXPECT_EQ(value("SELECT weir_partition('2026-05-16')"), "error");
  make(calendar::PartitionKind::Quarterly, "%Y-Qn");
  EXPECT_EQ(value("SELECT wm_partition(DATE '2026-05-16')"), "2026-Q2");
  make(calendar::PartitionKind::Weekly, "%G-W%V");
  EXPECT_EQ(value("SELECT wm_partition(DATE '2027-01-01')"), "2026-W53");
  Model dynamic;
  dynamic.plane = Plane::Managed;
  dynamic.partitioning = calendar::Partitioning{.kind = calendar::PartitionKind::Dynamic};
  EXPECT_TRUE(partition_macros(dynamic).empty());
}

}  // namespace
}  // namespace weir
