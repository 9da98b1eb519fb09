// Composed queries over random rows against the same numbers counted by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "metric/compose.h"

namespace weir::metric {
namespace {

using Number = std::optional<std::int64_t>;
using Truth = std::optional<bool>;

struct Item {
  std::optional<std::string> g;
  std::int64_t k = 0;
  Number x;
  Truth f;
};

Truth negated(Truth a) { return a ? Truth(!*a) : std::nullopt; }
Truth either(Truth a, Truth b) {
  if ((a && *a) || (b && *b)) return true;
  return a && b ? Truth(false) : std::nullopt;
}

struct Filter {
  const char* sql;
  Truth (*holds)(const Item&);
};
const std::vector<Filter> kFilters = {
    {"", [](const Item&) { return Truth(true); }},
    {"f", [](const Item& i) { return i.f; }},
    {"not f", [](const Item& i) { return negated(i.f); }},
    {"x > 3", [](const Item& i) { return i.x ? Truth(*i.x > 3) : std::nullopt; }},
    {"g = 'a' OR f", [](const Item& i) { return either(i.g ? Truth(*i.g == "a") : std::nullopt, i.f); }},
};

struct Aggregate {
  const char* sql;
  Number (*of)(const std::vector<Item>&);
};
const std::vector<Aggregate> kAggregates = {
    {"count(*)", [](const std::vector<Item>& items) { return Number(std::ssize(items)); }},
    {"sum(x)",
     [](const std::vector<Item>& items) {
       Number sum;
       for (const Item& i : items)
         if (i.x) sum = sum.value_or(0) + *i.x;
       return sum;
     }},
    {"max(x)",
     [](const std::vector<Item>& items) {
       Number most;
       for (const Item& i : items)
         if (i.x && (!most || *i.x > *most)) most = i.x;
       return most;
     }},
    {"count(DISTINCT x)",
     [](const std::vector<Item>& items) {
       std::set<std::int64_t> seen;
       for (const Item& i : items)
         if (i.x) seen.insert(*i.x);
       return Number(std::ssize(seen));
     }},
};

struct Dimension {
  const char* sql;
  std::string (*of)(const Item&);
};
const std::vector<Dimension> kDimensions = {
    {"g", [](const Item& i) { return i.g.value_or("NULL"); }},
    {"k % 3", [](const Item& i) { return std::to_string(i.k % 3); }},
    {"f", [](const Item& i) { return i.f ? std::string(*i.f ? "true" : "false") : "NULL"; }},
};

// Some are columns of the table, some hold quotes: names of ours must neither hide columns nor end early.
const std::vector<std::string> kNames = {"x", "f", "g", "k", "total", "a \"quoted\" name", "größe", "select", "n'"};

duck::Sql item_sql(const Item& item) {
  const duck::Literal g = item.g ? duck::Literal(std::string_view(*item.g)) : duck::Literal::null();
  const duck::Literal x = item.x ? duck::Literal(*item.x) : duck::Literal::null();
  const duck::Literal f = item.f ? duck::Literal(*item.f) : duck::Literal::null();
  return duck::Sql("({}, {}, {}, {})", g, item.k, x, f);
}

std::multiset<std::string> rows_of(duck::Connection& connection, const std::string& sql) {
  const auto rows = connection.query(duck::Sql::verbatim(sql));
  EXPECT_TRUE(rows.has_value()) << (rows ? "" : rows.error().message) << "\n" << sql;
  std::multiset<std::string> all;
  for (std::size_t row = 0; rows && row < rows->size(); ++row) {
    std::string line;
    for (std::size_t column = 0; column < rows->columns().size(); ++column)
      line += rows->maybe_text(row, column).value_or("NULL") + "|";
    all.insert(line);
  }
  return all;
}

TEST(ComposerProperty, AQueryGivesWhatCountingByHandGives) {
  auto database = duck::Database::open({.threads = 1});
  auto connection = (*database)->connect();
  ASSERT_TRUE(connection->execute("ATTACH ':memory:' AS dl").has_value());
  std::mt19937 random(20260705);  // NOLINT: the same cases every time
  const auto pick = [&random](std::size_t below) { return random() % below; };
  for (int round = 0; round < 60; ++round) {
    std::vector<Item> items;
    std::vector<duck::Sql> values;
    for (std::size_t left = 1 + pick(40); left > 0; --left) {
      Item item;
      if (pick(4) != 0) item.g = std::string(1, static_cast<char>('a' + pick(3)));
      item.k = static_cast<std::int64_t>(pick(7));
      if (pick(4) != 0) item.x = static_cast<std::int64_t>(pick(8));
      if (pick(4) != 0) item.f = pick(2) == 0;
      values.push_back(item_sql(item));
      items.push_back(std::move(item));
    }
    ASSERT_TRUE(
        connection
            ->execute(duck::Sql("CREATE OR REPLACE TABLE dl.main.t AS SELECT CAST(g AS VARCHAR) AS g, k, CAST(x "
                                "AS BIGINT) AS x, CAST(f AS BOOLEAN) AS f FROM (VALUES {}) v(g, k, x, f)",
                                duck::Sql::join(values, ", ")))
            .has_value());
    std::vector<std::string> names = kNames;
    std::shuffle(names.begin(), names.end(), random);
    std::vector<Declaration> declared;
    std::vector<const Dimension*> dimensions;
    std::vector<std::pair<const Aggregate*, const Filter*>> measures;
    Wanted wanted;
    for (std::size_t count = pick(3); count > 0; --count) {
      dimensions.push_back(&kDimensions[pick(kDimensions.size())]);
      declared.push_back({"m", "lake/main.t", false, names.back(), dimensions.back()->sql, "", "", "", ""});
      wanted.dimensions.push_back(names.back());
      names.pop_back();
    }
    for (std::size_t count = 1 + pick(3); count > 0; --count) {
      measures.emplace_back(&kAggregates[pick(kAggregates.size())], &kFilters[pick(kFilters.size())]);
      declared.push_back({"m", "lake/main.t", true, names.back(), measures.back().first->sql,
                          measures.back().second->sql, "", "", ""});
      wanted.measures.push_back(names.back());
      names.pop_back();
    }
    const Filter& where = kFilters[pick(kFilters.size())];
    auto query = choose("lake/main.t", declared, wanted);
    ASSERT_TRUE(query.has_value());
    query->attach = false;
    query->where = where.sql;

    std::map<std::string, std::vector<Item>> groups;
    if (dimensions.empty()) groups[""];  // one row even of nothing
    for (const Item& item : items) {
      if (where.holds(item) != Truth(true)) continue;
      std::string group;
      for (const Dimension* one : dimensions) group += one->of(item) + "|";
      groups[group].push_back(item);
    }
    std::multiset<std::string> expected;
    for (const auto& [group, members] : groups) {
      std::string line = group;
      for (const auto& [aggregate, filter] : measures) {
        std::vector<Item> counted;
        for (const Item& item : members)
          if (filter->holds(item) == Truth(true)) counted.push_back(item);
        const Number value = aggregate->of(counted);
        line += (value ? std::to_string(*value) : "NULL") + "|";
      }
      expected.insert(line);
    }
    const std::string sql = compose(*query);
    EXPECT_EQ(rows_of(*connection, sql), expected) << sql;
    const auto statements = connection->count_statements(duck::Sql::verbatim(sql));
    EXPECT_TRUE(statements.has_value() && *statements == 1u) << sql;
  }
}

}  // namespace
}  // namespace weir::metric
