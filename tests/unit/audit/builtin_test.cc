#include "bench.h"

namespace weir::audit {
namespace {

using Status = Verdict::Status;

TEST_F(Bench, UniqueCountsDuplicatedValuesAndIgnoresNulls) {
  table("SELECT unnest([7, 7, 7, 8, NULL, NULL]) AS v");
  const auto got = verdict(test(TestKind::Unique, {"V"}));
  EXPECT_EQ(got.status, Status::Failed);
  EXPECT_EQ(got.violating, 1);
  EXPECT_EQ(got.sample_json, R"([{"value":7,"count":3}])");
  EXPECT_TRUE(got.blocks());
}

TEST_F(Bench, UniqueOverSeveralColumnsIgnoresAGroupWithANull) {
  table("SELECT * FROM (VALUES (1, 'a'), (1, 'b'), (2, NULL), (2, NULL), (3, 'c'), (3, 'c')) t(a, b)");
  const auto got = verdict(test(TestKind::Unique, {"a", "b"}));
  EXPECT_EQ(got.violating, 1);
  EXPECT_EQ(got.sample_json, R"([{"value":{"a":3,"b":"c"},"count":2}])");
}

TEST_F(Bench, NotNullCountsRowsWithAnyListedColumnNull) {
  table("SELECT * FROM (VALUES (1, NULL), (NULL, NULL), (3, 3)) t(a, b)");
  EXPECT_EQ(verdict(test(TestKind::NotNull, {"a"})).violating, 1);
  EXPECT_EQ(verdict(test(TestKind::NotNull, {"a", "b"})).violating, 2);
}

TEST_F(Bench, AcceptedValuesCompareInTheColumnsTypeAndPassNull) {
  table("SELECT unnest([1.50, 2.00, NULL, 3.00])::DECIMAL(10,2) AS v");
  auto accepted = test(TestKind::AcceptedValues, {"v"});
  accepted.values = {"1.5", "2"};
  const auto got = verdict(accepted);
  EXPECT_EQ(got.violating, 1);
}

TEST_F(Bench, AnAcceptedValueThatIsNoneOfTheTypeIsFoundWithoutRows) {
  table("SELECT 1 AS v WHERE false");
  auto accepted = test(TestKind::AcceptedValues, {"v"});
  accepted.values = {"1", "paid"};
  const auto got = verdict(accepted);
  EXPECT_EQ(got.status, Status::Error);
  EXPECT_NE(got.error.find("paid"), std::string::npos);
  EXPECT_TRUE(got.blocks());
}

TEST_F(Bench, RelationshipsPassNullAndANullInTheParentHidesNothing) {
  ASSERT_TRUE(clean_->execute(duck::Sql("CREATE TABLE dim AS SELECT unnest([1, NULL]) AS id")));
  table("SELECT unnest([1, 2, NULL]) AS sku");
  auto related = test(TestKind::Relationships, {"sku"});
  related.reference = parse_asset("ducklake://main/dim");
  related.reference_column = "id";
  const auto got = verdict(related);
  EXPECT_EQ(got.violating, 1);
  EXPECT_EQ(got.sample_json, R"([{"sku":2}])");
}

TEST_F(Bench, RangeTakesNumbersValuesOfTheTypeAndExpressions) {
  table("SELECT * FROM (VALUES (0, DATE '2024-01-01'), (5, DATE '2024-06-01'), (NULL, NULL)) t(n, d)");
  auto numbers = test(TestKind::Range, {"n"});
  numbers.minimum = "0.5";
  EXPECT_EQ(verdict(numbers).violating, 1);
  auto dates = test(TestKind::Range, {"d"});
  dates.minimum = "2024-02-01";
  dates.maximum = "current_date";
  EXPECT_EQ(verdict(dates).violating, 1);
}

TEST_F(Bench, PatternAndExpressionPassNull) {
  table("SELECT unnest(['a1', 'b', NULL]) AS v");
  auto pattern = test(TestKind::Pattern, {"v"});
  pattern.text = "^[a-z][0-9]$";
  EXPECT_EQ(verdict(pattern).violating, 1);
  auto holds = test(TestKind::Expression);
  holds.text = "v <> 'b' -- a comment";
  EXPECT_EQ(verdict(holds).violating, 1);
}

TEST_F(Bench, FreshnessFailsForOldDataAndForAnEmptySlice) {
  auto fresh = test(TestKind::Freshness, {"at"});
  fresh.text = "1d";
  table("SELECT now() - INTERVAL 2 HOUR AS at");
  EXPECT_EQ(verdict(fresh).status, Status::Passed);
  table("SELECT now()::TIMESTAMP - INTERVAL 30 HOUR AS at");
  EXPECT_EQ(verdict(fresh).violating, 1);
  table("SELECT now() AS at WHERE false");
  EXPECT_EQ(verdict(fresh).violating, 1);
}

TEST_F(Bench, RowCountIsOneViolationOutsideItsBounds) {
  table("SELECT * FROM range(5) t(v)");
  auto count = test(TestKind::RowCount);
  count.minimum = "5";
  EXPECT_EQ(verdict(count).violating, 0);
  count.maximum = "4";
  EXPECT_EQ(verdict(count).violating, 1);
}

TEST_F(Bench, WhereLimitsWhatATestLooksAt) {
  table("SELECT * FROM (VALUES (1, 'FR', NULL), (1, 'DE', NULL), (2, 'FR', 'x')) t(id, country, email)");
  auto present = test(TestKind::NotNull, {"email"});
  present.where = "country = 'FR'";
  EXPECT_EQ(verdict(present).violating, 1);
  auto unique = test(TestKind::Unique, {"id"});
  EXPECT_EQ(verdict(unique).violating, 1);
  unique.where = "country = 'FR'";
  EXPECT_EQ(verdict(unique).violating, 0);
}

TEST_F(Bench, AToleratedNumberOrShareOfViolationsPasses) {
  table("SELECT CASE WHEN i < 2 THEN NULL ELSE i END AS v FROM range(100) t(i)");
  auto present = test(TestKind::NotNull, {"v"});
  present.tolerated_rows = 2;
  EXPECT_EQ(verdict(present).status, Status::Passed);
  present.tolerated_rows = 1;
  EXPECT_EQ(verdict(present).status, Status::Failed);
  present.tolerated_rows = 0;
  present.tolerated_share = 0.02;
  const auto got = verdict(present);
  EXPECT_EQ(got.status, Status::Passed);
  EXPECT_EQ(got.tolerated, 2);
  EXPECT_EQ(got.violating, 2);
  present.tolerated_share = 0.01;
  EXPECT_EQ(verdict(present).status, Status::Failed);
}

TEST_F(Bench, OnlySeverityErrorBlocks) {
  table("SELECT NULL::INT AS v");
  auto present = test(TestKind::NotNull, {"v"});
  present.severity = TestSeverity::Warn;
  const auto got = verdict(present);
  EXPECT_EQ(got.status, Status::Failed);
  EXPECT_FALSE(got.blocks());
}

TEST_F(Bench, ScopeTableLooksBeyondTheSlice) {
  table("SELECT * FROM (VALUES (1, 'p1'), (NULL, 'p2')) t(v, p)");
  slice_ = duck::Sql("(SELECT * FROM orders WHERE p = 'p1')");
  auto present = test(TestKind::NotNull, {"v"});
  EXPECT_EQ(verdict(present).violating, 0);
  present.scope = TestScope::Table;
  EXPECT_EQ(verdict(present).violating, 1);
}

TEST_F(Bench, ATestThatErrorsBlocksAndLeavesItsNeighboursTheirVerdicts) {
  table("SELECT unnest(['1', 'x', NULL]) AS v");
  auto casts = test(TestKind::Expression);
  casts.text = "CAST(v AS INTEGER) > 0";
  auto unknown = test(TestKind::Unique, {"nothing"});
  auto pattern = test(TestKind::Pattern, {"v"});
  pattern.text = "(";
  const auto got = verdicts({test(TestKind::NotNull, {"v"}), casts, unknown, pattern});
  ASSERT_EQ(got.size(), 4U);
  EXPECT_EQ(got[0].status, Status::Failed);
  EXPECT_EQ(got[0].violating, 1);
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(got[i].status, Status::Error) << i;
    EXPECT_TRUE(got[i].blocks());
    EXPECT_NE(got[i].error, "");
  }
}

TEST_F(Bench, APredicateCannotLeaveItsBrackets) {
  table("SELECT 1 AS v");
  for (const char* text : {"1) FROM orders WHERE (1", "true)] FROM orders WHERE [(true", "true; DROP TABLE orders",
                           "true), (false", "true /*"}) {
    auto holds = test(TestKind::Expression);
    holds.text = text;
    EXPECT_EQ(verdict(holds).status, Status::Error) << text;
    auto present = test(TestKind::NotNull, {"v"});
    present.where = text;
    EXPECT_EQ(verdict(present).status, Status::Error) << text;
  }
  EXPECT_TRUE(clean_->query(duck::Sql("FROM orders")));
}

}  // namespace
}  // namespace weir::audit
