#include "ops/deploy.h"

#include <gtest/gtest.h>

#include "io/files.h"
#include "ops/metrics.h"
#include "support/test_lake.h"

namespace weir::ops {
namespace {

class DeployTest : public ::testing::Test {
 protected:
  DeployTest() {
    write("weir.yaml", "name: shop\nlakes:\n  main: {catalog: lake/main.sqlite, data: lake/main}\n");
    write("models/orders.sql", "-- materialize ducklake://main/orders\n-- measure n = count(*)\nSELECT 1 AS id\n");
  }
  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(io::write_file(folder_.path() + "/" + name, text).has_value());
  }
  Workspace workspace() const { return std::move(*Workspace::open(folder_.path())); }

  test::TemporaryFolder folder_;
};

TEST_F(DeployTest, OnlyEnvironmentsThatExistTakeADeployment) {
  Workspace shop = workspace();
  const auto refused = deploy(shop, {.environment = "dev", .is_dry_run = false, .command = ""});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().front().code, Code::W2230);
  EXPECT_TRUE((*shop.store())->deployed("dev")->empty());
}

TEST_F(DeployTest, APlanIsRecordedOnceAndAPartOfItLeavesTheRest) {
  write("models/other.sql", "-- materialize ducklake://main/other\nSELECT 1 AS id\n");
  Workspace shop = workspace();
  const Graph* graph = *shop.graph();
  std::map<std::string, std::string> all;
  for (const Model& model : graph->models()) all.emplace(model.path, "f1");
  ASSERT_TRUE(deploy_models(shop, all, "prod", "R1", "weir run").has_value());
  ASSERT_TRUE(deploy_models(shop, all, "prod", "R2", "weir run").has_value());
  state::Store& store = **shop.store();
  ASSERT_EQ(store.deployments("prod", 10)->size(), 1u);
  EXPECT_EQ(store.deployments("prod", 10)->front().run, "R1");
  ASSERT_TRUE(deploy_models(shop, {{"orders", "f1"}}, "prod", "R3", "weir run").has_value());
  EXPECT_EQ(store.deployments("prod", 10)->size(), 1u);
  ASSERT_TRUE(deploy_models(shop, {{"orders", "f2"}}, "prod", "R4", "weir run").has_value());
  const auto deployed = *store.deployed("prod");
  ASSERT_EQ(deployed.size(), 2u);
  EXPECT_EQ(deployed[0].model, "orders");
  EXPECT_EQ(deployed[0].fingerprint, "f2");
  EXPECT_EQ(deployed[1].fingerprint, "f1");
}

TEST_F(DeployTest, EveryWayToStandToAnAssetIsAnEdge) {
  write("models/second.sql",
        "/* weir:\n  materialize: managed\n  target: ducklake://main/second\n  depends_on: [other]\n*/\n"
        "-- on s3:///k debounce=30s\n-- mute ducklake://main/orders\n"
        "-- data_test relationships id -> ducklake://main/orders.id\nSELECT id FROM orders\n");
  write("models/other.sql", "-- materialize ducklake://main/other\nSELECT 1 AS id\n");
  Workspace shop = workspace();
  const auto done = deploy(shop, {.environment = "prod", .is_dry_run = false, .command = ""});
  ASSERT_TRUE(done.has_value()) << test::messages(done.error());
  std::string edges;
  const auto all = (*shop.store())->edges("prod");
  for (const auto& [model, edge] : *all)
    if (model == "second") edges += edge.kind + " " + edge.asset + " " + edge.debounce + "\n";
  EXPECT_EQ(edges,
            "mute ducklake://main/main.orders \nreads ducklake://main/main.orders \ntest ducklake://main/main.orders \n"
            "writes ducklake://main/main.second \nafter model:other \non s3:///k 30s\n");
}

TEST_F(DeployTest, ACursorGoesThroughTheListAndNothingElseIsOne) {
  Workspace shop = workspace();
  ASSERT_TRUE(deploy(shop, {.environment = "prod", .is_dry_run = false, .command = ""}).has_value());
  for (const char* cursor : {"zz", "5", "5b5d", "22", "7b7d", "5b312c322c332c345d"}) {
    const auto list =
        list_metrics(shop, {.environment = "prod", .table = {}, .prefix = {}, .limit = 10, .cursor = cursor});
    ASSERT_FALSE(list.has_value()) << cursor;
    EXPECT_EQ(list.error().front().code, Code::W2225);
  }
  // ["a","measure","n","o"]: all that follows it.
  const auto list = list_metrics(shop, {.environment = "prod",
                                        .table = {},
                                        .prefix = {},
                                        .limit = 10,
                                        .cursor = "5b2261222c226d656173757265222c226e222c226f225d"});
  ASSERT_TRUE(list.has_value());
  EXPECT_EQ(list->metrics.size(), 1u);
}

}  // namespace
}  // namespace weir::ops
