// Queries that give many partitions at once, and queries that do not: the first are compared row by row with what each
// partition gives alone, over random rows with NULLs, partitions without rows and rows without a time.
#include "plan/many_partitions.h"

#include <gtest/gtest.h>

#include <random>

namespace weir::plan {
namespace {

const std::vector<std::string> kDays{"2026-02-28", "2026-03-01", "2026-03-02", "2026-03-08", "2027-01-01"};

class Many : public testing::Test {
 protected:
  static duck::Connection& link() {
    // Never destroyed: at the end of the process DuckDB's own thread state is gone before statics are.
    static auto* const database = new std::shared_ptr<duck::Database>(*duck::Database::open({.threads = 1}));
    static auto* const connection = new duck::Connection(*(*database)->connect());
    return *connection;
  }
  static void make(unsigned seed) {
    std::mt19937 random(seed);
    const auto number = [&random](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
    run("CREATE OR REPLACE TEMP MACRO wm_partition(ts) AS strftime(ts, '%Y-%m-%d')");
    run("CREATE OR REPLACE TABLE orders (id INTEGER, customer INTEGER, amount INTEGER, note VARCHAR, ts TIMESTAMP, "
        "tags VARCHAR[])");
    run("CREATE OR REPLACE TABLE customers AS SELECT i AS id, 'n' || i AS name, i % 3 AS grade FROM range(6) t(i)");
    std::string rows;
    for (int i = 0; i < 60; ++i) {
      // Of the days one has no row.
      const std::string day =
          number(9) == 0 ? "NULL" : "TIMESTAMP '" + kDays[number(4)] + " 0" + std::to_string(number(9)) + ":30:00'";
      const auto or_null = [&](const std::string& value) { return number(5) == 0 ? "NULL" : value; };
      rows += (i == 0 ? "(" : ", (") + std::to_string(i) + ", " + or_null(std::to_string(number(8))) + ", " +
              or_null(std::to_string(number(20))) + ", " + or_null(number(2) == 0 ? "'a'" : "''") + ", " + day + ", " +
              or_null("['x', NULL, 'y'][: " + std::to_string(number(4)) + "]") + ")";
    }
    run("INSERT INTO orders VALUES " + rows);
  }
  static void run(const std::string& sql) {
    const auto done = link().execute(duck::Sql::verbatim(sql));
    ASSERT_TRUE(done.has_value()) << sql << "\n" << done.error().message;
  }
  static std::string with(std::string sql, const std::string& partition) {
    const std::string token = "{partition}";
    for (auto at = sql.find(token); at != std::string::npos; at = sql.find(token, at))
      sql.replace(at, token.size(), duck::quote_text(partition));
    return sql;
  }
  static ManyQuery judged(const std::string& sql, const PartitionNames& names = days()) {
    return many_query(link(), parse::Spliced::generated(duck::Sql::verbatim(with(sql, std::string(kAnyPartition)))), {},
                      names);
  }
  static PartitionNames days() {
    return {.names = kDays, .are_dates = true, .begin = "2026-02-28 00:00:00", .end = "2027-01-02 00:00:00"};
  }
  /// Rows that one of the two has and the other lacks, of all partitions.
  static std::int64_t differences(const std::string& alone, const std::string& all,
                                  const std::vector<std::string>& partitions) {
    std::string sql = "WITH many AS (" + all + ") SELECT sum(n) FROM (SELECT 0 AS n";
    for (const std::string& partition : partitions) {
      const std::string mine =
          "SELECT * EXCLUDE (partition_of_row) FROM many WHERE partition_of_row = " + duck::quote_text(partition);
      const std::string one = "SELECT * FROM (" + with(alone, partition) + ")";
      sql += " UNION ALL SELECT count(*) FROM ((" + one + " EXCEPT ALL " + mine + ") UNION ALL (" + mine +
             " EXCEPT ALL " + one + "))";
    }
    const auto rows = link().query(duck::Sql::verbatim(sql + ")"));
    if (rows) return rows->integer(0, 0);
    ADD_FAILURE() << rows.error().message << " in " << all;
    return -1;
  }
};

TEST_F(Many, WhatOneQueryGivesIsWhatEachPartitionGivesAlone) {
  const std::vector<std::string> shapes{
      "SELECT id, amount FROM orders WHERE wm_partition(ts) = {partition}",
      "SELECT * FROM orders AS o WHERE {partition} = wm_partition(o.ts) AND amount > 3",
      "SELECT o.* EXCLUDE (note), upper(note) AS loud FROM orders o WHERE CAST(ts AS DATE) = {partition}",
      "SELECT customer, sum(amount) AS total, count(*) FROM orders WHERE wm_partition(ts) = {partition} GROUP BY "
      "customer",
      "SELECT customer, note, max(amount) AS most FROM orders WHERE wm_partition(ts) = {partition} GROUP BY ALL",
      "SELECT customer, count(DISTINCT note) AS notes FROM orders WHERE ts::DATE = {partition} GROUP BY 1 HAVING "
      "count(*) "
      "> 1 ORDER BY 2 DESC",
      "SELECT DISTINCT customer, note FROM orders WHERE wm_partition(ts) = {partition}",
      "SELECT o.id, c.name FROM orders o JOIN customers c ON o.customer = c.id WHERE wm_partition(o.ts) = {partition}",
      "SELECT o.id, c.* FROM orders o LEFT JOIN customers c ON o.customer = c.id AND c.grade = 1 WHERE "
      "wm_partition(o.ts) "
      "= {partition}",
      "SELECT c.id, count(o.id) AS orders FROM customers c LEFT JOIN orders o ON o.customer = c.id WHERE "
      "wm_partition(o.ts) = {partition} GROUP BY c.id",
      "WITH mine AS (SELECT * FROM orders WHERE wm_partition(ts) = {partition}), paid AS (SELECT id, customer, amount "
      "FROM mine WHERE amount > 2) SELECT * FROM paid LEFT JOIN customers ON customers.id = paid.customer",
      "WITH mine AS (SELECT customer, sum(amount) AS total FROM orders WHERE wm_partition(ts) = {partition} GROUP BY "
      "1) "
      "SELECT grade, count(*) AS n, sum(total) AS total FROM mine JOIN customers ON id = customer GROUP BY grade",
      "SELECT * FROM (SELECT id, unnest(tags) AS tag FROM orders WHERE wm_partition(ts) = {partition}) t WHERE tag <> "
      "'y'",
      "SELECT o.id, u.tag FROM orders o, unnest(o.tags) AS u(tag) WHERE wm_partition(o.ts) = {partition}",
      "SELECT id, row_number() OVER (PARTITION BY customer ORDER BY amount, id) AS place FROM orders WHERE "
      "wm_partition(ts) = {partition}",
      "SELECT id, sum(amount) OVER () AS of_day, lag(id) OVER (ORDER BY id) AS before FROM orders WHERE "
      "wm_partition(ts) = "
      "{partition}",
      "SELECT * FROM orders WHERE wm_partition(ts) = {partition} QUALIFY row_number() OVER (PARTITION BY customer "
      "ORDER BY "
      "amount DESC, id) = 1",
      "SELECT x.*, rank() OVER (ORDER BY x.total DESC) AS place FROM (SELECT customer, sum(amount) AS total FROM "
      "orders "
      "WHERE wm_partition(ts) = {partition} GROUP BY 1) x",
      "SELECT customer, string_agg(note, ',' ORDER BY id) AS notes FROM orders WHERE wm_partition(ts) = {partition} "
      "GROUP "
      "BY 1",
      "SELECT id FROM orders WHERE note = {partition}",
      "SELECT id FROM orders WHERE strftime(ts, '%Y') || '-03-01' = {partition}",
      "SELECT id, (SELECT max(grade) FROM customers c WHERE c.id = customer) AS grade FROM orders WHERE "
      "wm_partition(ts) = "
      "{partition} AND customer IN (SELECT id FROM customers)",
      "SELECT date_trunc('day', ts) AS ts, count(*) AS n FROM orders WHERE wm_partition(ts) = {partition} GROUP BY 1",
      "SELECT id, name FROM customers NATURAL JOIN (SELECT customer AS id, amount FROM orders WHERE wm_partition(ts) = "
      "{partition}) AS mine",
  };
  for (const unsigned seed : {1U, 2U}) {
    make(seed);
    for (const std::string& shape : shapes) {
      SCOPED_TRACE(shape);
      const ManyQuery many = judged(shape);
      ASSERT_FALSE(many.sql.empty()) << many.why;
      EXPECT_EQ(differences(shape, many.sql.text(), kDays), 0) << many.sql.text();
    }
  }
}

TEST_F(Many, ValuesOfAnyKindNamePartitions) {
  make(3);
  const std::vector<std::string> values{"a", "", "it's", "c"};
  for (const std::string shape : {"SELECT id FROM orders WHERE note = {partition}",
                                  "SELECT customer, count(*) AS n FROM orders WHERE {partition} = note GROUP BY 1"}) {
    const ManyQuery many = judged(shape, {.names = values});
    EXPECT_EQ(differences(shape, many.sql.text(), values), 0) << many.sql.text();
  }
}

TEST_F(Many, AnythingElseIsRefusedInWords) {
  make(1);
  const std::vector<std::pair<std::string, std::string>> shapes{
      {"SELECT id FROM orders", "its query does not name the partition"},
      {"SELECT id, {partition} AS day FROM orders WHERE wm_partition(ts) = {partition}",
       "its query names the partition more than once"},
      {"SELECT id, {partition} AS day FROM orders", "the partition stands outside of WHERE"},
      {"SELECT id FROM orders WHERE wm_partition(ts) <= {partition}",
       "the partition stands in no condition <expression> = {partition}"},
      {"SELECT id FROM orders WHERE wm_partition(ts) = {partition} OR amount > 3",
       "the partition stands in no condition <expression> = {partition}"},
      {"SELECT id FROM orders WHERE wm_partition(ts) = 'a' || {partition}",
       "the partition stands in no condition <expression> = {partition}"},
      {"SELECT sum(amount) AS total FROM orders WHERE wm_partition(ts) = {partition}",
       "an aggregate without keys has a row for an empty partition too"},
      {"SELECT count(*) AS n FROM orders WHERE wm_partition(ts) = {partition} GROUP BY ALL",
       "an aggregate without keys has a row for an empty partition too"},
      {"SELECT customer, count(*) AS n FROM orders WHERE wm_partition(ts) = {partition} GROUP BY ROLLUP (customer)",
       "it has grouping sets"},
      {"SELECT id FROM orders WHERE wm_partition(ts) = {partition} ORDER BY amount LIMIT 3", "it has a LIMIT"},
      {"SELECT id FROM orders WHERE wm_partition(ts) = {partition} USING SAMPLE 10%", "it takes a sample"},
      {"SELECT DISTINCT ON (customer) id FROM orders WHERE wm_partition(ts) = {partition} ORDER BY amount",
       "it has a DISTINCT ON"},
      {"SELECT id FROM orders WHERE wm_partition(ts) = {partition} UNION ALL SELECT 1",
       "the partition stands below a set operation"},
      {"SELECT c.id FROM customers c LEFT JOIN (SELECT * FROM orders WHERE wm_partition(ts) = {partition}) o ON "
       "o.customer "
       "= c.id",
       "the partition stands below a join that is neither inner nor a left join from its side"},
      {"SELECT c.id FROM (SELECT * FROM orders WHERE wm_partition(ts) = {partition}) o FULL JOIN customers c ON "
       "o.customer "
       "= c.id",
       "the partition stands below a join that is neither inner nor a left join from its side"},
      {"WITH d AS (SELECT * FROM orders WHERE wm_partition(ts) = {partition}) SELECT a.id FROM d a JOIN d b ON a.id = "
       "b.id",
       "rows of the partition are joined with each other"},
      {"WITH d AS (SELECT * FROM orders WHERE wm_partition(ts) = {partition}) SELECT id, (SELECT count(*) FROM d) AS n "
       "FROM d",
       "a subquery of an expression reads the partition"},
      {"SELECT id FROM customers WHERE id IN (SELECT customer FROM orders WHERE wm_partition(ts) = {partition})",
       "a subquery of an expression reads the partition"},
      {"SELECT id, random() AS r FROM orders WHERE wm_partition(ts) = {partition}",
       "it calls random, whose result may change"},
      {"SELECT customer, list(id) AS ids FROM orders WHERE wm_partition(ts) = {partition} GROUP BY 1",
       "the result of list depends on the order of the rows"},
      {"SELECT id, row_number() OVER () AS n FROM orders WHERE wm_partition(ts) = {partition}",
       "the result of row_number depends on the order of the rows"},
      {"SELECT id, rank() OVER (ORDER BY id) FROM orders WHERE wm_partition(ts) = {partition}",
       "a window function has no name (AS)"},
      {"SELECT t FROM (SELECT * FROM orders WHERE wm_partition(ts) = {partition}) t", "it uses t as a value"},
      {"SELECT COLUMNS('i.*') FROM orders WHERE wm_partition(ts) = {partition}", "it uses COLUMNS"},
      {"SELECT #1 AS a FROM orders WHERE wm_partition(ts) = {partition}", "it names columns by their place"},
      {"SELECT id, mine(amount) AS m FROM orders WHERE wm_partition(ts) = {partition}", "it calls the macro mine"},
      {"SELECT x.b FROM (SELECT id, amount FROM orders WHERE wm_partition(ts) = {partition}) x(a, b)",
       "an alias renames columns"},
      {"SELECT id AS partition_of_row FROM orders WHERE wm_partition(ts) = {partition}",
       "it has a column partition_of_row"},
  };
  for (const auto& [shape, why] : shapes) {
    const ManyQuery many = judged(shape);
    EXPECT_TRUE(many.sql.empty()) << shape << "\n" << many.sql.text();
    EXPECT_EQ(many.why, why) << shape;
  }
  // Alone each of them is an error: 2026-07 is no date.
  EXPECT_EQ(judged("SELECT id FROM orders WHERE CAST(ts AS DATE) = {partition}", {.names = {"2026-07"}}).why,
            "a date is compared with the name of a partition that is none");
}

}  // namespace
}  // namespace weir::plan
