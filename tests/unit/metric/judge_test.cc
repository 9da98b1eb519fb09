#include "metric/judge.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "project/judge.h"

namespace weir::metric {
namespace {

class Parser : public ParserProvider {
 public:
  Parser() {
    auto database = duck::Database::open({.threads = 1});
    connection_.emplace(std::move(*(*database)->connect()));
  }
  duck::Outcome<duck::Connection*> connection() override {
    ++asked;
    return &*connection_;
  }
  int asked = 0;

 private:
  std::optional<duck::Connection> connection_;
};

class Judged : public ::testing::Test {
 protected:
  Judged() {
    std::string folder = std::filesystem::temp_directory_path() / "weir-metric-XXXXXX";
    root_ = mkdtemp(folder.data());
  }
  ~Judged() override { std::filesystem::remove_all(root_); }

  Project project(const std::string& text) {
    Project made;
    made.config.root = root_;
    made.config.lakes.push_back({.name = "main"});
    made.config.lakes.push_back({.name = "dl';SELECT(1);--"});
    auto source = std::make_shared<Source>(Source{"models/orders.sql", text, "1"});
    made.models.push_back(judge_file(source, "orders", made.config).model);
    return made;
  }
  /// "code at `text`" of every finding.
  static std::string shown(const Diagnostics& found, const std::string& text) {
    std::string all;
    for (const Diagnostic& one : found)
      all += std::string(name_of(one.code)) + " `" + text.substr(one.span.begin, one.span.size()) + "`\n";
    return all;
  }
  std::string errors(const std::string& lines) {
    const std::string text = "-- materialize ducklake://main/orders\n" + lines + "SELECT 1";
    Project made = project(text);
    EXPECT_TRUE(judge(made, parser_).has_value());
    EXPECT_EQ(made.models.empty(), has_errors(made.diagnostics));
    return shown(made.diagnostics, text);
  }
  std::string warnings(const std::string& lines, const KnownTable& table) {
    const std::string text = "-- materialize ducklake://main/orders\n" + lines + "SELECT 1";
    Project made = project(text);
    EXPECT_TRUE(judge(made, parser_).has_value());
    EXPECT_TRUE(made.diagnostics.empty()) << shown(made.diagnostics, text);
    auto found = bound_warnings(**parser_.connection(), made.models.front(), table);
    EXPECT_TRUE(found.has_value()) << (found ? "" : found.error().front().message);
    if (!found) return "failed";
    last_ = *found;
    return shown(*found, text);
  }

