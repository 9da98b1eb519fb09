#include "lsp/outline.h"

#include <gtest/gtest.h>

namespace weir::lsp {
namespace {

Outline outline_of(const std::string& sql) { return {sql, text::lex(sql)}; }

// "name(alias) name" of what each arm of a block reads.
std::string reads(const Outline& outline, std::size_t block) {
  std::string all;
  for (const Arm& arm : outline.blocks()[block].arms) {
    for (const ReadItem& item : arm.reads) {
      std::string name;
      for (const std::string& part : item.parts) name += (name.empty() ? "" : ".") + part;
      all += (all.empty() ? "" : " ") + name + "(" + item.name + ")";
    }
    all += ";";
  }
  return all;
}

std::string columns(const Outline& outline, std::size_t block) {
  std::string all;
  for (const SelectItem& item : outline.blocks()[block].arms.front().items)
    all += (all.empty() ? "" : " ") + (item.is_star ? item.star_of + "*" : item.name.empty() ? "?" : item.name);
  return all;
}

TEST(Outline, FromClausesOfEveryForm) {
  const auto read = [](const std::string& sql) { return reads(outline_of(sql), 0); };
  EXPECT_EQ(read("SELECT 1 FROM a, b.c AS d JOIN \"E f\" USING (x)"), "a(a) b.c(d) E f(E f);");
  EXPECT_EQ(read("FROM a LEFT JOIN b ON a.x = b.x WHERE x IS DISTINCT FROM y"), "a(a) b(b);");
  EXPECT_EQ(read("SELECT extract(year FROM d) FROM a NATURAL JOIN b ASOF JOIN c ON true"), "a(a) b(b) c(c);");
  EXPECT_EQ(read("SELECT 1 FROM (a JOIN b USING (x)) JOIN c USING (x)"), "a(a) b(b) c(c);");
  EXPECT_EQ(read("SELECT 1 FROM t: a, f(x) AS g, 'x.csv' AS h"), "a(t) (g) (h);");
  EXPECT_EQ(read("SELECT 1 FROM a AT (VERSION => 3) b, LATERAL (SELECT 1) c"), "a(b) (c);");
  EXPECT_EQ(read("PIVOT a ON x USING sum(y)"), "a(a);");
  EXPECT_EQ(read("SELECT 1 FROM a UNION ALL BY NAME SELECT 2 FROM b EXCEPT SELECT 3 FROM c"), "a(a); b(b); c(c);");
  EXPECT_EQ(read("CREATE TEMP TABLE t AS SELECT 1 FROM a"), "a(a);");
}

TEST(Outline, TextsThatBreakOffStillReadWhatTheyRead) {
  const auto read = [](const std::string& sql) { return reads(outline_of(sql), 0); };
  EXPECT_EQ(read("SELECT o. FROM orders o"), "orders(o);");
  EXPECT_EQ(read("SELECT o.x, FROM orders o WHERE o."), "orders(o);");
  EXPECT_EQ(read("SELECT sum(o. FROM orders o"), ";");  // within the parenthesis there is no query
  EXPECT_EQ(read("SELECT FROM"), ";");
  EXPECT_EQ(read("SELECT * FROM a JOIN"), "a(a);");
  EXPECT_EQ(read("SELECT * FROM a WHERE x IN (SELECT"), "a(a);");
}

TEST(Outline, NamesOfASelectList) {
  const auto named = [](const std::string& sql) { return columns(outline_of(sql), 0); };
  EXPECT_EQ(named("SELECT a, b.c, d AS e, f g, h: i, 1 + 1, count(*) n, x.*, * EXCLUDE (q, r)"), "a c e g h ? n x* *");
  EXPECT_EQ(named("SELECT DISTINCT ON (a) b, CASE WHEN c THEN d END, 'x' AS y"), "b ? y");
  EXPECT_EQ(named("SELECT a, * EXCEPT (b) FROM t"), "a *");
}

TEST(Outline, QueriesLieWithinQueries) {
  const std::string sql =
      "WITH a AS (SELECT 1 AS x), b(y) AS MATERIALIZED (FROM a) SELECT (SELECT max(x) FROM a) FROM b";
  const Outline outline = outline_of(sql);
  ASSERT_EQ(outline.blocks().size(), 4U);
  const auto& tables = outline.blocks()[0].tables;
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[1].columns, (std::vector<std::string>{"y"}));
  EXPECT_EQ(reads(outline, tables[1].block), "a(a);");
  const auto inner = static_cast<std::uint32_t>(sql.find("max"));
  EXPECT_EQ(outline.blocks()[outline.block_at(inner)].parent, 0U);
  EXPECT_EQ(reads(outline, outline.block_at(inner)), "a(a);");
}

TEST(Outline, AnyBytesGiveSomeOutline) {
  const std::string pieces = "()[]{}.,;'\"$-/* SELECT FROM WITH AS a ( JOIN UNION EXCEPT CREATE MACRO TABLE ";
  unsigned state = 7;
  for (int round = 0; round < 2000; ++round) {
    std::string sql;
    for (int i = 0; i < 40; ++i) {
      state = state * 1103515245U + 12345U;
      const auto at = (state >> 8U) % pieces.size();
      sql += pieces.substr(at, 1 + (state >> 20U) % 8);
    }
    const Outline outline = outline_of(sql);
    for (const Block& block : outline.blocks())
      for (const Arm& arm : block.arms) EXPECT_LE(arm.span.begin, sql.size());
  }
  EXPECT_NO_FATAL_FAILURE(outline_of("SELECT " + std::string(100000, '(')));
  EXPECT_NO_FATAL_FAILURE(outline_of("SELECT 1 FROM " + std::string(100000, '(') + "SELECT"));
}

}  // namespace
}  // namespace weir::lsp
