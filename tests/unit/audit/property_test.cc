// Every built-in test over random rows, against counting by hand: NULL, NaN, ±0.0, infinities, empty texts, no rows.
#include <cmath>
#include <random>
#include <thread>

#include "bench.h"

namespace weir::audit {
namespace {

struct Row {
  std::optional<int> n;
  std::optional<double> real;
  std::optional<std::string> text;
  /// Hours since the row was written.
  std::optional<int> age;
};
using Rows = std::vector<Row>;
using Condition = std::function<bool(const Row&)>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// DuckDB's order: NaN is one value, above all others.
bool less(double a, double b) { return !std::isnan(a) && (std::isnan(b) || a < b); }
bool equal(double a, double b) { return !less(a, b) && !less(b, a); }

/// One declared test, and what it must say of rows.
struct Claim {
  weir::Test test;
  std::function<std::int64_t(const Rows&)> violations;
};

class Property : public Bench {
 protected:
  std::size_t below(std::size_t limit) { return generator_() % limit; }
  template <class T>
  std::optional<T> one_of(const std::vector<T>& values) {
    return below(5) == 0 ? std::nullopt : std::optional<T>(values[below(values.size())]);
  }

  Rows random_rows() {
    Rows rows(below(5) == 0 ? 0 : below(30));
    for (Row& row : rows) {
      row.n = one_of<int>({-1, 0, 1, 2, 3, 7});
      row.real = one_of<double>({kNan, kInfinity, -kInfinity, 0.0, -0.0, 1.5, 7});
      row.text = one_of<std::string>({"", "null", "a1", "a'b", "é"});
      row.age = one_of<int>({2, 40, 50});
    }
    return rows;
  }

  static std::string sql_of(const Rows& rows) {
    std::string sql =
        "SELECT * EXCLUDE (is_row) FROM (VALUES (0, NULL::INTEGER, NULL::DOUBLE, NULL::VARCHAR, NULL::TIMESTAMP)";
    for (const Row& row : rows) {
      sql += ", (1, " + (row.n ? std::to_string(*row.n) : "NULL") + ", ";
      sql += row.real ? "'" + (std::isnan(*row.real) ? "nan" : std::to_string(*row.real)) + "'::DOUBLE" : "NULL";
      sql += ", " + (row.text ? duck::Sql("{}", duck::Literal(*row.text)).text() : "NULL");
      sql += ", " + (row.age ? "now()::TIMESTAMP - to_hours(" + std::to_string(*row.age) + ")" : "NULL") + ")";
    }
    return sql + ") t(is_row, n, \"real\", text, written) WHERE is_row = 1";
  }

  static Claim rows_that(weir::Test test, Condition violates) {
    return {std::move(test), [violates = std::move(violates)](const Rows& rows) {
              return std::count_if(rows.begin(), rows.end(), violates);
            }};
  }

  /// Values that several rows share; a row without one is left out.
  static Claim repeated(weir::Test test, const std::function<std::optional<std::string>(const Row&)>& value_of) {
    return {std::move(test), [value_of](const Rows& rows) {
              std::map<std::string, int> counts;
              for (const Row& row : rows)
                if (const auto value = value_of(row)) ++counts[*value];
              return std::count_if(counts.begin(), counts.end(), [](const auto& one) { return one.second > 1; });
            }};
  }

  std::vector<Claim> claims(const Rows& parents) {
    std::vector<Claim> all;
    all.push_back(repeated(test(TestKind::Unique, {"n"}), [](const Row& row) {
      return row.n ? std::optional(std::to_string(*row.n)) : std::nullopt;
    }));
    all.push_back(repeated(test(TestKind::Unique, {"real"}), [](const Row& row) -> std::optional<std::string> {
      if (!row.real) return std::nullopt;
      return std::isnan(*row.real) ? "nan" : std::to_string(*row.real + 0.0);
    }));
    all.push_back(repeated(test(TestKind::Unique, {"text", "n"}), [](const Row& row) {
      return row.n && row.text ? std::optional(std::to_string(*row.n) + *row.text) : std::nullopt;
    }));
    all.push_back(rows_that(test(TestKind::NotNull, {"text"}), [](const Row& row) { return !row.text; }));
    all.push_back(
        rows_that(test(TestKind::NotNull, {"n", "real"}), [](const Row& row) { return !row.n || !row.real; }));
    auto accepted = test(TestKind::AcceptedValues, {"text"});
    accepted.values = {"", "null", "a'b"};
    all.push_back(rows_that(accepted, [](const Row& row) { return row.text == "a1" || row.text == "é"; }));
    accepted = test(TestKind::AcceptedValues, {"real"});
    accepted.values = {"nan", "0", "1.50"};
    all.push_back(rows_that(accepted, [](const Row& row) {
      return row.real && !std::isnan(*row.real) && *row.real != 0 && *row.real != 1.5;
    }));
    auto related = test(TestKind::Relationships, {"real"});
    related.reference = parse_asset("ducklake://main/parents");
    related.reference_column = "real";
    all.push_back(rows_that(related, [parents](const Row& row) {
      return row.real && std::none_of(parents.begin(), parents.end(),
                                      [&](const Row& parent) { return parent.real && equal(*parent.real, *row.real); });
    }));
    auto range = test(TestKind::Range, {"real"});
    range.minimum = "0";
    range.maximum = "2";
    all.push_back(
        rows_that(range, [](const Row& row) { return row.real && (less(*row.real, 0) || less(2, *row.real)); }));
    range.maximum.reset();
    all.push_back(rows_that(range, [](const Row& row) { return row.real && less(*row.real, 0); }));
    auto pattern = test(TestKind::Pattern, {"text"});
    pattern.text = "^(a.*)?$";
    all.push_back(rows_that(pattern, [](const Row& row) { return row.text == "null" || row.text == "é"; }));
    auto holds = test(TestKind::Expression);
    holds.text = "n >= \"real\"";
    all.push_back(rows_that(holds, [](const Row& row) { return row.n && row.real && less(*row.n, *row.real); }));
    auto fresh = test(TestKind::Freshness, {"written"});
    fresh.text = "1d";
    all.push_back({fresh, [](const Rows& rows) {
                     return std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.age == 2; }) ? 0 : 1;
                   }});
    auto count = test(TestKind::RowCount);
    count.minimum = "5";
    count.maximum = "20";
    all.push_back({count, [](const Rows& rows) { return rows.size() < 5 || rows.size() > 20 ? 1 : 0; }});
    auto query = test(TestKind::Sql);
    query.text = "SELECT * FROM _wm_target.orders WHERE n = 1 OR text IS NULL";
    all.push_back(rows_that(query, [](const Row& row) { return row.n == 1 || !row.text; }));
    return all;
  }

