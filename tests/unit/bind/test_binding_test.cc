#include "bound_project.h"

namespace weir::bind {
namespace {

class BindingTests : public BoundProject {
 protected:
  void SetUp() override {
    BoundProject::SetUp();
    source("orders", {{"id", "INTEGER"}, {"status", "VARCHAR"}, {"day", "DATE"}});
    source("customers", {{"id", "BIGINT"}, {"name", "VARCHAR"}});
  }
  Lines of(const std::string& header) {
    model("a", "SELECT id, status, day FROM orders", "\n" + header);
    bind();
    for (const Diagnostic& one : project_.diagnostics) ADD_FAILURE() << name_of(one.code) << " " << one.message;
    return said();
  }
};

TEST_F(BindingTests, AColumnThatTheQueryDoesNotReturn) {
  EXPECT_EQ(of("-- data_test not_null statsu"),
            (Lines{"W2130 models/a.sql:2:23 the test not_null(statsu) is of a column `statsu` that the query does not "
                   "return | did you mean `status`?"}));
}

TEST_F(BindingTests, AValueThatTheColumnCannotHave) {
  EXPECT_EQ(of("-- data_test accepted_values id = 1,2,three"),
            (Lines{"W2131 models/a.sql:2:39 `three` is no value of column `id`, whose type is INTEGER | correct the "
                   "value, or cast the column in the query"}));
  EXPECT_EQ(of("-- data_test accepted_values status = 1,2,three"), Lines{});
}

TEST_F(BindingTests, APredicateIsBoundAtItsPlace) {
  const Lines lines = of("-- data_test not_null id where=\"statsu = 'x'\"");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0].starts_with("W2132 models/a.sql:2:33 ")) << lines[0];
  EXPECT_EQ(of("-- data_test not_null id where=\"status = 'x' AND day < current_date\""), Lines{});
}

TEST_F(BindingTests, ARelationshipToAColumnThatIsNotThere) {
  const Lines lines = of("-- data_test relationships id -> ducklake://main/customers.ident");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0].starts_with("W2112 models/a.sql:2:60 ")) << lines[0];
}

TEST_F(BindingTests, ARelationshipBetweenTypes) {
  const Lines lines = of("-- data_test relationships id -> ducklake://main/customers.id");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(
      lines[0].starts_with("W2113 models/a.sql:2:60 `id` is INTEGER and ducklake://main/main.customers.id is "
                           "BIGINT: the types differ"))
      << lines[0];
}

TEST_F(BindingTests, AKeyThatTheQueryDoesNotReturn) {
  model("a", "SELECT id FROM orders", " key=ident");
  bind();
  ASSERT_EQ(said().size(), 1U);
  EXPECT_TRUE(said()[0].starts_with("W6011 models/a.sql:1:38 ")) << said()[0];
}

TEST_F(BindingTests, ATimeColumnThatPlacesNoRowInAWindow) {
  const auto of_type = [&](const std::string& time, const std::string& named) {
    put("models/w.sql",
        "/* weir: {strategy: incremental_by_time, time_column: " + named + "} */\nSELECT " + time + " AS t");
    bind();
    return said();
  };
  EXPECT_EQ(of_type("DATE '2026-07-01'", "gone"),
            (Lines{"W0162 models/w.sql:1:55 the query returns no column gone | there are t"}));
  for (const std::string type : {"INTEGER", "TIME", "VARCHAR"})
    EXPECT_EQ(of_type("CAST(NULL AS " + type + ")", "T"), (Lines{"W0162 models/w.sql:1:55 t is " + type +
                                                                 ", which places no row in a window | return it as a "
                                                                 "TIMESTAMP, for example CAST(\"t\" AS TIMESTAMP)"}));
  for (const std::string type : {"DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_NS"})
    EXPECT_EQ(of_type("CAST(NULL AS " + type + ")", "t"), Lines{}) << type;
}

TEST_F(BindingTests, ColumnsOfThePlaneMayBeTested) {
  model("a", "SELECT id, status FROM orders", " key=id history\n-- data_test not_null valid_from");
  bind();
  EXPECT_EQ(said(), Lines{});
}

}  // namespace
}  // namespace weir::bind
