#include <nlohmann/json.hpp>

#include "bench.h"

namespace weir::audit {
namespace {

TEST_F(Bench, ASampleHoldsTwentyRowsInTheOrderOfTheKey) {
  table("SELECT 100 - i AS id, NULL::INT AS v, 'p' AS _wm_partition FROM range(50) t(i)");
  model_.key = {"ID"};
  const auto rows = nlohmann::json::parse(verdict(test(TestKind::NotNull, {"v"})).sample_json);
  ASSERT_EQ(rows.size(), 20U);
  EXPECT_EQ(rows[0].dump(), R"({"id":51,"v":null})");
  EXPECT_EQ(rows[19]["id"], 70);
}

TEST_F(Bench, WithoutAKeyAllColumnsOrderASample) {
  table("SELECT unnest([3, 1, 2]) AS a, NULL::INT AS v");
  EXPECT_EQ(verdict(test(TestKind::NotNull, {"v"})).sample_json,
            R"([{"a":1,"v":null},{"a":2,"v":null},{"a":3,"v":null}])");
}

TEST_F(Bench, ASampleOverTheCapIsLeftOutWhole) {
  table("SELECT repeat('x', 3000) AS a, NULL::INT AS v FROM range(20)");
  const auto got = verdict(test(TestKind::NotNull, {"v"}));
  EXPECT_EQ(got.violating, 20);
  EXPECT_EQ(got.sample_json, "");
}

TEST_F(Bench, PrivateColumnsAreHiddenAndSamplesCanBeOff) {
  table("SELECT unnest(['a', 'a']) AS email, NULL::INT AS v");
  private_ = {"Email"};
  EXPECT_EQ(verdict(test(TestKind::NotNull, {"v"})).sample_json,
            R"([{"email":"•••","v":null},{"email":"•••","v":null}])");
  EXPECT_EQ(verdict(test(TestKind::Unique, {"email"})).sample_json, R"([{"value":"•••","count":2}])");
  samples_ = false;
  EXPECT_EQ(verdict(test(TestKind::NotNull, {"v"})).sample_json, "");
}

TEST_F(Bench, ASampleOfOddNamesAndValuesIsValidJson) {
  table("SELECT 'a\"b' AS \"it's \"\"x\"\".y\", 'nan'::DOUBLE AS n, NULL::INT AS v");
  const auto json = verdict(test(TestKind::NotNull, {"v"})).sample_json;
  EXPECT_FALSE(nlohmann::json::parse(json, nullptr, false).is_discarded()) << json;
}

TEST_F(Bench, TheMessageCountsAndShowsNoRows) {
  table("SELECT unnest(['secret', 'secret', NULL]) AS v, 1 AS w");
  auto casts = test(TestKind::Expression);
  casts.text = "CAST(v AS INTEGER) > 0";
  auto unique = test(TestKind::Unique, {"v"});
  unique.name = "unique(v)";
  auto present = test(TestKind::NotNull, {"w"});
  present.name = "not_null(w)";
  auto mild = test(TestKind::NotNull, {"v"});
  mild.name = "not_null(v)";
  mild.severity = TestSeverity::Warn;
  casts.name = "casts";
  const auto got = verdicts({present, unique, casts, mild});
  EXPECT_EQ(failure_message(got, model_, "2026-07-05", Audited::HeldBack),
            "audit failed: 2 of 4 tests on ducklake://main/main.orders [2026-07-05]; nothing was published\n"
            "  ✗ unique(v) — 1 violating row(s)\n"
            "  ✗ casts — error: it could not be run\n"
            "  ! not_null(v) — 1 violating row(s)\n"
            "  ✓ not_null(w)");
}

TEST_F(Bench, FewerVerdictsThanDeclaredTestsStopTheStep) {
  table("SELECT 1 AS v");
  auto present = test(TestKind::NotNull, {"v"});
  present.name = "not_null(v)";
  auto unique = test(TestKind::Unique, {"v"});
  auto got = verdicts({present, unique});
  EXPECT_FALSE(stops(got, model_));
  got.pop_back();
  EXPECT_TRUE(stops(got, model_));
  EXPECT_EQ(failure_message(got, model_, "", Audited::HeldBack),
            "audit failed: 0 of 1 tests on ducklake://main/main.orders; nothing was published\n"
            "  ✓ not_null(v)\n"
            "  only 1 of 2 tests came back");
}

}  // namespace
}  // namespace weir::audit
