#include "project/header_lines.h"

#include <gtest/gtest.h>

#include "judged.h"

namespace weir {
namespace {

Model model(const std::string& header) { return judged(header + "\nSELECT 1").model; }

constexpr const char* kTarget = "-- materialize ducklake://main/t\n";

Model tested(const std::string& lines) { return model(kTarget + lines); }

TEST(HeaderLines, PipelineIsAFlagAlone) {
  EXPECT_TRUE(model("-- pipeline").is_pipeline);
  EXPECT_TRUE(model("-- pipeline   ").is_pipeline);
  for (const auto* line : {"-- pipeline for billing", "-- pipelines", "-- pipeline_v2", "-- Pipeline", "pipeline"})
    EXPECT_FALSE(model(line).is_pipeline) << line;
}

TEST(HeaderLines, TheThreeNotationsMixWithShebangAndBlankLines) {
  const auto found = model("#!/bin/weir\n\n# tag heavy\n// pipeline\n\n  --   retry 2");
  EXPECT_EQ(found.tags, Names{"heavy"});
  EXPECT_TRUE(found.is_pipeline);
  EXPECT_EQ(found.retry_count, 2);
}

TEST(HeaderLines, NothingCountsBehindTheFirstOtherLine) {
  const auto found = judged("SELECT 1 -- pipeline\n-- tag light\n").model;
  EXPECT_FALSE(found.is_pipeline);
  EXPECT_TRUE(found.tags.empty());
  EXPECT_TRUE(judged("SELECT 'on s3://x'\n-- on s3:///x\n").model.triggers.empty());
}

TEST(HeaderLines, OneAssetTriggersOnce) {
  const auto found = model("-- on ducklake://main/b\n// on ducklake://main/a\n# on ducklake://MAIN/main.B");
  ASSERT_EQ(found.triggers.size(), 2u);
  EXPECT_EQ(found.triggers[0].asset->name, "b");
  EXPECT_EQ(found.triggers[1].asset->name, "a");
}

TEST(HeaderLines, ANativeKindStandsAlone) {
  EXPECT_EQ(model("-- on kafka").triggers.at(0).native_kind, "kafka");
  for (const auto* line : {"-- on kafkalike", "-- on kafka topic", "-- on webhook f/x", "-- on schedule \"0 0 * * *\"",
                           "-- schedule \"0 0 * * *\"", "-- on ducklake"})
    EXPECT_TRUE(model(line).triggers.empty()) << line;
  const auto marked = model("-- on mqtt debounce=30s").triggers.at(0);
  EXPECT_EQ(marked.native_kind, "mqtt");
  EXPECT_EQ(marked.debounce, "");
}

TEST(HeaderLines, AnEdgeHasADebounceOfItsOwn) {
  const auto found = model("-- debounce 30s\n-- on ducklake://main/a debounce=60s\n-- on ducklake://main/b");
  EXPECT_EQ(found.debounce, "30s");
  EXPECT_EQ(found.triggers.at(0).debounce, "60s");
  EXPECT_EQ(found.triggers.at(1).debounce, "");
  EXPECT_EQ(model("-- on s3:///k/debounce=60s/f").triggers.at(0).asset->name, "k/debounce=60s/f");
}

TEST(HeaderLines, TheFirstValidValueCounts) {
  EXPECT_EQ(model("-- debounced x\n-- debounce\n-- debounce 1m\n-- debounce 5m").debounce, "1m");
  EXPECT_EQ(model("-- freshness 1h\n-- freshness 2h").freshness, "1h");
  EXPECT_EQ(model("-- tag heavy\n-- tag light").tags, Names{"heavy"});
  EXPECT_EQ(model("-- materialize manual ducklake://main/x\n-- materialize ducklake://main/y").plane, Plane::Manual);
  EXPECT_EQ(model("-- retry 0\n-- retry 2\n-- retry 3").retry_count, 2);
}

TEST(HeaderLines, OfTriggersTheLastCounts) {
  EXPECT_TRUE(model("-- trigger any\n-- trigger all").trigger_all);
  EXPECT_FALSE(model("-- trigger all\n-- trigger any").trigger_all);
  EXPECT_FALSE(model("-- trigger bogus\n-- triggerall").trigger_all);
  EXPECT_TRUE(model("-- trigger all\n-- trigger bogus").trigger_all);
}

TEST(HeaderLines, MuteTakesAllOrAnAsset) {
  const auto found = model("-- mute ducklake://main/a\n-- mute nothing");
  EXPECT_FALSE(found.mute_all);
  ASSERT_EQ(found.muted.size(), 1u);
  EXPECT_TRUE(model("-- mute all").mute_all);
}

TEST(HeaderLines, UseTakesOnePath) {
  std::vector<std::string> uses;
  for (const Use& use : model("-- use f/money\n-- use f/dates\n-- use f/money\n-- use money\n-- use f/a b").uses)
    uses.push_back(use.path);
  EXPECT_EQ(uses, (std::vector<std::string>{"f/money", "f/dates", "money"}));
}

TEST(HeaderLines, MacrosIsAFlagAlone) {
  EXPECT_TRUE(model("-- macros").is_macro_library);
  EXPECT_FALSE(model("-- macros are defined below").is_macro_library);
}

TEST(HeaderLines, APartitionHasKindAndOptions) {
  const auto found = *tested("-- partitioned daily tz=Europe/Paris format=%Y-%m-%d start=2024-01-01").partitioning;
  EXPECT_EQ(found.kind, calendar::PartitionKind::Daily);
  EXPECT_EQ(found.tz, "Europe/Paris");
  EXPECT_EQ(found.format, "%Y-%m-%d");
  EXPECT_TRUE(found.has_own_format);
  EXPECT_EQ(found.start, "2024-01-01");
  EXPECT_EQ(tested("-- partitioned weekly").partitioning->format, "%G-W%V");
  EXPECT_EQ(tested("-- partitioned yearly").partitioning->kind, calendar::PartitionKind::Yearly);
}

TEST(HeaderLines, WhatIsNoPartitionIsNone) {
  for (const auto* line :
       {"-- partitioned fortnightly", "-- partition daily", "-- partitioned dynamic", "-- partitioned dynamic key="})
    EXPECT_FALSE(tested(line).partitioning) << line;
  EXPECT_EQ(tested("-- partitioned x\n-- partitioned hourly\n-- partitioned daily").partitioning->kind,
            calendar::PartitionKind::Hourly);
  EXPECT_EQ(tested("-- partitioned dynamic key=\"customer id\"").partitioning->key_path, "customer id");
}

TEST(HeaderLines, RetryHasACountAndPerhapsADelay) {
  const auto both = model("-- retry 3 5s");
  EXPECT_EQ(both.retry_count, 3);
  EXPECT_EQ(both.retry_delay, "5s");
  EXPECT_EQ(model("-- retry 2").retry_delay, "");
  for (const auto* line : {"-- retry 0", "-- retry 3foo", "-- retry -1", "-- retry many", "-- retry"})
    EXPECT_EQ(model(line).retry_count, 0) << line;
}

TEST(HeaderLines, ATagIsOneWordOfAtMostFiftyBytes) {
  for (const auto& line :
       {std::string("-- tag this function later"), "-- tag " + std::string(51, 'x'), std::string("-- tag")})
    EXPECT_TRUE(model(line).tags.empty()) << line;
  EXPECT_EQ(model("-- tag " + std::string(50, 'x')).tags.size(), 1u);
}

TEST(HeaderLines, OptionsMayBeQuoted) {
  const std::string text = "a=\"hello world\" b=plain =x bad c='single quoted' d=\"open";
  const KeywordEntry keyword{"k", Repeats::Adds, "", "", {}, {}};
  const auto options = split_options(keyword, Piece(text, {0, static_cast<std::uint32_t>(text.size())}));
  ASSERT_EQ(options.size(), 6u);
  EXPECT_EQ(options[0].value.text, "hello world");
  EXPECT_EQ(options[1].value.text, "plain");
  EXPECT_FALSE(options[2].has_value);
  EXPECT_FALSE(options[3].has_value);
  EXPECT_EQ(options[4].value.text, "single quoted");
  EXPECT_EQ(options[5].value.text, "open");
  EXPECT_TRUE(options[5].is_unclosed);
  EXPECT_EQ(text.substr(options[4].value.span.begin, options[4].value.span.size()), "'single quoted'");
}

TEST(HeaderLines, TestsKeepTheirOrder) {
  const auto tests =
      tested(
          "-- data_test unique id\n-- data_test not_null id\n-- data_test accepted_values kind = \"a b\", 'c' ,d\n"
          "-- data_test relationships sku -> ducklake://w/main.dim.sku")
          .tests;
  ASSERT_EQ(tests.size(), 4u);
  EXPECT_EQ(tests[0].name, "unique(id)");
  EXPECT_EQ(tests[1].name, "not_null(id)");
  EXPECT_EQ(tests[2].values, (Names{"a b", "c", "d"}));
  EXPECT_EQ(tests[3].columns, Names{"sku"});
  EXPECT_EQ(tests[3].reference->uri(), "ducklake://w/main.dim");
  EXPECT_EQ(tests[3].reference_column, "sku");
  EXPECT_EQ(tests[3].name, "relationships(sku -> w/main.dim.sku)");
}

TEST(HeaderLines, MalformedTestsAreCounted) {
  const auto found =
      judged(std::string(kTarget) +
             "-- data_test unique id\n-- data_test not_null a\n-- data_test not_null b\n-- data_test uniqe id\n"
             "-- data_test unique\n-- data_test relationships a b\nSELECT 1\n-- data_test unique\n");
  EXPECT_EQ(found.model.tests.size(), 3u);
  EXPECT_EQ(codes(found), (Names{"W0114", "W0114", "W0114", "W0126"}));
}

TEST(HeaderLines, AnyOtherSingleWordIsACustomTest) {
  const auto tests = tested("-- data_test f/tests/x severity=warn\n-- test: f/x\n-- data_test: f/y").tests;
  ASSERT_EQ(tests.size(), 1u);
  EXPECT_EQ(tests[0].kind, TestKind::Custom);
  EXPECT_EQ(tests[0].text, "f/tests/x");
  EXPECT_EQ(tests[0].name, "custom(f/tests/x)");
  EXPECT_EQ(tests[0].severity, TestSeverity::Warn);
}

TEST(HeaderLines, ATestTakesOptions) {
  const auto tests = tested(
                         "-- data_test not_null email where=\"country = 'FR'\" severity=warn\n-- data_test unique a,b "
                         "max=1% scope=table name=pair\n"
                         "-- data_test accepted_values s = x, y max=3\n-- data_test range amount min=0 max=9\n-- "
                         "data_test unique \"order id\"\n"
                         "-- data_test row_count min=1\n-- data_test freshness at max_age=1d\n-- data_test expression "
                         "predicate=\"a > 0\"\n"
                         "-- data_test pattern c pattern=^x$")
                         .tests;
  ASSERT_EQ(tests.size(), 9u);
  EXPECT_EQ(tests[0].where, "country = 'FR'");
  EXPECT_EQ(tests[0].severity, TestSeverity::Warn);
  EXPECT_EQ(tests[1].columns, (Names{"a", "b"}));
  EXPECT_EQ(tests[1].tolerated_share, 0.01);
  EXPECT_EQ(tests[1].scope, TestScope::Table);
  EXPECT_EQ(tests[1].name, "pair");
  EXPECT_EQ(tests[2].values, (Names{"x", "y"}));
  EXPECT_EQ(tests[2].tolerated_rows, 3);
  EXPECT_EQ(tests[3].minimum, "0");
  EXPECT_EQ(tests[3].maximum, "9");
  EXPECT_EQ(tests[3].tolerated_rows, 0);
  EXPECT_EQ(tests[4].columns, Names{"order id"});
  EXPECT_EQ(tests[5].name, "row_count");
  EXPECT_EQ(tests[6].text, "1d");
  EXPECT_EQ(tests[7].text, "a > 0");
  EXPECT_EQ(tests[8].text, "^x$");
}

TEST(HeaderLines, DeclaredLineageKeepsEverySource) {
  const auto lineage = model("-- column t <- ducklake://w/o.a, ducklake://w/o.a\n-- column u <- nothing").lineage;
  ASSERT_EQ(lineage.size(), 1u);
  EXPECT_EQ(lineage[0].output, "t");
  ASSERT_EQ(lineage[0].sources.size(), 2u);
  EXPECT_EQ(lineage[0].sources[1].second, "a");
  EXPECT_EQ(model("-- column t <- ducklake://w/main.o.a").lineage.at(0).sources[0].first.uri(), "ducklake://w/main.o");
}

TEST(HeaderLines, AMeasureSplitsAtTheWhereOutsideQuotesAndParentheses) {
  const auto metrics =
      tested(
          "-- measure n = count_if(note = 'some where value')\n-- measure revenue = sum(amount) where not is_refund\n"
          "-- measure paid = sum(x) WHERE \"a where\" = 1\n-- measure sub = sum((SELECT 1 where true))\n-- dimension "
          "month = date_trunc('month', ordered_at)\n"
          "-- measure n = count(*)\n-- measure é = sum(größe) where größe > 0")
          .metrics;
  ASSERT_EQ(metrics.size(), 6u);
  EXPECT_EQ(metrics[0].filter, "");
  EXPECT_EQ(metrics[1].expression, "sum(amount)");
  EXPECT_EQ(metrics[1].filter, "not is_refund");
  EXPECT_EQ(metrics[2].filter, "\"a where\" = 1");
  EXPECT_EQ(metrics[3].filter, "");
  EXPECT_FALSE(metrics[4].is_measure);
  EXPECT_EQ(metrics[5].name, "é");
  EXPECT_EQ(metrics[5].filter, "größe > 0");
}

TEST(HeaderLines, QuotesOfEverySpellingHideAWhereAndPartsKnowTheirPlace) {
  const std::string text =
      std::string(kTarget) +
      "-- measure a = count_if(x = E'it\\'s where y') where z\n-- measure b = max($$ where $$)  WHERE  c\n"
      "-- measure d = max(x) wherever\n-- measure e = sum(a)where b\nSELECT 1 AS id";
  const auto metrics = judged(text).model.metrics;
  ASSERT_EQ(metrics.size(), 4u);
  EXPECT_EQ(metrics[0].expression, "count_if(x = E'it\\'s where y')");
  EXPECT_EQ(metrics[0].filter, "z");
  EXPECT_EQ(metrics[1].expression, "max($$ where $$)");
  EXPECT_EQ(metrics[2].filter, "");
  EXPECT_EQ(metrics[3].filter, "");
  for (const Metric& one : metrics) {
    EXPECT_EQ(text.substr(one.expression_span.begin, one.expression_span.size()), one.expression);
    EXPECT_EQ(text.substr(one.filter_span.begin, one.filter_span.size()), one.filter);
  }
}

TEST(HeaderLines, MalformedMetricsAreLeftOut) {
  const auto found =
      judged(std::string(kTarget) + "-- measure r = sum(a) where\n-- measure r\n-- measure r =\nSELECT 1");
  EXPECT_TRUE(found.model.metrics.empty());
  EXPECT_EQ(codes(found), (Names{"W0116", "W0116", "W0116"}));
}

TEST(HeaderLines, ArgumentsHaveATypeAndPerhapsADefault) {
  const auto arguments =
      model(
          "-- $cutoff (date) = 2024-01-01\n// $n (decimal(10, 2))\n# $s (text) = 'a b'\n-- $x is prose\n-- $5 a piece")
          .arguments;
  ASSERT_EQ(arguments.size(), 3u);
  EXPECT_EQ(arguments[0].name, "cutoff");
  EXPECT_EQ(arguments[0].default_value, "2024-01-01");
  EXPECT_EQ(arguments[1].type, "decimal(10, 2)");
  EXPECT_EQ(arguments[1].default_value, std::nullopt);
  EXPECT_EQ(arguments[2].default_value, "a b");
}

TEST(HeaderLines, EveryKeywordOfTheTableIsRead) {
  // A keyword with a tail that none accepts leaves a word about it, unless it is free text.
  for (const auto& keyword : header_keywords()) {
    const auto found = judged("-- " + std::string(keyword.name) + " \x01 = \x02\nSELECT 1");
    EXPECT_FALSE(found.diagnostics.empty() && found.model.metrics.empty()) << keyword.name;
  }
}

TEST(HeaderLines, WindowsLineEndsAndAByteOrderMarkChangeNothing) {
  const auto found =
      judged("\xEF\xBB\xBF-- pipeline\r\n-- tag heavy\r\n-- materialize ducklake://main/t key=id\r\nSELECT 1\r\n");
  EXPECT_TRUE(found.diagnostics.empty());
  EXPECT_TRUE(found.model.is_pipeline);
  EXPECT_EQ(found.model.tags, Names{"heavy"});
  EXPECT_EQ(found.model.key, Names{"id"});
}

}  // namespace
}  // namespace weir
