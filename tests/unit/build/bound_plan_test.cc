#include "build/bound_plan.h"

#include "slice.h"

namespace weir::build {
namespace {

class Plan : public Slice {
 protected:
  void SetUp() override {
    Slice::SetUp();
    run("CREATE TABLE _weir_stage.main.small AS SELECT range AS id, 1.5 AS price, 'x' AS name FROM range(10)");
  }
  BoundPlan bound(const std::string& query, std::optional<std::int64_t> largest_stage = 10) {
    auto plan = bind_plan(*clean_, duck::Sql::verbatim(query), largest_stage);
    EXPECT_TRUE(plan.has_value() && plan->is_known) << query;
    return std::move(*plan);
  }
  std::int64_t rows_of(const std::string& query) {
    return clean_->query(duck::Sql("SELECT count(*) FROM ({}) AS q", duck::Sql::verbatim(query)))->integer(0, 0);
  }
};

TEST_F(Plan, TellsTheColumnsThatDescribeTells) {
  for (const std::string query :
       {"SELECT id, price, name AS \"a b\", id > 3 AS big, DATE '2026-01-01' AS d, now() AS n, 1::HUGEINT AS h FROM "
        "_weir_stage.main.small",
        "SELECT a.* FROM _weir_stage.main.small AS a JOIN _weir_stage.main.small AS b USING (id)",
        "FROM (VALUES (1, 2.50)) AS v(x, y)"}) {
    const auto described = clean_->describe(duck::Sql::verbatim(query));
    const BoundPlan plan = bound(query);
    ASSERT_TRUE(described && plan.columns) << query;
    ASSERT_EQ(described->size(), plan.columns->size());
    for (std::size_t i = 0; i < described->size(); ++i) {
      EXPECT_EQ((*described)[i].name, (*plan.columns)[i].name);
      EXPECT_EQ((*described)[i].type, (*plan.columns)[i].type);
    }
  }
}

TEST_F(Plan, LeavesDoubtfulColumnsToDescribe) {
  EXPECT_FALSE(bound("SELECT 1 AS a, 2 AS a").columns);  // the subquery's second `a` is `a_1`
  EXPECT_FALSE(bound("SELECT [1] AS a").columns);
  EXPECT_FALSE(bound("SELECT '{}'::JSON AS a").columns);
  EXPECT_FALSE(bound("SELECT NULL AS a").columns);
  EXPECT_FALSE(bound("SELECT 'x' COLLATE NOCASE AS a").columns);
}

TEST_F(Plan, BoundsTheRowsOfWhatReadsStages) {
  for (const std::string query :
       {"FROM _weir_stage.main.small",
        "FROM _weir_stage.main.small AS a FULL JOIN _weir_stage.main.small AS b ON a.id = b.id + 100",
        "FROM _weir_stage.main.small UNION ALL FROM _weir_stage.main.small",
        "WITH c AS (FROM _weir_stage.main.small) FROM c AS x, c AS y",
        "FROM (VALUES (1), (2), (3)) AS a(i), (VALUES (1), (2)) AS b(j)",
        "SELECT name, count(*) AS n FROM _weir_stage.main.small GROUP BY name"}) {
    const auto most = bound(query).most_rows;
    ASSERT_TRUE(most) << query;
    EXPECT_GE(*most, rows_of(query)) << query;
    EXPECT_LT(*most, 100'000) << query;
  }
}

TEST_F(Plan, BoundsNothingElse) {
  run("CREATE TABLE other AS SELECT 1 AS id");
  for (const std::string query :
       {"FROM range(1000000)", "SELECT unnest(generate_series(1, 1000000)) AS a", "FROM other",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 1000000) FROM r",
        "SELECT name, id, count(*) AS n FROM _weir_stage.main.small GROUP BY CUBE (name, id)"})
    EXPECT_FALSE(bound(query).most_rows) << query;
  EXPECT_FALSE(bound("FROM _weir_stage.main.small", std::nullopt).most_rows);
}

}  // namespace
}  // namespace weir::build