  std::string root_;
  Parser parser_;
  Diagnostics last_;
  const KnownTable orders_{{{"id", "INTEGER"},
                            {"amount", "DECIMAL(10,2)"},
                            {"is_refund", "BOOLEAN"},
                            {"region", "VARCHAR"},
                            {"ordered_at", "TIMESTAMP"},
                            {"tags", "VARCHAR[]"},
                            {"address", "STRUCT(city VARCHAR)"}},
                           3,
                           "2026-07-05T08:00:00Z"};
};

TEST_F(Judged, GoodDeclarationsPass) {
  EXPECT_EQ(errors("-- measure revenue = sum(amount) where not is_refund\n-- measure n = count(*)\n"
                   "-- dimension month = date_trunc('month', ordered_at)\n"),
            "");
}

TEST_F(Judged, TextsThatAreNoSingleExpressionAreRefusedAtTheirPlace) {
  EXPECT_EQ(errors("-- measure a = count(*) FROM t; DELETE FROM x\n"), "W2202 `;`\n");
  EXPECT_EQ(errors("-- measure a = sum(a) --c\n"), "W2202 `--c`\n");
  EXPECT_EQ(errors("-- measure a = sum(a) /* c */\n"), "W2202 `/* c */`\n");
  EXPECT_EQ(errors("-- measure a = sum(a) junk\n"), "W2202 `junk`\n");
  EXPECT_EQ(errors("-- measure a = sum(a) where b = 1 -- c\n"), "W2202 `-- c`\n");
  EXPECT_EQ(errors("-- dimension d = a, b\n"), "W2202 `a, b`\n");
}

TEST_F(Judged, AFilteredMeasureIsOneAggregateCall) {
  EXPECT_EQ(errors("-- measure a = sum(a)/count(b) where c\n"), "W2203 `sum(a)/count(b)`\n");
  EXPECT_EQ(errors("-- measure a = sum(a)*2 where c\n"), "W2203 `sum(a)*2`\n");
  EXPECT_EQ(errors("-- measure a = sum(a) FILTER (WHERE x) where c\n"), "W2203 `sum(a) FILTER (WHERE x)`\n");
  EXPECT_EQ(errors("-- measure a = sum(a) OVER () where c\n"), "W2203 `sum(a) OVER ()`\n");
}

TEST_F(Judged, PathsAndNamesThatCannotBeKeptAreRefused) {
  const std::string text = "-- materialize ducklake://main/größe\n-- measure n = count(*)\nSELECT 1";
  Project made = project(text);
  ASSERT_TRUE(judge(made, parser_).has_value());
  EXPECT_EQ(shown(made.diagnostics, text), "W2201 `ducklake://main/größe`\n");
  const std::string escape = "-- materialize ducklake://dl';SELECT(1);--/t\n-- measure n = count(*)\nSELECT 1";
  Project escaping = project(escape);
  ASSERT_TRUE(judge(escaping, parser_).has_value());
  EXPECT_EQ(shown(escaping.diagnostics, escape), "W2201 `ducklake://dl';SELECT(1);--/t`\n");
  EXPECT_EQ(errors("-- measure " + std::string(256, 'n') + " = count(*)\n").substr(0, 5), "W2204");
  EXPECT_EQ(errors("-- measure " + std::string(255, 'n') + " = count(*)\n"), "");
}

TEST_F(Judged, YamlTextsAreMarkedWhereTheyStand) {
  const std::string text =
      "/* weir:\n  materialize: ducklake://main/orders\n  measures:\n    a: {expression: sum(a) junk, unit: EUR}\n"
      "    b: {expression: sum(a), where: \"c = 'x' -- y\"}\n*/\nSELECT 1";
  Project made;
  made.config.root = root_;
  made.config.lakes.push_back({.name = "main"});
  auto source = std::make_shared<Source>(Source{"models/orders.sql", text, "1"});
  made.models.push_back(judge_file(source, "orders", made.config).model);
  ASSERT_FALSE(made.models.front().metrics.empty());
  ASSERT_TRUE(judge(made, parser_).has_value());
  EXPECT_EQ(shown(made.diagnostics, text), "W2202 `junk`\nW2202 `-- y`\n");
}

TEST_F(Judged, WhatWasFoundFitIsNotAskedAgain) {
  const std::string lines = "-- measure n = count(*)\n-- measure r = sum(a) where b\n";
  EXPECT_EQ(errors(lines), "");
  const int asked = parser_.asked;
  EXPECT_EQ(errors(lines), "");
  EXPECT_EQ(parser_.asked, asked);
  EXPECT_EQ(errors(lines + "-- measure bad = a b\n"), "W2202 `b`\n");
  EXPECT_EQ(parser_.asked, asked + 1);
  // The same texts cut another way are another declaration.
  EXPECT_EQ(errors("-- measure n = count(*)b where c\n").substr(0, 5), "W2202");
}

TEST_F(Judged, ColumnsThatTheTableLacksAreWarned) {
  EXPECT_EQ(warnings("-- measure r = sum(amuont) where not is_refnd\n-- dimension g = regin\n", orders_),
            "W2210 `amuont`\nW2210 `is_refnd`\nW2211 `regin`\n");
  EXPECT_EQ(last_[0].severity, Severity::Warning);
  EXPECT_EQ(last_[0].message,
            "the measure `r` reads `amuont`, which main/main.orders (schema version 3, captured 2026-07-05T08:00:00Z) "
            "does not have");
  EXPECT_EQ(last_[0].hint, "did you mean `amount`?");
  ASSERT_TRUE(last_[0].fix.has_value());
  EXPECT_EQ(last_[0].fix->span, last_[0].span);
  EXPECT_EQ(last_[0].fix->replacement, "amount");
}

TEST_F(Judged, NamesOfAnyFormFindTheirColumn) {
  EXPECT_EQ(
      warnings(
          "-- measure r = sum(orders.AMOUNT)\n-- measure s = sum(main.orders.amount)\n"
          "-- dimension c = address.city\n-- dimension t = list_transform(tags, x -> upper(x))\n"
          "-- dimension u = orders.address.city\n-- measure top = max(amount) - (SELECT min(x) FROM range(3) t(x))\n",
          orders_),
      "");
}

TEST_F(Judged, AMeasureWithoutAnAggregateIsWarned) {
  EXPECT_EQ(warnings("-- measure a = amount\n-- measure b = amount * 2\n-- measure c = 1\n"
                     "-- measure d = row_number() OVER ()\n-- measure e = (SELECT max(x) FROM range(3) t(x))\n",
                     orders_),
            "W2212 `amount`\nW2212 `amount * 2`\nW2212 `1`\nW2212 `row_number() OVER ()`\nW2212 `(SELECT max(x) FROM "
            "range(3) t(x))`\n");
  EXPECT_EQ(warnings("-- measure a = sum(amount)\n-- measure b = sum(amount) / count(*)\n-- measure c = count(*)\n"
                     "-- measure d = sum(sum(amount)) OVER ()\n-- measure e = sum(amount) FILTER (WHERE is_refund)\n"
                     "-- measure f = geomean(amount)\n",
                     orders_),
            "");
}

TEST_F(Judged, ADimensionOfAnAggregateIsWarned) {
  EXPECT_EQ(warnings("-- dimension a = sum(amount)\n-- dimension b = row_number() OVER ()\n-- dimension c = region\n",
                     orders_),
            "W2213 `sum(amount)`\nW2213 `row_number() OVER ()`\n");
}

TEST_F(Judged, AFilterThatIsNoBooleanIsWarned) {
  EXPECT_EQ(warnings("-- measure a = sum(amount) where id\n-- measure b = sum(amount) where id = 1\n"
                     "-- measure c = sum(amount) where is_refund\n",
                     orders_),
            "W2214 `id`\n");
}

TEST_F(Judged, WhatTheEngineRefusesIsWarnedAtItsPlace) {
  EXPECT_EQ(warnings("-- measure a = sum(region)\n-- measure b = sum(amount) / id\n"
                     "-- measure c = sum(amount) where sum(amount) > 1\n",
                     orders_)
                .substr(0, 6),
            "W2215 ");
  EXPECT_EQ(last_.size(), 3u);
}

TEST_F(Judged, AFunctionOfTheReadersIsNoFault) {
  warnings("-- measure a = my_udaf(amount)\n", orders_);
  ASSERT_EQ(last_.size(), 1u);
  EXPECT_EQ(last_[0].code, Code::W2216);
  EXPECT_EQ(last_[0].severity, Severity::Hint);
}

TEST_F(Judged, TablesWithoutFaultAreNotAskedAgainUntilTheyChange) {
  const std::string text = "-- materialize ducklake://main/orders\n-- measure a = sum(amount)\nSELECT 1";
  Project made = project(text);
  KnownTable table = orders_;
  const auto look = [&] {
    FitTexts fit(bound_cache_of(made));
    const auto found = bound_warnings(
        made, [&](const Model&) { return std::optional(table); }, parser_, fit);
    fit.save();
    EXPECT_TRUE(found.has_value());
    return shown(*found, text);
  };
  EXPECT_EQ(look(), "");
  const int asked = parser_.asked;
  EXPECT_EQ(look(), "");
  EXPECT_EQ(parser_.asked, asked);
  table.columns[1].name = "net";
  EXPECT_EQ(look(), "W2210 `amount`\n");
  EXPECT_EQ(look(), "W2210 `amount`\n");
}

TEST_F(Judged, TextsThatAreBeingTypedAreRememberedWithoutAFile) {
  const std::string text = "-- materialize ducklake://main/orders\n-- measure a = sum(amount)\nSELECT 1";
  FitTexts fit;
  for (int i = 0; i < 2; ++i) {
    Project made = project(text);
    ASSERT_TRUE(judge(made, parser_, fit).has_value());
    EXPECT_EQ(parser_.asked, 1);
  }
  EXPECT_FALSE(std::filesystem::exists(root_ + "/.weir"));
}

TEST_F(Judged, OneModelLeavesNothingForTheNext) {
  EXPECT_EQ(warnings("-- measure a = sum(amount)\n", orders_), "");
  EXPECT_EQ(warnings("-- measure a = sum(amount)\n", {{{"amount", "INTEGER"}}, {}, {}}), "");
}

}  // namespace
}  // namespace weir::metric
