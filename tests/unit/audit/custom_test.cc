#include "bench.h"

namespace weir::audit {
namespace {

using Status = Verdict::Status;

TEST_F(Bench, ACustomTestReadsTheSliceUnderEveryAliasAndSpelling) {
  table("SELECT * FROM (VALUES (1, -1), (2, 5)) t(id, amount)");
  for (const char* text :
       {"SELECT * FROM _wm_target.orders WHERE amount < 0",
        "SELECT _wm_target.orders.id FROM _WM_TARGET.Orders WHERE orders.amount < 0;",
        "FROM weir_target.orders o WHERE o.amount < 0", "SELECT * FROM _wm_target.orders WHERE amount < 0 -- done"}) {
    const auto got = custom(text);
    EXPECT_EQ(got.status, Status::Failed) << text << got.error;
    EXPECT_EQ(got.violating, 1) << text;
    EXPECT_NE(got.sample_json, "") << text;
  }
}

TEST_F(Bench, ThePartitionTokenIsOneLiteralWhateverItHolds) {
  table("SELECT 'it''s; x' AS p");
  partition_ = "it's; x";
  model_.partitioning = calendar::Partitioning{.kind = calendar::PartitionKind::Dynamic};
  EXPECT_EQ(custom("SELECT * FROM _wm_target.orders WHERE p = {partition}").violating, 1);
  EXPECT_EQ(custom("SELECT * FROM _wm_target.orders WHERE p = '{partition}'").violating, 1);
  EXPECT_EQ(custom("SELECT * FROM _wm_target.orders WHERE 'a' || p = 'a{partition}'").violating, 1);
  EXPECT_EQ(custom("SELECT * FROM _wm_target.orders WHERE p <> {partition} /* {partition} */").violating, 0);
}

TEST_F(Bench, OtherTablesAreReadThroughTheModelsAliases) {
  ASSERT_TRUE(clean_->execute(duck::Sql("CREATE TABLE dim AS SELECT 1 AS id")));
  table("SELECT unnest([1, 2]) AS id");
  parse::Statement attach;
  attach.kind = parse::StatementKind::Attach;
  attach.attach_uri = "ducklake://main";
  attach.alias = "dl";
  model_.script.statements.push_back(attach);
  const auto got =
      custom("SELECT * FROM _wm_target.orders o WHERE NOT EXISTS (SELECT 1 FROM dl.dim WHERE dl.dim.id = o.id)");
  EXPECT_EQ(got.status, Status::Failed) << got.error;
  EXPECT_EQ(got.violating, 1);
}

TEST_F(Bench, TemporaryObjectsOfTheModelAreSetUpAgainForTheTest) {
  table("SELECT unnest([1, 2]) AS id");
  parse::Statement temporary;
  temporary.kind = parse::StatementKind::CreateTempTable;
  temporary.object_name = "allowed";
  model_.script.statements.push_back(temporary);
  setup_.push_back(parse::Spliced::generated(duck::Sql("CREATE TEMP TABLE allowed AS SELECT 1 AS id")));
  const auto got = custom("SELECT * FROM _wm_target.orders WHERE id NOT IN (SELECT id FROM allowed)");
  EXPECT_EQ(got.status, Status::Failed) << got.error;
  EXPECT_EQ(got.violating, 1);
}

TEST_F(Bench, AQueryThatDoesNotBindIsAnErrorOnItsLine) {
  table("SELECT 1 AS id");
  const auto got = custom("SELECT *\nFROM _wm_target.orders\nWHERE nothing = 1");
  EXPECT_EQ(got.status, Status::Error);
  EXPECT_NE(got.error.find("tests/sane.sql:3: "), std::string::npos) << got.error;
}

TEST_F(Bench, AnInlineQueryIsACustomTestWithoutAFile) {
  table("SELECT unnest([1, -2]) AS id");
  auto inline_query = test(TestKind::Sql);
  inline_query.text = "SELECT * FROM weir_target.orders WHERE id < 0";
  EXPECT_EQ(verdict(inline_query).violating, 1);
}

}  // namespace
}  // namespace weir::audit
