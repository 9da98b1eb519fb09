#include "project/judge.h"

#include <gtest/gtest.h>

#include "judged.h"

namespace weir {
namespace {

Model model(const std::string& header, const std::string& path = "a") {
  return judged(header + "\nSELECT 1", path).model;
}

TEST(Judge, WithoutHeaderItIsVirtualAndFull) {
  const auto found = judged("SELECT 1", "silver/orders");
  EXPECT_FALSE(found.has_header);
  EXPECT_TRUE(found.diagnostics.empty());
  EXPECT_EQ(found.model.plane, Plane::Virtual);
  EXPECT_EQ(found.model.strategy, Strategy::Replace);
  EXPECT_EQ(found.model.target->uri(), "ducklake://main/silver.orders");
}

TEST(Judge, AnOrdinaryCommentIsNoHeader) {
  EXPECT_FALSE(judged("-- orders of a day\nSELECT 1").has_header);
  EXPECT_FALSE(judged("-- use this script to load orders\nSELECT 1").has_header);
  EXPECT_TRUE(judged("-- tag x\nSELECT 1").has_header);
  EXPECT_TRUE(judged("-- $day (date)\nSELECT 1").has_header);
  EXPECT_TRUE(judged("/* weir: {tags: [x]} */ SELECT 1").has_header);
}

TEST(Judge, TheRelationFollowsThePathOrTheName) {
  EXPECT_EQ(model("", "orders").target->uri(), "ducklake://main/main.orders");
  EXPECT_EQ(model("", "a/b/orders").target->uri(), "ducklake://main/a__b.orders");
  EXPECT_EQ(model("/* weir: {name: gold.sales} */", "a/b").target->uri(), "ducklake://main/gold.sales");
  EXPECT_EQ(model("/* weir: {name: sales} */", "a/b").target->uri(), "ducklake://main/main.sales");
  const auto ephemeral = model("/* weir: {materialise: ephemeral} */", "a/b");
  EXPECT_FALSE(ephemeral.target);
  EXPECT_EQ(ephemeral.relation.uri(), "ducklake://main/a.b");
}

TEST(Judge, TheStrategyFollowsTheOptions) {
  EXPECT_EQ(model("-- materialize ducklake://main/t").strategy, Strategy::Replace);
  EXPECT_EQ(model("-- materialize ducklake://main/t key=id").strategy, Strategy::Merge);
  EXPECT_EQ(model("-- materialize ducklake://main/t append").strategy, Strategy::Append);
  EXPECT_EQ(model("-- materialize ducklake://main/t append key=id").strategy, Strategy::Append);
  EXPECT_EQ(model("-- materialize ducklake://main/t key=id append history").strategy, Strategy::History);
}

TEST(Judge, HistoryAndScd2AreOne) {
  for (const auto* line :
       {"-- materialize ducklake://main/t key=id history", "-- materialize scd2 ducklake://main/t key=id"}) {
    const auto found = model(line);
    EXPECT_EQ(found.strategy, Strategy::History);
    EXPECT_TRUE(found.track.empty());
    EXPECT_EQ(found.deletes, Deletes::Leave);
    EXPECT_EQ(found.duplicates, Duplicates::Fail);
  }
  EXPECT_EQ(model("-- materialize ducklake://main/t key=id history track=name,tier").track, (Names{"name", "tier"}));
  EXPECT_EQ(model("-- materialize ducklake://main/t key=id history track=name, tier").track, Names{"name"});
  EXPECT_EQ(model("-- materialize ducklake://main/t key=id history track=\"name, tier\"").track,
            (Names{"name", "tier"}));
  EXPECT_EQ(model("-- materialize ducklake://main/t key=id history deletes=close").deletes, Deletes::Close);
  EXPECT_EQ(model("-- materialize ducklake://main/t key=id history deletes=ignore").deletes, Deletes::Leave);
}

TEST(Judge, AHistoryMayTakeItsTimesFromTheSource) {
  const std::string line = "-- materialize ducklake://main/t key=id history ";
  EXPECT_EQ(model(line + "valid_from=\"updated at\"").valid_from, "updated at");
  EXPECT_EQ(model(line + "deletes=mark").deletes, Deletes::Mark);
  EXPECT_TRUE(model(line + "track=a untracked=refresh").refreshes_untracked);
  EXPECT_FALSE(model(line + "track=a untracked=ignore").refreshes_untracked);
  EXPECT_EQ(model(line + "validity=f,t,c").validity, (Names{"f", "t", "c"}));
  const auto block =
      model("/* weir: {strategy: scd, key: id, valid_from: at, track: [a], untracked: refresh, validity: [f, t]} */");
  EXPECT_EQ(block.valid_from, "at");
  EXPECT_TRUE(block.refreshes_untracked);
  EXPECT_EQ(block.validity, (Names{"f", "t"}));
}

TEST(Judge, OptionsOfAHistoryThatExcludeEachOther) {
  const auto code = [](const std::string& header) {
    const auto found = judged(header + "\nSELECT 1").diagnostics;
    return found.empty() ? std::string() : std::string(name_of(found.front().code));
  };
  const std::string line = "-- materialize ducklake://main/t key=id history ";
  EXPECT_EQ(code(line + "valid_from=at"), "");
  EXPECT_EQ(code(line + "valid_from=at,b"), "W0148");
  for (const char* options : {"valid_from=id", "valid_from=at deletes=close", "valid_from=at deletes=mark"})
    EXPECT_EQ(code(line + options), "W0176") << options;
  for (const char* options : {"validity=a,b", "validity=a,b,c,d", "validity=a,a,c"})
    EXPECT_NE(code(line + options), "") << options;
  for (const char* options :
       {"validity=id,b,c", "valid_from=valid_from", "track=valid_to", "validity=a,b,_wm_partition",
        "valid_from=at validity=a,b,reported_at", "deletes=mark validity=is_deleted,b,c"})
    EXPECT_EQ(code(line + options), "W0177") << options;
  for (const char* options : {"untracked=refresh"}) EXPECT_EQ(code(line + options), "W0110") << options;
  for (const char* option : {"valid_from=at", "untracked=refresh", "validity=a,b,c", "deletes=mark"})
    EXPECT_EQ(code(std::string("-- materialize ducklake://main/t key=id ") + option), "W0110") << option;
  const std::string table = "/* weir: {materialise: table, target: crm.people, strategy: scd, key: id, ";
  for (const char* options : {"valid_from: at", "deletes: mark"})
    EXPECT_NE(code(table + options + "} */"), "") << options;
  EXPECT_NE(code(table + "track: [a], untracked: refresh, validity: [f, t]} */"), "W0176");
  EXPECT_EQ(code("/* weir: {strategy: scd, key: id, validity: [a, b, c]} */"), "W0177");
}

TEST(Judge, AManualTargetIsOnlyRecorded) {
  const auto found = judged("-- materialize manual ducklake://main/t history\n-- partitioned daily\nSELECT 1");
  EXPECT_EQ(found.model.plane, Plane::Manual);
  EXPECT_FALSE(found.model.is_history());
  EXPECT_TRUE(found.model.partitioning);
  EXPECT_FALSE(has_errors(found.diagnostics));
}

TEST(Judge, KeysAreListsOfBareOrQuotedNames) {
  EXPECT_EQ(model("-- materialize ducklake://main/t key=\"order id\",b").key, (Names{"order id", "b"}));
  EXPECT_EQ(model("-- materialize ducklake://main/t key=a,b append=").key, (Names{"a", "b"}));
  EXPECT_EQ(model("-- materialize ducklake://main/t key=\"a \"\"b\"\"\"").key, Names{"a \"b\""});
  EXPECT_EQ(model("-- materialize ducklake://main/t key=\"a,b\"").key, Names{"a,b"});
  EXPECT_EQ(model("-- materialize ducklake://main/t key='order id'").key, Names{"order id"});
  EXPECT_EQ(model("/* weir: {strategy: merge, key: \"a, b\"} */").key, (Names{"a", "b"}));
  EXPECT_EQ(model("/* weir: {strategy: merge, key: [order id, b]} */").key, (Names{"order id", "b"}));
}

TEST(Judge, DuplicatesHaveTheDefaultOfTheirStrategy) {
  EXPECT_EQ(model("-- materialize ducklake://main/t key=id").duplicates, Duplicates::Keep);
  EXPECT_EQ(model("/* weir: {strategy: full_merge, key: id} */").duplicates, Duplicates::Fail);
  EXPECT_EQ(model("/* weir: {strategy: hash_merge, key: id} */").duplicates, Duplicates::Fail);
  const auto last = judged("-- materialize ducklake://main/t key=id duplicates=last order=at,\"seq no\"\nSELECT 1");
  EXPECT_EQ(last.model.duplicates, Duplicates::Last);
  EXPECT_EQ(last.model.order, (Names{"at", "seq no"}));
  EXPECT_TRUE(last.diagnostics.empty());
}

TEST(Judge, AnUnknownModeKeepsTheDefault) {
  EXPECT_EQ(model("-- materialize ducklake://main/t key=id on_schema_change=sync").on_schema_change,
            SchemaChange::Sync);
  EXPECT_EQ(model("-- materialize ducklake://main/t key=id on_schema_change=fial").on_schema_change,
            SchemaChange::Warn);
  EXPECT_EQ(model("-- materialize ducklake://main/t audit=after").audit, AuditWhen::After);
  EXPECT_EQ(model("-- materialize ducklake://main/t").audit, std::nullopt);
}

TEST(Judge, SynonymsOfTheBlockHeaderMeanTheSame) {
  EXPECT_EQ(model("/* weir: {materialize: view} */").plane, Plane::View);
  EXPECT_EQ(model("/* interlace:\n  materialise: view\n*/").plane, Plane::View);
  for (const auto* word : {"scd", "history"})
    EXPECT_EQ(model("/* weir: {strategy: " + std::string(word) + ", key: id} */").strategy, Strategy::History);
  for (const auto* word : {"incremental", "incremental_by_time"}) {
    const auto found = judged("/* weir: {strategy: " + std::string(word) + ", time_column: at} */\nSELECT 1");
    EXPECT_EQ(found.model.strategy, Strategy::IncrementalByTime);
    EXPECT_EQ(found.model.interval, "1d");
    EXPECT_TRUE(found.diagnostics.empty());
  }
  for (const auto* word : {"full", "replace"})
    EXPECT_EQ(model("/* weir: {strategy: " + std::string(word) + "} */").strategy, Strategy::Replace);
}

TEST(Judge, TheBlockHeaderHasEveryPlane) {
  const auto table = judged(
      "/* interlace:\n  materialise: table\n  target: crm.main.scores\n  strategy: merge\n  key: id\n*/\nSELECT 1");
  EXPECT_TRUE(table.diagnostics.empty());
  EXPECT_EQ(table.model.target->uri(), "datatable://crm/main.scores");
  EXPECT_EQ(table.model.environments, Names{"prod"});
  const auto file =
      judged("/* interlace: {materialise: file, path: a/b.csv, format: csv, environments: [dev, prod]} */\nSELECT 1");
  EXPECT_TRUE(file.diagnostics.empty());
  EXPECT_EQ(file.model.file_path, "a/b.csv");
  EXPECT_EQ(file.model.environments, (Names{"dev", "prod"}));
  const auto managed = judged(
      "/* weir:\n  materialise: managed\n  target: ducklake://w/t\n  partitioned: {kind: weekly, tz: "
      "Europe/Paris}\n*/\nSELECT 1");
  EXPECT_TRUE(managed.diagnostics.empty());
  EXPECT_EQ(managed.model.target->uri(), "ducklake://w/main.t");
  EXPECT_EQ(managed.model.partitioning->tz, "Europe/Paris");
}

TEST(Judge, ChecksBecomeTheTestsThatLinesDeclare) {
  const auto found = judged(
      "-- data_test unique id\n/* weir:\n  checks:\n    - not_null: [a, b]\n    - unique: id2\n      severity: warn\n"
      "    - {type: accepted_values, column: s, values: [x, 1]}\n    - range: {column: amount, min: 0, max: 10}\n      "
      "max: 1%\n"
      "    - expression: a > 0\n    - relationships: {column: sku, to: silver.products, field: sku}\n"
      "    - sql: \"select * from {table}\"\n      name: mine\n    - row_count: {min: 1}\n    - freshness: {column: "
      "at, max_age: 1d}\n*/\nSELECT 1");
  EXPECT_TRUE(found.diagnostics.empty());
  const auto& tests = found.model.tests;
  ASSERT_EQ(tests.size(), 10u);
  EXPECT_EQ(tests[0].name, "unique(id)");
  EXPECT_EQ(tests[1].name, "not_null(a, b)");
  EXPECT_EQ(tests[2].severity, TestSeverity::Warn);
  EXPECT_EQ(tests[3].values, (Names{"x", "1"}));
  EXPECT_EQ(tests[4].maximum, "10");
  EXPECT_EQ(tests[4].tolerated_share, 0.01);
  EXPECT_EQ(tests[5].name, "expression(a > 0)");
  EXPECT_EQ(tests[6].reference->uri(), "ducklake://main/silver.products");
  EXPECT_EQ(tests[7].name, "mine");
  EXPECT_EQ(tests[7].text, "select * from {table}");
}

TEST(Judge, BothNotationsAddUp) {
  const auto found = judged(
      "-- materialize ducklake://main/t\n-- tag heavy\n-- measure n = count(*)\n/* weir:\n  tags: [nightly]\n  owner: "
      "ann\n  columns: {id: BIGINT, name: null}\n"
      "  columns_exact: true\n  measures: {revenue: {expression: sum(a), where: not b, unit: EUR}}\n  dimensions: "
      "{day: \"date_trunc('day', at)\"}\n"
      "  schedule: {cron: \"0 6 * * 1-5\", tz: Europe/Paris}\n  retry: {count: 2, delay: 5s}\n  depends_on: "
      "other\n*/\n-- freshness 1h\nSELECT 1");
  EXPECT_TRUE(found.diagnostics.empty());
  const auto& made = found.model;
  EXPECT_EQ(made.tags, (Names{"heavy", "nightly"}));
  EXPECT_EQ(made.owner, "ann");
  ASSERT_EQ(made.contract.size(), 2u);
  EXPECT_EQ(made.contract[0].type, "BIGINT");
  EXPECT_EQ(made.contract[1].type, std::nullopt);
  EXPECT_TRUE(made.contract_exact);
  ASSERT_EQ(made.metrics.size(), 3u);
  EXPECT_EQ(made.metrics[1].filter, "not b");
  EXPECT_EQ(made.metrics[1].unit, "EUR");
  EXPECT_EQ(made.schedule_tz, "Europe/Paris");
  EXPECT_EQ(made.retry_count, 2);
  EXPECT_EQ(made.depends_on, Names{"other"});
  EXPECT_EQ(made.freshness, "1h");
}

TEST(Judge, MetricsOfLinesNeedATarget) {
  const auto found = judged("-- measure n = count(*)\nSELECT 1");
  EXPECT_TRUE(found.model.metrics.empty());
  EXPECT_EQ(codes(found), Names{"W0163"});
  EXPECT_EQ(found.diagnostics[0].severity, Severity::Hint);
  EXPECT_EQ(judged("/* weir: {measures: {n: count(*)}} */ SELECT 1").model.metrics.size(), 1u);
}

TEST(Judge, PlacesInYamlAreBytesOfTheFile) {
  const std::string text = "-- é\r\n/* weir:\r\n  owner: 'é'\r\n  stategy: full\r\n*/\r\nSELECT 1";
  const auto found = judged(text);
  ASSERT_EQ(found.diagnostics.size(), 1u);
  const auto span = found.diagnostics[0].span;
  EXPECT_EQ(text.substr(span.begin, span.size()), "stategy");
}

TEST(Judge, TheBlankedTextHasTheLengthOfTheFile) {
  const auto found = judged("// a\n# b\n/* weir: {tags: [x]} */ SELECT 1 // 1");
  EXPECT_EQ(found.blanked_sql, "    \n   \n" + std::string(24, ' ') + "SELECT 1 // 1");
}

TEST(Judge, StrictPromotesOnlyWhatIsNotUnderstood) {
  auto config = test_config();
  config.strict = true;
  auto source = std::make_shared<Source>();
  source->path = "models/a.sql";
  source->text =
      "-- materialize ducklake://main/t on_schema_change=fial append key=id key=b\n-- tag a\n-- tag b\nSELECT 1";
  const auto found = judge_file(source, "a", config);
  for (const auto& one : found.diagnostics)
    EXPECT_EQ(one.severity, one.code == Code::W0107 ? Severity::Error : Severity::Warning) << name_of(one.code);
  EXPECT_EQ(codes(found), (Names{"W0107", "W0109", "W0110", "W0118"}));
}

}  // namespace
}  // namespace weir
