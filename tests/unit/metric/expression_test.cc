#include "metric/expression.h"

#include <gtest/gtest.h>

#include <random>

namespace weir::metric {
namespace {

duck::Connection connect() {
  auto database = duck::Database::open({.threads = 1});
  return std::move(*(*database)->connect());
}

class Expressions : public ::testing::Test {
 protected:
  std::string flaw(const std::string& text) {
    if (auto found = lexical_flaw(text)) return found->message;
    fetch(queries_for(text));
    const auto found = expression_flaw(trees_, text);
    return found ? found->message : "";
  }
  std::string filter(const std::string& expression, const std::string& predicate) {
    EXPECT_EQ(flaw(expression), "");
    EXPECT_EQ(flaw(predicate), "");
    fetch(queries_for(expression, predicate));
    const auto known = functions(connection_);
    const auto found = filter_flaw(trees_, expression, predicate, **known);
    return found ? found->message : "";
  }
  void fetch(const std::vector<std::string>& queries) { ASSERT_TRUE(trees_.fetch(connection_, queries).has_value()); }

  duck::Connection connection_ = connect();
  parse::Trees trees_;
};

TEST_F(Expressions, OneExpressionOfAnyFormPasses) {
  for (const char* text : {"amount",
                           "sum(amount)",
                           "count(*)",
                           "count(DISTINCT x)",
                           "sum(a) / count(b)",
                           "date_trunc('month', ordered_at)",
                           "CASE WHEN a THEN 1 ELSE 2 END",
                           "a OR b",
                           "NOT a",
                           "(SELECT max(x) FROM t)",
                           "x -> '$.a'",
                           "a.b.c",
                           "list_transform(l, x -> x + 1)",
                           "INTERVAL 1 DAY",
                           "DATE '2020-01-01'",
                           "a::DECIMAL(10, 2)",
                           "a IS NOT NULL",
                           "a BETWEEN 1 AND 2",
                           "a IN (1, 2)",
                           "'-- no comment'",
                           "'/* none */'",
                           "\"odd -- name\"",
                           "$$ ; $$",
                           "1 // 2",
                           "größe",
                           "sum(x) OVER (PARTITION BY y)",
                           "sum(x) FILTER (WHERE y)",
                           "string_agg(a, ',' ORDER BY b)",
                           "percentile_cont(0.5) WITHIN GROUP (ORDER BY x)",
                           "[x FOR x IN l]",
                           "{'a': 1}",
                           "a COLLATE nocase",
                           "-a",
                           "a !",
                           "struct_pack(*COLUMNS(*))",
                           "count(t.*)"})
    EXPECT_EQ(flaw(text), "") << text;
}

TEST_F(Expressions, WhateverIsMoreOrLessThanOneExpressionIsRefused) {
  for (const char* text : {"",
                           " ",
                           "a, b",
                           "a b",
                           "a AS b",
                           "b: a",
                           "sum(a) junk",
                           "count(*) FROM t",
                           "count(*) FROM t; DELETE FROM x",
                           "a; SELECT 1",
                           "a;",
                           ";",
                           "sum(a) --c",
                           "sum(a) -- c\n",
                           "sum(a) /* c */",
                           "/* c */ sum(a)",
                           "sum(/* /* c */ */ a)",
                           "sum(a",
                           "sum(a))",
                           "a)",
                           "(a",
                           "1) OR (2",
                           "1) FROM x WHERE (true",
                           "a), (b",
                           "a WHERE b",
                           "a GROUP BY b",
                           "a HAVING b",
                           "a ORDER BY b",
                           "a LIMIT 1",
                           "a OFFSET 1",
                           "a QUALIFY b",
                           "a WINDOW w AS (PARTITION BY b)",
                           "a USING SAMPLE 3",
                           "a UNION SELECT 1",
                           "a EXCEPT SELECT 1",
                           "DISTINCT a",
                           "ALL a",
                           "DISTINCT ON (a) b",
                           "*",
                           "t.*",
                           "* EXCLUDE (a)",
                           "COLUMNS(*)",
                           "sum(COLUMNS('a.*'))",
                           "SELECT 1",
                           "FROM t",
                           "WITH x AS (SELECT 1) SELECT 2",
                           "VALUES (1)",
                           "$x",
                           "?",
                           "a FOR UPDATE",
                           "'open",
                           "\"open",
                           "$t$ open",
                           "a INTO b",
                           "sum(x) OVER w",
                           "sum(x) FILTER (WHERE a) FILTER (WHERE b)",
                           "DROP TABLE t",
                           "a \"b\"",
                           "AS b",
                           "a,",
                           ",a",
                           "{partition}"})
    EXPECT_NE(flaw(text), "") << text;
  EXPECT_NE(flaw(std::string("sum(a)\0 FROM t", 14)), "");
}

TEST_F(Expressions, TheMessageAndPlaceSayWhatIsTooMuch) {
  const std::string text = "sum(a) -- all";
  const auto found = lexical_flaw(text);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->message, "holds a comment");
  EXPECT_EQ(found->span, (Span{7, 13}));
  EXPECT_EQ(flaw("a, b"), "is 2 expressions, not one");
  fetch(queries_for("sum(a) junk more"));
  const auto behind = expression_flaw(trees_, "sum(a) junk more");
  ASSERT_TRUE(behind);
  EXPECT_EQ(behind->span, (Span{12, 16}));
}

TEST_F(Expressions, AFilterNeedsExactlyOneAggregateCall) {
  EXPECT_EQ(filter("sum(x)", "y"), "");
  EXPECT_EQ(filter("count(*)", "not is_refund"), "");
  EXPECT_EQ(filter("count(DISTINCT x)", "a OR b"), "");
  EXPECT_EQ(filter("string_agg(a, ',' ORDER BY b)", "a <> ''"), "");
  EXPECT_EQ(filter("percentile_cont(0.5) WITHIN GROUP (ORDER BY x)", "x > 0"), "");
  EXPECT_EQ(filter("SUM (x)", "y"), "");
  EXPECT_EQ(filter("my_udaf(x)", "y"), "");
  for (const char* text : {"sum(a) / count(b)",
                           "sum(a) * 2",
                           "2 * sum(a)",
                           "-sum(a)",
                           "coalesce(sum(a), 0)",
                           "sum(a)::INTEGER",
                           "(sum(a))",
                           "CAST(sum(a) AS INTEGER)",
                           "CASE WHEN true THEN sum(a) END",
                           "amount",
                           "1",
                           "lower(a)",
                           "round(sum(a), 2)",
                           "sum(a) OVER ()",
                           "row_number() OVER ()",
                           "sum(a) FILTER (WHERE b)",
                           "(SELECT sum(a))",
                           "sum(a) IS NULL",
                           "sum(a) = 1",
                           "NOT bool_and(a)",
                           "sum(a).abs()",
                           "[sum(a)]",
                           "sum(a)[1]"})
    EXPECT_NE(filter(text, "y"), "") << text;
}

TEST_F(Expressions, NoFilterLeavesItsParentheses) {
  for (const char* text : {"true) OVER (PARTITION BY (b)", "a) , count(*", "a) AS x, (b", "a) FROM t WHERE (b",
                           "a -- b", "a /* b */", "a; DROP TABLE t", "a, b"})
    EXPECT_NE(flaw(text), "") << text;
}

TEST_F(Expressions, ColumnsAreThoseOutsideOfSubqueriesAndLambdas) {
  const std::string text = "sum(t.amount) + (SELECT max(other) FROM u) + list_sum(list_transform(l, x -> x + shift))";
  fetch(queries_for(text));
  std::vector<std::string> names;
  for (const ColumnUse& use : columns_of(trees_, text)) {
    names.push_back(use.parts.back());
    EXPECT_EQ(text.substr(use.span.begin, 1), use.parts.front().substr(0, 1));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"amount", "l", "shift"}));
}

