// What the audit's tests share: a table in memory, a model of it, and one call that audits.
#pragma once

#include <gtest/gtest.h>

#include "audit/audit.h"
#include "audit/custom.h"
#include "project/custom_test.h"
#include "project/references.h"

namespace weir::audit {

class Bench : public ::testing::Test {
 protected:
  void SetUp() override {
    database_ = *duck::Database::open({.extension_folder = WEIR_EXTENSION_FOLDER, .threads = 2});
    clean_.emplace(*database_->connect());
    model_.path = "orders";
    model_.target = parse_asset("ducklake://main/orders");
    model_.plane = Plane::Managed;
    model_.source = std::make_shared<Source>(Source{.path = "models/orders.sql", .text = "", .hash = ""});
  }

  /// Makes the table under audit from a query.
  void table(const std::string& query) {
    auto made = clean_->execute(duck::Sql("CREATE OR REPLACE TABLE orders AS {}", duck::Sql::verbatim(query)));
    ASSERT_TRUE(made) << made.error().message;
  }

  weir::Test test(TestKind kind, std::vector<std::string> columns = {}) {
    weir::Test made;
    made.kind = kind;
    made.name = "t" + std::to_string(model_.tests.size());
    made.columns = std::move(columns);
    return made;
  }

  std::vector<Verdict> verdicts(std::vector<weir::Test> tests) {
    model_.tests = std::move(tests);
    read_queries();
    const auto described = clean_->describe(duck::Sql("SELECT * FROM orders"));
    std::vector<lake::ColumnState> columns;
    for (const auto& column : *described) columns.push_back({.name = column.name, .type = column.type});
    AuditRequest request{.model = model_,
                         .slice = slice_,
                         .table = duck::Sql("{}", duck::TableName{"", "", "orders"}),
                         .columns = columns,
                         .partition = partition_,
                         .resolve = [](const Asset& asset) -> Result<duck::Sql> {
                           return duck::Sql("{}", duck::TableName{"", asset.schema, asset.name});
                         },
                         .setup = setup_,
                         .samples = samples_,
                         .private_columns = private_};
    auto result = audit(
        *clean_, [this]() -> Result<duck::Connection> { return *database_->connect(); }, request);
    EXPECT_TRUE(result.has_value());
    return result ? *result : std::vector<Verdict>{};
  }
  Verdict verdict(weir::Test one) { return verdicts({std::move(one)}).at(0); }

  /// As loading the project does it.
  void read_queries() {
    model_.test_queries.clear();
    for (std::size_t i = 0; i < model_.tests.size(); ++i) {
      const weir::Test& declared = model_.tests[i];
      const bool is_inline = declared.kind == TestKind::Sql;
      if (!is_inline && declared.kind != TestKind::Custom) continue;
      const std::string& text = is_inline ? declared.text : custom_.at(declared.text);
      const std::string path = is_inline ? "models/orders.sql" : declared.text + ".sql";
      CustomTest made{.path = is_inline ? declared.name : declared.text,
                      .source = std::make_shared<Source>(Source{.path = path, .text = text, .hash = ""}),
                      .script = {}};
      made.script = *parse::parse_script(*clean_, text, path);
      model_.test_queries.push_back(test_query_of(model_, i, made));
    }
    Config config;
    config.lakes.push_back({.name = "main"});
    for (const Diagnostic& one : resolve_references(model_, config, {}, {})) ADD_FAILURE() << one.message;
  }
  Verdict custom(const std::string& text) {
    custom_["tests/sane"] = text;
    auto declared = test(TestKind::Custom);
    declared.text = "tests/sane";
    return verdict(declared);
  }

  std::shared_ptr<duck::Database> database_;
  std::optional<duck::Connection> clean_;
  Model model_;
  duck::Sql slice_{"orders"};
  std::string partition_;
  std::map<std::string, std::string> custom_;
  std::vector<parse::Spliced> setup_;
  bool samples_ = true;
  std::vector<std::string> private_;
};

}  // namespace weir::audit