 private:
  std::mt19937 generator_{4711};
};

TEST_F(Property, EveryBuiltInTestCountsWhatCountingByHandFinds) {
  const std::vector<std::pair<std::string, Condition>> scopes = {
      {"", [](const Row&) { return true; }},
      {"n > 0", [](const Row& row) { return row.n.value_or(0) > 0; }},
      {"text <> '' OR \"real\" IS NULL", [](const Row& row) { return (row.text && *row.text != "") || !row.real; }}};
  for (int round = 0; round < 25; ++round) {
    const Rows parents = random_rows();
    table(sql_of(parents));
    ASSERT_TRUE(clean_->execute(duck::Sql("CREATE OR REPLACE TABLE parents AS FROM orders")));
    const Rows rows = random_rows();
    table(sql_of(rows));
    std::vector<Claim> made = claims(parents);
    std::vector<weir::Test> tests;
    std::vector<std::int64_t> expected;
    std::vector<std::int64_t> tolerated;
    for (Claim& claim : made) {
      const auto& [where, is_in_scope] = scopes[below(scopes.size())];
      claim.test.where = where;
      Rows seen;
      std::copy_if(rows.begin(), rows.end(), std::back_inserter(seen), is_in_scope);
      expected.push_back(claim.violations(seen));
      claim.test.tolerated_rows = static_cast<std::int64_t>(below(3));
      tolerated.push_back(claim.test.tolerated_rows);
      if (claim.test.kind != TestKind::Sql && below(3) == 0) {
        claim.test.tolerated_share = 0.25;
        tolerated.back() = static_cast<std::int64_t>(seen.size()) / 4;
      }
      tests.push_back(claim.test);
    }
    const auto got = verdicts(tests);
    ASSERT_EQ(got.size(), made.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      SCOPED_TRACE("round " + std::to_string(round) + ", test " + std::to_string(i) + " where " + tests[i].where);
      EXPECT_EQ(got[i].violating, expected[i]) << got[i].error;
      EXPECT_EQ(got[i].status, expected[i] > tolerated[i] ? Verdict::Status::Failed : Verdict::Status::Passed);
    }
  }
}

TEST_F(Property, AnInterruptEndsTheAudit) {
  ASSERT_TRUE(clean_->execute(duck::Sql("CREATE VIEW orders AS SELECT i AS v FROM range(20000000000) t(i)")));
  auto holds = test(TestKind::Expression);
  holds.text = "v >= 0";
  model_.tests = {holds};
  std::jthread interrupts([this](const std::stop_token& stop) {
    // Not while the test is still being bound: the scan itself takes far longer than this.
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    while (!stop.stop_requested()) {
      clean_->interrupt();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  const AuditRequest request{.model = model_,
                             .slice = slice_,
                             .table = slice_,
                             .columns = {{.name = "v", .type = "BIGINT"}},
                             .partition = {},
                             .resolve = {},
                             .setup = {}};
  const auto got = audit(
      *clean_, [this]() -> Result<duck::Connection> { return *database_->connect(); }, request);
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().front().code, Code::W5003);
}

TEST_F(Property, AnInterruptWhileATestIsBoundEndsTheAuditToo) {
  ASSERT_TRUE(clean_->execute(duck::Sql("CREATE VIEW orders AS SELECT i AS v FROM range(10) t(i)")));
  auto asks = test(TestKind::Sql);
  asks.text = "SELECT * FROM _wm_target.orders";
  model_.tests = {asks};
  std::atomic<bool> stop{false};
  AuditRequest request{.model = model_,
                       .slice = slice_,
                       .table = slice_,
                       .columns = {{.name = "v", .type = "BIGINT"}},
                       .partition = {},
                       .resolve = {},
                       .setup = {},
                       .stop = &stop};
  // Somebody asks to stop between the connection and the binding of the test, which then fails.
  const auto connect = [this, &stop]() -> Result<duck::Connection> {
    stop.store(true);
    return fail(Diagnostic{.code = Code::W7010, .message = "interrupted"});
  };
  const auto got = audit(*clean_, connect, request);
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().front().code, Code::W5003);
}

}  // namespace
}  // namespace weir::audit
