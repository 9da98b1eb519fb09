#include <chrono>
#include <thread>

#include "slice.h"

namespace weir::build {
namespace {

using Compute = Slice;

TEST_F(Compute, SmallResultIsATableThatOthersSee) {
  const auto stage = compute_now("SELECT 1 AS id, 'x' AS v UNION ALL SELECT 2, NULL");
  ASSERT_TRUE(stage.has_value());
  EXPECT_TRUE(stage->files.empty());
  EXPECT_EQ(one(duck::Sql("SELECT string_agg(id || coalesce(v, '-'), ' ' ORDER BY id) FROM {}", stage->relation)),
            "1x 2-");
  EXPECT_EQ(stage->content.rows, 2);
  EXPECT_EQ(stage->content.columns.at("v").nulls, 1);
  EXPECT_FALSE(stage->content.sum_of_hashes.empty());
  discard(*clean_, *stage, false);
  EXPECT_NE(one(duck::Sql("SELECT count(*) FROM {}", stage->relation)), "2");
}

TEST_F(Compute, PartitionColumnComesLast) {
  model.partitioning.emplace();
  const auto stage = compute_now("SELECT 1 AS id", "a'b");
  ASSERT_TRUE(stage.has_value());
  EXPECT_EQ(one(duck::Sql("SELECT _wm_partition FROM {} WHERE id = 1", stage->relation)), "a'b");
  EXPECT_EQ(stage->columns.size(), 1U);
}

TEST_F(Compute, PartitionValuesThatALakeWouldLoseAreRefused) {
  model.partitioning.emplace();
  EXPECT_EQ(codes_of("SELECT 1 AS id", "__HIVE_DEFAULT_PARTITION__"), "W4106");
  EXPECT_EQ(codes_of("SELECT 1 AS id", ""), "W4106");
  EXPECT_EQ(codes_of("SELECT 1 AS id", std::string(81, '/')), "W4106");
  EXPECT_EQ(codes_of("SELECT 1 AS id", std::string(80, '/')), "");
}

TEST_F(Compute, SetupRunsOnceAndFirst) {
  const std::string text = "CREATE TEMP TABLE helper AS SELECT 42 AS answer";
  setup.push_back(parse::Spliced::make(text, {0, static_cast<std::uint32_t>(text.size())}, {}));
  const auto stage = compute_now("FROM helper");
  ASSERT_TRUE(stage.has_value());
  EXPECT_EQ(one(duck::Sql("FROM {}", stage->relation)), "42");
}

TEST_F(Compute, TheQueryRunsOnce) {
  run("CREATE SEQUENCE _weir_stage.main.calls");
  target_of({{.name = "n", .type = "INTEGER"}, {.name = "v", .type = "VARCHAR"}});
  const auto stage = compute_now("SELECT 1 AS n, nextval('_weir_stage.main.calls') AS v");
  ASSERT_TRUE(stage.has_value());
  EXPECT_EQ(one(duck::Sql("SELECT v FROM {}", stage->relation)), "1");
  EXPECT_EQ(one("SELECT nextval('_weir_stage.main.calls')"), "2");
}

TEST_F(Compute, EngineErrorLandsOnTheUsersText) {
  ASSERT_EQ(codes_of("SELECT 1 AS a, nosuch AS b"), "W4001");
  EXPECT_EQ(last[0].path, "models/m.sql");
  EXPECT_EQ(model.source->text.substr(last[0].span.begin, 6), "nosuch");
}

TEST_F(Compute, ErrorsWithoutAPlaceNameTheCommandThatShowsTheStatement) {
  model_of("SELECT 1");
  const auto found =
      explain({duck::FailureType::Binder, "no", std::nullopt}, model, parse::Spliced::make("x", {0, 1}, {}));
  EXPECT_EQ(found.code, Code::W4001);
  EXPECT_NE(found.hint.find("weir show --sql"), std::string::npos);
}

TEST_F(Compute, OutOfMemoryNamesTheSetting) {
  run("SET memory_limit = '20MB'");
  run("SET temp_directory = ''");
  ASSERT_EQ(codes_of("SELECT a.range AS a, list(b.range) AS b FROM range(3000) AS a, range(3000) AS b GROUP BY 1"),
            "W4002");
  EXPECT_NE(last[0].hint.find("memory:"), std::string::npos);
}

TEST_F(Compute, AStoppedQueryIsNoFaultOfTheQuery) {
  model_of("SELECT count(*) AS n FROM range(100000) AS a, range(10000000) AS b WHERE a.range + b.range = -1");
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    step_->interrupt();
  });
  const auto stage = compute(*step_, request_of());
  stopper.join();
  ASSERT_FALSE(stage.has_value());
  EXPECT_EQ(stage.error()[0].code, Code::W7010);
}