// Whatever passes gives the same value in every place that readers put it into.
TEST_F(Expressions, RandomTextsThatPassAreOneExpressionInEveryPlace) {
  std::mt19937 random(20260705);  // NOLINT: the same texts every time
  const std::vector<std::string> pieces = {"a",
                                           "b",
                                           "1",
                                           "(",
                                           ")",
                                           "sum(",
                                           ",",
                                           " ",
                                           "+",
                                           "*",
                                           "-",
                                           "--",
                                           "/*",
                                           "*/",
                                           "'",
                                           "\"",
                                           ";",
                                           " AS ",
                                           " OR ",
                                           " FROM t",
                                           "$$",
                                           "\n",
                                           " where ",
                                           "[",
                                           "]",
                                           "::INT",
                                           " OVER ()",
                                           " FILTER (WHERE a)",
                                           "SELECT ",
                                           " UNION ",
                                           "CASE WHEN a THEN b END"};
  std::vector<std::string> texts;
  std::vector<std::string> queries;
  for (int i = 0; i < 4000; ++i) {
    std::string text;
    for (std::size_t left = 1 + random() % 6; left > 0; --left) text += pieces[random() % pieces.size()];
    for (std::string& query : queries_for(text)) queries.push_back(std::move(query));
    texts.push_back(std::move(text));
  }
  fetch(queries);
  std::vector<std::string> passed;
  for (const std::string& text : texts)
    if (flaw(text).empty()) passed.push_back(text);
  EXPECT_GT(passed.size(), 100u);
  for (const std::string& text : passed) {
    const std::string query =
        "SELECT (" + text + ") IS NULL AS \"x\", " + text + " AS \"y\", 3 AS \"z\" FROM (SELECT 1 AS a, 2 AS b)";
    const auto count = connection_.count_statements(duck::Sql::verbatim(query));
    EXPECT_TRUE(count.has_value() && *count == 1) << text;
    // Where it binds at all, it is one column among three.
    if (const auto columns = connection_.describe(duck::Sql::verbatim(query))) {
      ASSERT_EQ(columns->size(), 3u) << text;
      EXPECT_EQ(columns->at(1).name, "y") << text;
    }
  }
}

}  // namespace
}  // namespace weir::metric
