#include "ops/plan.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/files.h"
#include "ops/deploy.h"
#include "ops/saved_plan.h"
#include "support/test_lake.h"

namespace weir::ops {
namespace {

class PlanTest : public ::testing::Test {
 protected:
  PlanTest() {
    write("weir.yaml", "name: shop\nlakes:\n  main: {catalog: lake/main.sqlite, data: lake/main}\n");
    write("models/raw.sql", "-- materialize ducklake://main/raw\nSELECT 1 AS id, 2 AS amount\n");
    write("models/orders.sql", "-- materialize ducklake://main/orders\nSELECT id, amount FROM raw\n");
    write("models/ids.sql", "-- materialize ducklake://main/ids\nSELECT id FROM orders\n");
  }
  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(io::write_file(folder_.path() + "/" + name, text).has_value());
  }
  Workspace workspace() const { return std::move(*Workspace::open(folder_.path())); }
  /// Kept: reports point into it.
  Workspace& kept() {
    workspaces_.push_back(std::make_unique<Workspace>(workspace()));
    return *workspaces_.back();
  }
  void deploy_all() const {
    Workspace shop = workspace();
    ASSERT_TRUE(deploy(shop, {}).has_value());
  }
  PlanReport planned(PlanRequest request = {}) {
    auto report = plan(kept(), request);
    EXPECT_TRUE(report.has_value()) << report.error().front().message;
    return report ? std::move(*report) : PlanReport();
  }
  /// "orders additive build", one a model.
  static std::vector<std::string> words(const PlanReport& report) {
    std::vector<std::string> all;
    for (const PlannedModel& one : report.models)
      all.push_back(one.change.path + " " + std::string(plan::name_of(one.change.category)) + " " +
                    std::string(name_of(one.action)));
    return all;
  }
  std::vector<Code> moved(const std::string& file) const {
    Workspace shop = workspace();
    const auto saved = read_plan(file);
    EXPECT_TRUE(saved.has_value());
    std::vector<Code> codes;
    if (const auto same = expect_unmoved(shop, *saved); !same)
      for (const Diagnostic& one : same.error()) codes.push_back(one.code);
    return codes;
  }

  test::TemporaryFolder folder_;
  std::vector<std::unique_ptr<Workspace>> workspaces_;
};

using Words = std::vector<std::string>;
using Codes = std::vector<Code>;

TEST_F(PlanTest, AProjectThatWasNeverDeployedIsAllNewAndPlanningMakesNoState) {
  const PlanReport report = planned();
  EXPECT_EQ(words(report), (Words{"raw none build", "orders none build", "ids none build"}));
  EXPECT_FALSE(io::exists(folder_.path() + "/.weir/state.sqlite"));
  EXPECT_FALSE(io::exists(folder_.path() + "/lake"));
}

TEST_F(PlanTest, TheDeployedTextsAreWhatAnEditIsHeldAgainst) {
  deploy_all();
  EXPECT_EQ(words(planned()), (Words{"raw none nothing", "orders none nothing", "ids none nothing"}));
  write("models/orders.sql",
        "-- materialize ducklake://main/orders\nSELECT id, amount, amount * 2 AS twice FROM raw\n");
  EXPECT_EQ(words(planned()), (Words{"raw none nothing", "orders additive build", "ids none reuse"}));
}

TEST_F(PlanTest, AMacroLibraryIsReadBackWithItsSetup) {
  write("models/lib/money.sql", "-- macros\nCREATE MACRO net(x) AS x * 2;\n");
  write("models/orders.sql", "-- materialize ducklake://main/orders\nSELECT id, net(amount) AS amount FROM raw\n");
  deploy_all();
  write("models/lib/money.sql", "-- macros\nCREATE MACRO net(x) AS x * 3;\n");
  const PlanReport report = planned();
  EXPECT_EQ(words(report), (Words{"raw none nothing", "orders breaking build", "ids none reuse"}));
  EXPECT_EQ(report.models[1].change.impacted, (Words{"amount"}));
  EXPECT_TRUE(report.warnings.empty());
}

TEST_F(PlanTest, AChangedModelAboveASelectedOneIsPlannedTooAndRemovalsAreNot) {
  deploy_all();
  write("models/raw.sql", "-- materialize ducklake://main/raw\nSELECT 1 AS id, 3 AS amount\n");
  ASSERT_TRUE(io::remove_all(folder_.path() + "/models/ids.sql").has_value());
  EXPECT_EQ(words(planned({.select = {"orders"}})), (Words{"raw breaking build", "orders breaking build"}));
  EXPECT_EQ(words(planned()).back(), "ids none demote");
}

TEST_F(PlanTest, WhatDoesNotBindIsAnErrorAsInCheck) {
  deploy_all();
  write("models/orders.sql",
        "-- materialize ducklake://main/orders\nSELECT id, nope + 1 AS amount FROM (SELECT 1 AS id)\n");
  Workspace shop = workspace();
  const auto report = plan(shop, {});
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().front().code, Code::W2101);
}

TEST_F(PlanTest, AnEnvironmentThatNobodyMadeIsRefused) {
  deploy_all();
  Workspace shop = workspace();
  const auto report = plan(shop, {.environment = "dev"});
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().front().code, Code::W5401);
}