TEST_F(Compute, AMissingFileIsAFaultOfReading) { EXPECT_EQ(codes_of("FROM read_csv('/nowhere/x.csv')"), "W9010"); }

TEST_F(Compute, TypesThatALakeCannotHoldAreRefusedBeforeAnythingRuns) {
  EXPECT_EQ(codes_of("SELECT '12:00'::TIME_NS AS t"), "W4101");
  EXPECT_EQ(codes_of("SELECT 'a'::ENUM('a', 'b') AS e"), "W4101");
  EXPECT_EQ(codes_of("SELECT union_value(k := 1) AS u"), "W4101");
  EXPECT_EQ(codes_of("SELECT [1, 2]::INTEGER[2] AS a"), "W4101");
  EXPECT_EQ(codes_of("SELECT '101'::BIT AS b"), "W4101");
  EXPECT_EQ(codes_of("SELECT 1::BIGNUM AS b"), "W4101");
  EXPECT_EQ(codes_of("SELECT NULL AS n"), "W4101");
  EXPECT_EQ(codes_of("SELECT [NULL] AS n"), "W4101");
  EXPECT_EQ(codes_of("SELECT {'a': ['x'::ENUM('x')]} AS s"), "W4101");
  EXPECT_NE(last[0].hint.find("AS STRUCT(\"a\" VARCHAR[])"), std::string::npos) << last[0].hint;
  EXPECT_EQ(codes_of("SELECT NULL::INTEGER AS n, '{}'::JSON AS j, uuid() AS u, MAP {'a': 1} AS m"), "");
}

TEST_F(Compute, CollationOfAColumnIsRefusedAndOfAComparisonIsNot) {
  EXPECT_EQ(codes_of("SELECT x COLLATE NOCASE AS c FROM (SELECT range::VARCHAR AS x FROM range(3))"), "W4101");
  EXPECT_EQ(codes_of("SELECT x AS c FROM (SELECT range::VARCHAR AS x FROM range(3)) ORDER BY x COLLATE NOCASE"), "");
  EXPECT_EQ(codes_of("SELECT decode(encode(x COLLATE NOCASE)) AS c FROM (SELECT range::VARCHAR AS x FROM range(3))"),
            "");
}

TEST_F(Compute, HugeIntegersOfANewTableBecomeDecimalsAndItIsSaid) {
  const auto stage = compute_now("SELECT sum(range) AS s, [sum(range)] AS l FROM range(10)");
  ASSERT_TRUE(stage.has_value());
  EXPECT_EQ(stage->columns[0].type, "DECIMAL(38,0)");
  EXPECT_EQ(stage->columns[1].type, "DECIMAL(38,0)[]");
  EXPECT_TRUE(has_note(*stage, Code::W4103));
  EXPECT_EQ(one(duck::Sql("SELECT typeof(l) || s FROM {}", stage->relation)), "DECIMAL(38,0)[]45");
  EXPECT_EQ(codes_of("SELECT 170141183460469231731687303715884105727::HUGEINT AS s"), "W4202");
}

TEST_F(Compute, HugeIntegersOfAnExistingTableTakeItsType) {
  target_of({{.name = "s", .type = "BIGINT"}});
  model.on_schema_change = SchemaChange::Fail;
  const auto stage = compute_now("SELECT sum(range) AS s FROM range(10)");
  ASSERT_TRUE(stage.has_value());
  EXPECT_EQ(stage->columns[0].type, "BIGINT");
  EXPECT_FALSE(stage->drift.any());
  EXPECT_EQ(codes_of("SELECT 9223372036854775808::HUGEINT AS s"), "W4202");
}

TEST_F(Compute, IntervalsThatALakeWouldChangeAreRefused) {
  EXPECT_EQ(codes_of("SELECT INTERVAL '3.123456 seconds' AS i"), "W4107");
  EXPECT_EQ(codes_of("SELECT INTERVAL '-1 day' AS i"), "W4107");
  EXPECT_EQ(codes_of("SELECT INTERVAL '1 month -1 day' AS i"), "W4107");
  EXPECT_EQ(codes_of("SELECT INTERVAL '-3.123 seconds' AS i"), "W4107");
  EXPECT_EQ(codes_of("SELECT INTERVAL '1 month 2 days 3.123 seconds' AS i UNION ALL SELECT NULL"), "");
  const auto stage = compute_now("SELECT [INTERVAL '1 day'] AS i");
  ASSERT_TRUE(stage.has_value());
  EXPECT_TRUE(has_note(*stage, Code::W4108));
}

TEST_F(Compute, ALakeReallyCutsIntervalsAndRefusesNegativeOnes) {
  attach_lake();
  run("CREATE TABLE lake.i (i INTERVAL)");
  run("INSERT INTO lake.i VALUES (INTERVAL '3.123456 seconds')");
  EXPECT_EQ(one("SELECT i::VARCHAR FROM lake.i"), "00:00:03.123");
  EXPECT_FALSE(clean_->execute("INSERT INTO lake.i VALUES (INTERVAL '-1 day')").has_value());
}

