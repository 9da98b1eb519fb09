#include "metric/compose.h"

#include <gtest/gtest.h>

#include "metric/table_path.h"
#include "parse/script.h"

namespace weir::metric {
namespace {

Declaration measure(const std::string& name, const std::string& expression, const std::string& filter = {}) {
  return {.script = "orders",
          .table = "sales/main.orders",
          .is_measure = true,
          .name = name,
          .expression = expression,
          .filter = filter};
}
Declaration dimension(const std::string& name, const std::string& expression) {
  return {
      .script = "orders", .table = "sales/main.orders", .is_measure = false, .name = name, .expression = expression};
}

const std::vector<Declaration>& orders() {
  static const std::vector<Declaration> all = {measure("revenue", "sum(amount)", "not is_refund"),
                                               measure("order_count", "count(*)"), dimension("region", "region"),
                                               dimension("month", "date_trunc('month', ordered_at)")};
  return all;
}

Query chosen(const Wanted& wanted) {
  auto query = choose("sales/main.orders", orders(), wanted);
  EXPECT_TRUE(query.has_value());
  return query ? *query : Query{};
}

parse::Script script(const std::string& sql) {
  auto database = duck::Database::open({.threads = 1});
  auto connection = (*database)->connect();
  auto parsed = parse::parse_script(*connection, sql, "m.sql");
  EXPECT_TRUE(parsed.has_value());
  return parsed ? *parsed : parse::Script{};
}

TEST(Composer, DimensionsComeFirstAndEveryNameOfOursIsQuoted) {
  EXPECT_EQ(compose(chosen({.measures = {"revenue", "order_count"}, .dimensions = {"region,month"}})),
            "ATTACH 'ducklake://sales' AS \"dl\";\n"
            "\n"
            "SELECT\n"
            "  region AS \"region\",\n"
            "  date_trunc('month', ordered_at) AS \"month\",\n"
            "  sum(amount) FILTER (WHERE not is_refund) AS \"revenue\",\n"
            "  count(*) AS \"order_count\"\n"
            "FROM \"dl\".\"main\".\"orders\"\n"
            "GROUP BY 1, 2\n"
            "ORDER BY 1, 2;\n");
}

TEST(Composer, MeasuresAloneAreNeitherGroupedNorOrdered) {
  EXPECT_EQ(compose(chosen({.measures = {"order_count"}, .dimensions = {}})),
            "ATTACH 'ducklake://sales' AS \"dl\";\n\nSELECT\n  count(*) AS \"order_count\"\nFROM "
            "\"dl\".\"main\".\"orders\";\n");
}

TEST(Composer, WhereAndLimitStandWhereTheyBelong) {
  Query query = chosen({.measures = {"order_count"}, .dimensions = {"region"}});
  query.where = "ordered_at >= DATE '2026-01-01'";
  query.limit = 5;
  query.alias = "sales";
  query.attach = false;
  EXPECT_EQ(compose(query),
            "SELECT\n  region AS \"region\",\n  count(*) AS \"order_count\"\nFROM \"sales\".\"main\".\"orders\"\n"
            "WHERE ordered_at >= DATE '2026-01-01'\nGROUP BY 1\nORDER BY 1\nLIMIT 5;\n");
}

TEST(Composer, NamesThatHoldQuotesStayNames) {
  const std::vector<Declaration> odd = {measure("a\"; DROP TABLE x; --", "count(*)")};
  const auto query = choose("sales/main.orders", odd, {.measures = {"a\"; DROP TABLE x; --"}, .dimensions = {}});
  ASSERT_TRUE(query.has_value());
  EXPECT_NE(compose(*query).find("count(*) AS \"a\"\"; DROP TABLE x; --\"\n"), std::string::npos);
}

TEST(Choice, AnUnknownNameIsSaidWithTheNearest) {
  const auto query = choose("sales/main.orders", orders(), {.measures = {"revnue"}, .dimensions = {"mnth", "revenue"}});
  ASSERT_FALSE(query.has_value());
  ASSERT_EQ(query.error().size(), 3u);
  EXPECT_EQ(query.error()[0].code, Code::W2220);
  EXPECT_EQ(query.error()[0].hint, "did you mean `revenue`?");
  EXPECT_EQ(query.error()[1].code, Code::W2221);
  EXPECT_EQ(query.error()[1].hint, "did you mean `month`?");
  EXPECT_EQ(query.error()[2].hint, "`revenue` is a measure");
}

TEST(Choice, ANameOfTwoModelsAsksWhich) {
  std::vector<Declaration> declared = orders();
  declared.push_back(measure("revenue", "sum(net)"));
  declared.back().script = "finance/orders";
  const auto query = choose("sales/main.orders", declared, {.measures = {"revenue"}, .dimensions = {}});
  ASSERT_FALSE(query.has_value());
  EXPECT_EQ(query.error().front().code, Code::W2222);
  EXPECT_EQ(query.error().front().hint, "say which: orders:revenue or finance/orders:revenue");
  const auto said = choose("sales/main.orders", declared, {.measures = {"finance/orders:revenue"}, .dimensions = {}});
  ASSERT_TRUE(said.has_value());
  EXPECT_EQ(said->measures.front().expression, "sum(net)");
}

TEST(Choice, NothingWantedIsAnError) {
  const auto query = choose("sales/main.orders", orders(), {});
  ASSERT_FALSE(query.has_value());
  EXPECT_EQ(query.error().front().code, Code::W2224);
}

TEST(Choice, ARepeatedNameIsTakenOnce) {
  EXPECT_EQ(chosen({.measures = {"revenue, revenue", "revenue"}, .dimensions = {}}).measures.size(), 1u);
}

TEST(Predicate, OnlyOneExpressionMayFollowWhere) {
  auto database = duck::Database::open({.threads = 1});
  auto connection = (*database)->connect();
  EXPECT_TRUE(judge_predicate(*connection, "a > 1 OR b").has_value());
  for (const char* text : {"a > 1 GROUP BY b", "true; DROP TABLE x", "true -- x", "true) UNION (SELECT 1", ""}) {
    const auto judged = judge_predicate(*connection, text);
    ASSERT_FALSE(judged.has_value()) << text;
    EXPECT_EQ(judged.error().front().code, Code::W2226);
  }
}

TEST(Alias, TheOneThatTheScriptAttachesIsFoundInStatementsAlone) {
  const parse::Script parsed = script(
      "-- ATTACH 'ducklake://sales' AS no;\nATTACH 'ducklake://sales' AS \"my lake\"; ATTACH 'ducklake' AS m;\n"
      "SELECT 'ATTACH ''ducklake://crm'' AS c;'");
  EXPECT_EQ(attached_alias(parsed, "sales"), "my lake");
  EXPECT_EQ(attached_alias(parsed, "main"), "m");
  EXPECT_EQ(attached_alias(parsed, "crm"), std::nullopt);
}

TEST(Alias, TheFirstFreeOneIsChosen) {
  EXPECT_EQ(free_alias("sales", {}), "dl");
  EXPECT_EQ(free_alias("sales", {"DL"}), "sales");
  EXPECT_EQ(free_alias("sales", {"dl", "Sales"}), "dl2");
  EXPECT_EQ(free_alias("sales", {"dl", "sales", "dl2", "dl3"}), "dl4");
}

TEST(Append, TheLastStatementIsClosedFirst) {
  EXPECT_EQ(appended("-- it's a header\nSELECT 1 -- why\n", "SELECT 2;\n"),
            "-- it's a header\nSELECT 1; -- why\n\nSELECT 2;\n");
  EXPECT_EQ(appended("SELECT 1;", "SELECT 2;\n"), "SELECT 1;\n\nSELECT 2;\n");
  EXPECT_EQ(appended("# only a header\n", "SELECT 2;\n"), "# only a header\n\nSELECT 2;\n");
  EXPECT_EQ(appended("", "SELECT 2;\n"), "SELECT 2;\n");
}

TEST(TablePath, EverySpellingWithALakeIsOneKey) {
  for (const char* text :
       {"ducklake://sales/orders", "sales/orders", "sales/main.orders", "ducklake://sales/main.orders"})
    EXPECT_EQ(table_path_of(text), "sales/main.orders") << text;
  EXPECT_EQ(table_path_of("sales/analytics.orders"), "sales/analytics.orders");
  for (const char* text :
       {"orders", "main.orders", "", "sales/", "ducklake://sales", "datatable://crm/orders", "s3:///k"})
    EXPECT_EQ(table_path_of(text), std::nullopt) << text;
  EXPECT_EQ(table_key("Sales/Main.Orders"), "sales/main.orders");
  EXPECT_EQ(table_path(table_of("my-lake/analytics.daily_v2")), "my-lake/analytics.daily_v2");
}

TEST(TablePath, OnlyPlainAsciiIsSafe) {
  EXPECT_TRUE(is_safe_path("my-lake/analytics.daily_v2"));
  EXPECT_TRUE(is_safe_path(std::string(510, 'a')));
  for (const std::string& path :
       {std::string("dl';SELECT(1);--/main.t"), std::string("l/main.a b"), std::string("l/main.größe"),
        std::string("l/main.a\"b"), std::string("l/main.a;b"), std::string("l/main.a\nb"), std::string("l/main.a\\b"),
        std::string("l/main.a'b"), std::string("l/main.a*b"), std::string("l\0/main.a", 9), std::string(),
        std::string(511, 'a')})
    EXPECT_FALSE(is_safe_path(path)) << path;
}

TEST(TablePath, NamesCountCharacters) {
  std::string name;
  for (int i = 0; i < 255; ++i) name += "é";
  EXPECT_TRUE(is_name_short_enough(name));
  EXPECT_FALSE(is_name_short_enough(name + "e"));
}

}  // namespace
}  // namespace weir::metric
