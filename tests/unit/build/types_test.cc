#include "build/types.h"

#include "slice.h"

namespace weir::build {
namespace {

TEST(Types, SpellingIsReadAndWrittenBack) {
  for (const char* text :
       {"INTEGER", "DECIMAL(10,2)", "TIMESTAMP WITH TIME ZONE", "INTEGER[]", "INTEGER[3][]",
        "MAP(VARCHAR, DECIMAL(3,1)[])", "STRUCT(\"a b\" INTEGER, \"c\"\"d\" STRUCT(\"e\" DATE)[])", "\"NULL\""})
    EXPECT_EQ(to_text(parse_type(text)), text);
}

TEST(Types, WhatALakeCannotHoldIsFoundAtAnyDepthAndACastIsNamed) {
  for (const char* text : {"TIME_NS", "ENUM", "UNION", "BIT", "BIGNUM", "\"NULL\"", "INTEGER[3]"})
    EXPECT_TRUE(refuse(parse_type(text)).has_value()) << text;
  const auto nested = refuse(parse_type("STRUCT(\"a\" MAP(VARCHAR, ENUM('x)', 'y')), \"b\" INTEGER[2])[]"));
  ASSERT_TRUE(nested.has_value());
  EXPECT_EQ(nested->type, "ENUM");
  EXPECT_EQ(nested->cast_to, "STRUCT(\"a\" MAP(VARCHAR, VARCHAR), \"b\" INTEGER[])[]");
  EXPECT_FALSE(refuse(parse_type("STRUCT(\"a\" MAP(VARCHAR, TIME))[]")).has_value());
}

TEST(Types, HugeIntegersBecomeDecimalsInside) {
  EXPECT_EQ(to_text(without_huge(parse_type("STRUCT(\"a\" HUGEINT[], \"b\" UHUGEINT)"))),
            "STRUCT(\"a\" DECIMAL(38,0)[], \"b\" DECIMAL(38,0))");
}

// Every pair that is called lossless is tried on a real lake: it takes the ALTER, and the values that were there come
// back the same.
class Widening : public Slice {};

struct Sample {
  const char* type;
  const char* lowest;
  const char* highest;
};
const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = {
      {"TINYINT", "-128", "127"},
      {"SMALLINT", "-32768", "32767"},
      {"INTEGER", "-2147483648", "2147483647"},
      {"BIGINT", "-9223372036854775808", "9223372036854775807"},
      {"UTINYINT", "0", "255"},
      {"USMALLINT", "0", "65535"},
      {"UINTEGER", "0", "4294967295"},
      {"UBIGINT", "0", "18446744073709551615"},
      {"FLOAT", "-3.4028235e38", "0.1"},
      {"DOUBLE", "-1.7e308", "0.1"},
      {"DECIMAL(5,2)", "-999.99", "999.99"},
      {"DECIMAL(10,2)", "-99999999.99", "99999999.99"},
      {"DECIMAL(10,4)", "-999999.9999", "999999.9999"},
      {"DECIMAL(38,0)", "-99999999999999999999999999999999999999", "99999999999999999999999999999999999999"},
      {"DATE", "0044-03-15 (BC)", "5881580-07-10"},
      {"TIMESTAMP_S", "1900-01-01 00:00:01", "2500-01-01 00:00:01"},
      {"TIMESTAMP_MS", "1900-01-01 00:00:01.001", "2500-01-01 00:00:01.001"},
      {"TIMESTAMP", "1900-01-01 00:00:01.000001", "2500-01-01 00:00:01.000001"},
      {"TIMESTAMP_NS", "1900-01-01 00:00:01.000000001", "2200-01-01 00:00:01"},
      {"TIMESTAMP WITH TIME ZONE", "1900-01-01 00:00:01+00", "2500-01-01 00:00:01+00"},
      {"VARCHAR", "", "x"},
      {"BOOLEAN", "false", "true"},
      {"INTEGER[]", "[-2147483648]", "[2147483647]"},
      {"BIGINT[]", "[-9223372036854775808]", "[9223372036854775807]"},
      {"STRUCT(\"a\" INTEGER)", "{'a': -2147483648}", "{'a': 2147483647}"},
      {"STRUCT(\"a\" BIGINT)", "{'a': 1}", "{'a': 9223372036854775807}"},
      {"STRUCT(\"a\" INTEGER, \"b\" VARCHAR)", "{'a': 1, 'b': x}", "{'a': 2, 'b': y}"},
  };
  return all;
}

TEST_F(Widening, LosslessPairsAreTakenByALakeAndKeepTheirValues) {
  attach_lake();
  int pairs = 0;
  for (const Sample& from : samples()) {
    SCOPED_TRACE(from.type);
    const auto before = duck::Sql::verbatim(from.type);
    std::vector<const Sample*> wider;
    std::vector<duck::Sql> columns = {{"CAST(v AS {}) AS v", before}};
    for (const Sample& to : samples()) {
      if (!is_lossless_widening(from.type, to.type)) continue;
      columns.emplace_back("CAST(v AS {}) AS {}", before, duck::Identifier(to.type));
      wider.push_back(&to);
    }
    run(duck::Sql("CREATE OR REPLACE TABLE lake.w AS SELECT {} FROM (VALUES ({}), ({})) AS x(v)",
                  duck::Sql::join(columns, ", "), duck::Literal(from.lowest), duck::Literal(from.highest)));
    run("BEGIN");
    for (const Sample* to : wider)
      run(duck::Sql("ALTER TABLE lake.w ALTER {} SET DATA TYPE {}", duck::Identifier(to->type),
                    duck::Sql::verbatim(to->type)));
    run("COMMIT");
    for (const Sample* to : wider) {
      SCOPED_TRACE(to->type);
      const duck::Identifier column(to->type);
      const auto after = duck::Sql::verbatim(to->type);
      EXPECT_EQ(one(duck::Sql("SELECT typeof({}) FROM lake.w LIMIT 1", column)),
                one(duck::Sql("SELECT typeof(CAST(NULL AS {}))", after)));
      // Exact: as many values as before, each spelled as the old value is once cast.
      EXPECT_EQ(one(duck::Sql("SELECT count(DISTINCT {}) FROM lake.w WHERE {} = CAST(v AS {})", column, column, after)),
                "2");
      EXPECT_EQ(one(duck::Sql("SELECT count(*) FROM lake.w WHERE CAST({} AS VARCHAR) = CAST(CAST(v AS {}) AS VARCHAR)",
                              column, after)),
                "2");
      ++pairs;
    }
  }
  EXPECT_GT(pairs, 50);
}

TEST(Types, ChangesThatALakeWouldTakeWithLossAreNoWidening) {
  EXPECT_FALSE(is_lossless_widening("INTEGER", "FLOAT"));
  EXPECT_FALSE(is_lossless_widening("BIGINT", "DOUBLE"));
  EXPECT_FALSE(is_lossless_widening("DECIMAL(5,2)", "DECIMAL(38,0)"));
  EXPECT_FALSE(is_lossless_widening("DECIMAL(10,2)", "DECIMAL(10,4)"));
  EXPECT_FALSE(is_lossless_widening("DATE", "TIMESTAMP"));
  EXPECT_FALSE(is_lossless_widening("TIMESTAMP", "TIMESTAMP_NS"));
  EXPECT_FALSE(is_lossless_widening("VARCHAR", "JSON"));
  EXPECT_FALSE(is_lossless_widening("UINTEGER", "INTEGER"));
  EXPECT_FALSE(is_lossless_widening("INTEGER", "UBIGINT"));
  EXPECT_FALSE(is_lossless_widening("INTEGER", "INTEGER"));
}

TEST(Drift, ComparesInOrderAndWithoutCase) {
  const Drift drift = compare_columns(
      {{.name = "id", .type = "INTEGER"}, {.name = "Name", .type = "VARCHAR"}, {.name = "old", .type = "DATE"}},
      {{"name", "VARCHAR"}, {"id", "BIGINT"}, {"fresh", "DATE"}});
  ASSERT_EQ(drift.added.size(), 1U);
  EXPECT_EQ(drift.added[0].name, "fresh");
  ASSERT_EQ(drift.removed.size(), 1U);
  EXPECT_EQ(drift.removed[0].name, "old");
  ASSERT_EQ(drift.retyped.size(), 1U);
  EXPECT_TRUE(drift.retyped[0].widening);
  EXPECT_TRUE(drift.reordered);
  ASSERT_EQ(drift.renamed_case.size(), 1U);
  EXPECT_EQ(drift.renamed_case[0].first, "Name");
  ASSERT_TRUE(drift.likely_rename.has_value());
  EXPECT_EQ(drift.likely_rename->first, "old");
}

TEST(Drift, EqualColumnsAreNone) {
  EXPECT_FALSE(compare_columns({{.name = "id", .type = "INTEGER"}}, {{"id", "INTEGER"}}).any());
}

TEST(Drift, AnotherTypeIsNoRename) {
  EXPECT_FALSE(compare_columns({{.name = "a", .type = "INTEGER"}}, {{"b", "DATE"}}).likely_rename.has_value());
}

}  // namespace
}  // namespace weir::build