TEST_F(Compute, NamesMustDifferWithoutCase) { EXPECT_EQ(codes_of("SELECT 1 AS a, 2 AS A"), "W4104"); }

TEST_F(Compute, UnnamedColumnsAreWarnedOfAndOddNamesAreNot) {
  const auto unnamed = compute_now("SELECT 1 + 1, count(*) AS n");
  ASSERT_TRUE(unnamed.has_value());
  EXPECT_TRUE(has_note(*unnamed, Code::W4102));
  const auto odd = compute_now("SELECT 2 AS \"total (EUR)\"");
  ASSERT_TRUE(odd.has_value());
  EXPECT_FALSE(has_note(*odd, Code::W4102));
}

TEST_F(Compute, PartitionColumnMayNotBeProjectedWhereWeirAddsIt) {
  model.partitioning.emplace();
  ASSERT_EQ(codes_of("SELECT 1 AS id, 'x' AS _WM_PARTITION", "p"), "W4105");
  EXPECT_NE(last[0].hint.find("EXCLUDE (_wm_partition)"), std::string::npos);
  model.partitioning.reset();
  EXPECT_EQ(codes_of("SELECT 1 AS id, 'x' AS _wm_partition"), "");
}

TEST_F(Compute, HistoryColumnsMayNotBeProjected) {
  model.strategy = Strategy::History;
  EXPECT_EQ(codes_of("SELECT 1 AS id, true AS is_current, now()::TIMESTAMP AS valid_from"), "W4105 W4105");
  model.strategy = Strategy::Merge;
  EXPECT_EQ(codes_of("SELECT 1 AS id, true AS is_current"), "");
}

TEST_F(Compute, ValuesAreBroughtToTheTargetsTypesWhereTheySurvive) {
  target_of({{.name = "Id", .type = "INTEGER"},
             {.name = "amount", .type = "DECIMAL(10,2)"},
             {.name = "t", .type = "VARCHAR"}});
  const auto stage = compute_now("SELECT 7::BIGINT::VARCHAR AS id, 1.5::DOUBLE AS amount, 3 AS t");
  ASSERT_TRUE(stage.has_value()) << stage.error()[0].message;
  EXPECT_EQ(stage->columns[0].name, "Id");
  EXPECT_EQ(stage->columns[0].type, "INTEGER");
  EXPECT_EQ(stage->columns[1].type, "DECIMAL(10,2)");
  EXPECT_EQ(one(duck::Sql("SELECT count(COLUMNS(*))::VARCHAR FROM {}", stage->relation)), "1");
  EXPECT_EQ(one(duck::Sql("SELECT \"Id\" || '|' || amount || '|' || t FROM {}", stage->relation)), "7|1.50|3");
}

TEST_F(Compute, ValuesThatDoNotSurviveFailWithASample) {
  target_of({{.name = "amount", .type = "DECIMAL(10,2)"}, {.name = "n", .type = "INTEGER"}});
  ASSERT_EQ(codes_of("SELECT v AS amount, 1 AS n FROM (VALUES (1.239::DOUBLE), (2.5), (NULL)) AS x(v)"), "W4202");
  EXPECT_NE(last[0].message.find("1.239"), std::string::npos) << last[0].message;
  target_of({{.name = "amount", .type = "DECIMAL(10,2)"}, {.name = "n", .type = "BIGINT"}});
  EXPECT_EQ(codes_of("SELECT 1::DECIMAL(10,2) AS amount, 1.5::DOUBLE AS n"), "W4202");
  EXPECT_EQ(codes_of("SELECT 1::DECIMAL(10,2) AS amount, 'abc' AS n"), "W4202");
}

TEST_F(Compute, PrivateValuesStayOutOfMessages) {
  target_of({{.name = "n", .type = "INTEGER"}});
  model_of("SELECT 'secret' AS n");
  StageRequest request = request_of();
  request.private_columns = {"N"};
  const auto stage = compute(*step_, request);
  ASSERT_FALSE(stage.has_value());
  EXPECT_EQ(stage.error()[0].message.find("secret"), std::string::npos);
}

TEST_F(Compute, LosslessWideningKeepsTheQuerysType) {
  target_of({{.name = "n", .type = "INTEGER"}});
  const auto stage = compute_now("SELECT 5000000000::BIGINT AS n");
  ASSERT_TRUE(stage.has_value());
  EXPECT_EQ(stage->columns[0].type, "BIGINT");
  ASSERT_EQ(stage->drift.retyped.size(), 1U);
  EXPECT_TRUE(stage->drift.retyped[0].widening);
}