TEST_F(PlanTest, ADeployedTextThatIsLostMakesItsModelBreakingAndIsSaid) {
  deploy_all();
  write("models/orders.sql", "-- materialize ducklake://main/orders\nSELECT id, amount, 1 AS one FROM raw\n");
  {
    Workspace shop = workspace();
    state::Store& store = **shop.store();
    state::Deployment broken{.deployment = state::new_run_id(), .environment = "prod"};
    auto deployed = *store.deployed("prod");
    for (state::DeployedModel& model : deployed) {
      broken.present.push_back(model.model);
      if (model.model != "orders") continue;
      model.source = "no SQL";
      model.digest = "another";
      broken.models.push_back(model);
    }
    ASSERT_TRUE(store.deploy(broken).has_value());
  }
  const PlanReport report = planned();
  EXPECT_EQ(words(report)[1], "orders breaking build");
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_EQ(report.warnings.front().code, Code::W5507);
}

TEST_F(PlanTest, ASavedPlanIsRefusedWhenTheWorldMoved) {
  deploy_all();
  write("models/orders.sql", "-- materialize ducklake://main/orders\nSELECT id, amount, 1 AS one FROM raw\n");
  const std::string file = folder_.path() + "/plan.json";
  ASSERT_TRUE(io::write_file(file, json_of(planned()).dump()).has_value());
  EXPECT_EQ(moved(file), Codes{});
  const auto saved = read_plan(file);
  EXPECT_EQ(saved->fingerprints.size(), 3u);
  EXPECT_EQ(saved->basis.tables, (Words{"ducklake://main/main.orders", "ducklake://main/main.raw"}));

  write("models/ids.sql", "-- materialize ducklake://main/ids\n-- data_test unique id\nSELECT id FROM orders\n");
  EXPECT_EQ(moved(file), Codes{Code::W5503});
  {
    Workspace shop = workspace();
    lake::Lakes* lakes = *shop.lakes(true);
    auto connection = lakes->connect();
    const auto table = lakes->lake("main").writable("main", "unrelated");
    ASSERT_TRUE(connection->execute(duck::Sql("CREATE TABLE {} (id INTEGER)", table)).has_value());
  }
  EXPECT_EQ(moved(file), Codes{Code::W5503});
  {
    Workspace shop = workspace();
    lake::Lakes* lakes = *shop.lakes(true);
    auto connection = lakes->connect();
    const auto table = lakes->lake("main").writable("main", "raw");
    ASSERT_TRUE(connection->execute(duck::Sql("CREATE TABLE {} (id INTEGER)", table)).has_value());
  }
  deploy_all();
  EXPECT_EQ(moved(file), (Codes{Code::W5503, Code::W5504, Code::W5505}));
}

TEST_F(PlanTest, AFileThatIsNoPlanIsRefused) {
  const std::string file = folder_.path() + "/plan.json";
  for (const char* text :
       {"", "no JSON", "[]", "{\"format\": \"weir graph\"}", "{\"format\": \"weir plan\", \"version\": 1}",
        "{\"format\": \"weir plan\", \"version\": 1, \"environment\": 5}"}) {
    ASSERT_TRUE(io::write_file(file, text).has_value());
    const auto saved = read_plan(file);
    ASSERT_FALSE(saved.has_value()) << text;
    EXPECT_EQ(saved.error().front().code, Code::W5501) << text;
  }
  ASSERT_TRUE(io::write_file(file, "{\"format\": \"weir plan\", \"version\": 2}").has_value());
  EXPECT_EQ(read_plan(file).error().front().code, Code::W5502);
}

TEST_F(PlanTest, AnEstimateCountsTheRecordsOfTheInputsFiles) {
  deploy_all();
  {
    Workspace shop = workspace();
    lake::Lakes* lakes = *shop.lakes(true);
    auto connection = lakes->connect();
    const auto table = lakes->lake("main").writable("main", "raw");
    ASSERT_TRUE(
        connection->execute(duck::Sql("CREATE TABLE {} AS SELECT i AS id, i AS amount FROM range(500) t(i)", table)));
  }
  write("models/orders.sql", "-- materialize ducklake://main/orders\nSELECT id, amount, 1 AS one FROM raw\n");
  write("models/top.sql", "-- materialize ducklake://main/top\nSELECT count(*) AS n FROM ids, raw\n");
  const PlanReport report = planned();
  ASSERT_TRUE(report.models[1].estimate);
  EXPECT_EQ(report.models[1].estimate->rows, 500);
  EXPECT_GT(report.models[1].estimate->bytes, 0);
  EXPECT_EQ(report.models[1].estimate->unknown, 0);
  ASSERT_EQ(report.models.back().change.path, "top");
  EXPECT_EQ(report.models.back().estimate->rows, 500);
  EXPECT_EQ(report.models.back().estimate->unknown, 1);
}

TEST_F(PlanTest, MarkdownCannotBeBrokenOutOf) {
  write("models/a.sql", "-- materialize ducklake://main/a\nSELECT 1 AS \"x|<b>\"\n");
  const std::string text = markdown_of(planned());
  EXPECT_NE(text.find("x\\|\\<b>"), std::string::npos) << text;
}

}  // namespace
}  // namespace weir::ops