TEST_F(Compute, WholeReplaceFollowsTheQueryAndSaysSo) {
  target_of({{.name = "n", .type = "INTEGER"}});
  follows_query = true;
  model.on_schema_change = SchemaChange::Fail;
  const auto stage = compute_now("SELECT 'abc' AS n");
  ASSERT_TRUE(stage.has_value());
  EXPECT_EQ(stage->columns[0].type, "VARCHAR");
  EXPECT_TRUE(has_note(*stage, Code::W4204));
}

TEST_F(Compute, RequiredColumnsRefuseNull) {
  target_of({{.name = "id", .type = "INTEGER", .nullable = false}, {.name = "v", .type = "VARCHAR"}});
  ASSERT_EQ(codes_of("SELECT NULL::INTEGER AS id, 'row x' AS v UNION ALL SELECT 1, 'y'"), "W4203");
  EXPECT_NE(last[0].message.find("1 of 2"), std::string::npos);
  EXPECT_NE(last[0].message.find("row x"), std::string::npos) << last[0].message;
  EXPECT_EQ(codes_of("SELECT 'x' AS v"), "W4203");
  EXPECT_EQ(codes_of("SELECT 1 AS id"), "");
}

TEST_F(Compute, DriftUnderFailListsEverythingAndComputesNothing) {
  run("CREATE SEQUENCE _weir_stage.main.calls");
  target_of({{.name = "a", .type = "INTEGER"}, {.name = "b", .type = "DATE"}});
  model.on_schema_change = SchemaChange::Fail;
  ASSERT_EQ(codes_of("SELECT nextval('_weir_stage.main.calls') AS a, now()::DATE AS c"), "W4201");
  for (const char* part :
       {"added c DATE", "removed b DATE", "retyped a from INTEGER to BIGINT", "b looks renamed to c"})
    EXPECT_NE(last[0].message.find(part), std::string::npos) << last[0].message;
  EXPECT_EQ(one("SELECT nextval('_weir_stage.main.calls')"), "1");
}

TEST_F(Compute, DriftIsAWarningAHintOrNothing) {
  target_of({{.name = "a", .type = "INTEGER"}});
  const auto severity = [&](SchemaChange mode) {
    model.on_schema_change = mode;
    const auto stage = compute_now("SELECT 1 AS a, 2 AS b");
    EXPECT_TRUE(stage.has_value() && has_note(*stage, Code::W4204));
    return stage->notes[0].severity;
  };
  EXPECT_EQ(severity(SchemaChange::Warn), Severity::Warning);
  EXPECT_EQ(severity(SchemaChange::Sync), Severity::Warning);
  EXPECT_EQ(severity(SchemaChange::Ignore), Severity::Hint);
  model.on_schema_change = SchemaChange::Fail;
  EXPECT_EQ(codes_of("SELECT 1 AS A"), "");
}

TEST_F(Compute, ColumnsThatTheStrategyKeepsAreNoDrift) {
  target_of({{.name = "a", .type = "INTEGER"}, {.name = "_wm_partition", .type = "VARCHAR"}});
  model.partitioning.emplace();
  const auto partitioned = compute_now("SELECT 1 AS a", "p");
  ASSERT_TRUE(partitioned.has_value());
  EXPECT_FALSE(partitioned->drift.any());
  model.partitioning.reset();
  model.strategy = Strategy::History;
  target_of({{.name = "a", .type = "INTEGER"},
             {.name = "valid_from", .type = "TIMESTAMP"},
             {.name = "valid_to", .type = "TIMESTAMP"},
             {.name = "is_current", .type = "BOOLEAN"}});
  const auto history = compute_now("SELECT 1 AS a");
  ASSERT_TRUE(history.has_value());
  EXPECT_FALSE(history->drift.any());
}

TEST_F(Compute, PivotWithoutInListIsComputed) {
  const auto stage = compute_now("PIVOT (SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2, 'y') ON b USING sum(a)");
  ASSERT_TRUE(stage.has_value()) << stage.error()[0].message;
  EXPECT_EQ(one(duck::Sql("SELECT x || ' ' || y FROM {}", stage->relation)), "1 2");
}

TEST_F(Compute, MacrosOfTheUserDoNotShadowOurProbes) {
  const std::string text = "CREATE TEMP MACRO count(x) AS 99";
  setup.push_back(parse::Spliced::make(text, {0, static_cast<std::uint32_t>(text.size())}, {}));
  const auto stage = compute_now("SELECT NULL::INTEGER AS a");
  ASSERT_TRUE(stage.has_value());
  EXPECT_EQ(stage->content.columns.at("a").nulls, 1);
}

TEST_F(Compute, TrailingCommentIsHarmless) { EXPECT_EQ(codes_of("SELECT 1 AS a -- the end"), ""); }

}  // namespace
}  // namespace weir::build
