// Deployments and the catalogue of metrics.
#include <algorithm>

#include "state/migrations.h"
#include "store_fixture.h"

namespace weir::state {
namespace {

DeployedModel model(const std::string& path, const std::string& asset, const std::string& text = "") {
  DeployedModel made{.model = path, .file = "models/" + path + ".sql", .plane = "managed", .strategy = "replace"};
  made.asset = asset;
  made.fingerprint = "f-" + path + text;
  made.source_hash = "h-" + path + text;
  made.source = "SELECT 1 -- " + text;
  made.edges = {{.asset = asset, .uri = asset, .asset_kind = "lake", .kind = "writes", .debounce = ""}};
  return made;
}

MetricRecord metric(const std::string& table, const std::string& kind, const std::string& name) {
  return {.table = table, .kind = kind, .name = name, .expression = kind == "measure" ? "count(*)" : "region"};
}

Deployment deployment(std::vector<DeployedModel> models, bool is_whole = true) {
  Deployment made{.deployment = new_run_id(), .environment = "prod", .time = "2026-07-05T08:00:00Z"};
  made.is_whole = is_whole;
  for (DeployedModel& one : models) {
    one.digest = digest_of(one);
    made.present.push_back(one.model);
  }
  made.models = std::move(models);
  return made;
}

std::vector<std::string> paths(const std::vector<DeployedModel>& models) {
  std::vector<std::string> all;
  for (const DeployedModel& one : models) all.push_back(one.model);
  return all;
}

std::string listed(const MetricPage& page) {
  std::string all;
  for (const MetricRecord& one : page.metrics)
    all += one.table + " " + one.kind + " " + one.name + " " + one.script + "\n";
  return all;
}

using Names = std::vector<std::string>;

class DeploymentTest : public StoreTest {};

TEST_P(DeploymentTest, WhatIsDeployedComesBackAndAnEqualOneWritesNothing) {
  const auto store = opened();
  DeployedModel orders = model("orders", "ducklake://main/main.orders");
  orders.edges.push_back({"ducklake://main/main.source", "ducklake://main/main.Source", "lake", "reads", ""});
  orders.edges.push_back({"s3:///k", "s3:///k", "storage", "on", "30s"});
  orders.tags_json = "[\"daily\"]";
  orders.schedule_cron = "0 6 * * *";
  orders.schedule_tz = "Europe/Paris";
  const auto changes = store->deploy(deployment({orders, model("raw", "ducklake://main/main.raw")}));
  ASSERT_TRUE(changes.has_value()) << changes.error().front().message;
  EXPECT_EQ(changes->added, (Names{"orders", "raw"}));
  const auto deployed = *store->deployed("prod");
  ASSERT_EQ(paths(deployed), (Names{"orders", "raw"}));
  EXPECT_EQ(deployed[0].fingerprint, "f-orders");
  EXPECT_EQ(deployed[0].tags_json, "[\"daily\"]");
  EXPECT_EQ(deployed[0].schedule_cron, "0 6 * * *");
  EXPECT_EQ(deployed[0].schedule_tz, "Europe/Paris");
  const auto edges = *store->edges("prod");
  ASSERT_EQ(edges.size(), 4u);
  EXPECT_EQ(edges[0].second.asset, "ducklake://main/main.orders");
  EXPECT_EQ(edges[1].second.uri, "ducklake://main/main.Source");
  EXPECT_EQ(edges[2].second.kind, "on");
  EXPECT_EQ(edges[2].second.debounce, "30s");
  EXPECT_TRUE(store->deployed("dev")->empty());

  const auto again = *store->deploy(deployment({orders, model("raw", "ducklake://main/main.raw")}));
  EXPECT_TRUE(again.empty());
  EXPECT_EQ(again.unchanged, 2);
  ASSERT_EQ(store->deployments("prod", 10)->size(), 1u);
  EXPECT_EQ(store->deployments("prod", 10)->front().written, 2);
}

TEST_P(DeploymentTest, AChangedModelIsReplacedWholesaleAndAGoneOneDisappears) {
  const auto store = opened();
  DeployedModel orders = model("orders", "ducklake://main/main.orders");
  orders.metrics = {metric("main/main.orders", "measure", "n"), metric("main/main.orders", "dimension", "region")};
  orders.edges.push_back({"ducklake://main/main.raw", "ducklake://main/main.raw", "lake", "reads", ""});
  ASSERT_TRUE(store->deploy(deployment({orders, model("raw", "ducklake://main/main.raw")})).has_value());
  orders.metrics = {metric("main/main.orders", "measure", "total")};
  orders.edges.pop_back();
  const auto changes = *store->deploy(deployment({orders}));
  EXPECT_EQ(changes.changed, (Names{"orders"}));
  EXPECT_EQ(changes.removed, (Names{"raw"}));
  EXPECT_EQ(listed(*store->metrics({.environment = "prod"})), "main/main.orders measure total orders\n");
  const auto edges = *store->edges("prod");
  ASSERT_EQ(edges.size(), 1u);
  EXPECT_EQ(edges[0].second.kind, "writes");
}

TEST_P(DeploymentTest, APartialDeploymentTouchesNothingElse) {
  const auto store = opened();
  DeployedModel raw = model("raw", "ducklake://main/main.raw");
  raw.metrics = {metric("main/main.raw", "measure", "n")};
  ASSERT_TRUE(store->deploy(deployment({model("orders", "o"), raw})).has_value());
  Deployment part = deployment({model("orders", "o", "new")}, false);
  part.present = {"orders"};
  const auto changes = *store->deploy(part);
  EXPECT_EQ(changes.changed, (Names{"orders"}));
  EXPECT_TRUE(changes.removed.empty());
  EXPECT_EQ(paths(*store->deployed("prod")), (Names{"orders", "raw"}));
  EXPECT_EQ(store->metrics({.environment = "prod"})->metrics.size(), 1u);
}

TEST_P(DeploymentTest, ARenamedModelTakesItsOldPathsRowsAway) {
  const auto store = opened();
  DeployedModel old = model("old/orders", "ducklake://main/main.orders");
  old.metrics = {metric("main/main.orders", "measure", "n")};
  ASSERT_TRUE(store->deploy(deployment({old, model("other", "x")})).has_value());
  DeployedModel renamed = model("new/orders", "ducklake://main/main.orders", "changed too");
  renamed.metrics = {metric("main/main.orders", "measure", "n")};
  // Even a run of the new path alone.
  Deployment part = deployment({renamed}, false);
  part.present = {"new/orders", "other"};
  const auto changes = *store->deploy(part);
  ASSERT_EQ(changes.renamed.size(), 1u);
  EXPECT_TRUE(changes.added.empty()) << "it is told once";
  EXPECT_EQ(changes.renamed[0], std::pair(std::string("old/orders"), std::string("new/orders")));
  EXPECT_EQ(listed(*store->metrics({.environment = "prod"})), "main/main.orders measure n new/orders\n");
  EXPECT_EQ(paths(*store->deployed("prod")), (Names{"new/orders", "other"}));
  // A copy is no rename while the first is there.
  Deployment copy = deployment({model("copy", "y")}, false);
  copy.models[0].source_hash = store->deployed("prod")->front().source_hash;
  copy.present = {"new/orders", "other", "copy"};
  EXPECT_TRUE(store->deploy(copy)->renamed.empty());
}

TEST_P(DeploymentTest, WhatAnEnvironmentTookOutIsKnownUntilItIsThereAgain) {
  const auto store = opened();
  Deployment without = deployment({model("a", "ducklake://main/main.a")});
  without.environment = "dev";
  without.absent = {"b"};
  EXPECT_EQ(store->compare(without)->removed, (Names{"b"}));
  EXPECT_EQ(*store->taken_out("dev"), Names());
  EXPECT_EQ(store->deploy(without)->removed, (Names{"b"}));
  EXPECT_EQ(*store->taken_out("dev"), (Names{"b"}));
  EXPECT_EQ(*store->taken_out("prod"), Names());
  EXPECT_TRUE(store->deploy(without)->empty());
  // Back among the files, though it is not what is deployed now.
  Deployment part = deployment({model("a", "ducklake://main/main.a", "2")}, false);
  part.environment = "dev";
  part.present.push_back("b");
  EXPECT_EQ(store->deploy(part)->returned, (Names{"b"}));
  EXPECT_EQ(*store->taken_out("dev"), Names());
  without.deployment = new_run_id();
  ASSERT_EQ(store->deploy(without)->removed, (Names{"b"}));
  ASSERT_TRUE(store->drop_environment("dev", {}).has_value());
  EXPECT_EQ(*store->taken_out("dev"), Names());
}

TEST_P(DeploymentTest, ADryRunWritesNothing) {
  const auto store = opened();
  const auto changes = *store->compare(deployment({model("orders", "o")}));
  EXPECT_EQ(changes.added, (Names{"orders"}));
  EXPECT_TRUE(store->deployed("prod")->empty());
  EXPECT_TRUE(store->deployments("prod", 1)->empty());
}

TEST_P(DeploymentTest, TheDigestOfAnEnvironmentIsThatOfItsModels) {
  const auto store = opened();
  Deployment first = deployment({model("b", "x"), model("a", "y")});
  ASSERT_TRUE(store->deploy(first).has_value());
  const std::vector<std::pair<std::string, std::string>> models = {{"a", first.models[1].digest},
                                                                   {"b", first.models[0].digest}};
  EXPECT_EQ(store->deployments("prod", 1)->front().digest, digest_of(models));
  EXPECT_EQ(*store->deployed_digests("prod", {"a", "missing"}), (decltype(models){models[0]}));
  EXPECT_TRUE(store->deployed_digests("prod", {})->empty());
}

TEST_P(DeploymentTest, LibrariesAreReplacedWhole) {
  const auto store = opened();
  Deployment first = deployment({});
  first.libraries = {
      {"shared/money", "d1", {{"net", "CREATE MACRO net(a) AS a"}, {"tax", "CREATE MACRO tax(a) AS a"}}}};
  EXPECT_EQ(store->deploy(first)->libraries, (Names{"shared/money"}));
  EXPECT_TRUE(store->deploy(first)->empty());
  Deployment second = deployment({});
  second.libraries = {{"shared/money", "d2", {{"net", "CREATE MACRO net(a) AS 2 * a"}}}};
  ASSERT_TRUE(store->deploy(second).has_value());
  const auto libraries = *store->libraries("prod");
  ASSERT_EQ(libraries.size(), 1u);
  ASSERT_EQ(libraries[0].macros.size(), 1u);
  EXPECT_EQ(libraries[0].macros[0].definition, "CREATE MACRO net(a) AS 2 * a");
  EXPECT_EQ(store->deploy(deployment({}))->libraries, (Names{"shared/money"}));
  EXPECT_TRUE(store->libraries("prod")->empty());
}

TEST_P(DeploymentTest, TextsOfModelsAndLibrariesAreReadBackAndGoWithThem) {
  const auto store = opened();
  Deployment first = deployment({model("a", "SELECT 1")});
  first.models[0].file = "models/a.sql";
  first.libraries = {{"shared/money", "d1", {}, "models/shared/money.sql", "-- macros\nSET TimeZone = 'UTC'"}};
  ASSERT_TRUE(store->deploy(first).has_value());
  const std::map<std::string, std::string> texts = {{"models/a.sql", first.models[0].source},
                                                    {"models/shared/money.sql", "-- macros\nSET TimeZone = 'UTC'"}};
  EXPECT_EQ(*store->deployed_texts("prod"), texts);
  EXPECT_TRUE(store->deployed_texts("dev")->empty());
  ASSERT_TRUE(store->deploy(deployment({})).has_value());
  EXPECT_TRUE(store->deployed_texts("prod")->empty());
}

TEST_P(DeploymentTest, MetricsAreFoundByTableAndByFolder) {
  const auto store = opened();
  DeployedModel sales = model("f/analytics/sales", "a");
  sales.metrics = {metric("Lake/main.Sales", "measure", "n"), metric("Lake/main.Sales", "dimension", "region")};
  sales.metrics[0].filter = "not is_refund";
  sales.metrics[0].unit = "EUR";
  DeployedModel near = model("f/analytics_old/x", "b");
  near.metrics = {metric("lake/main.x", "measure", "n")};
  DeployedModel odd = model("f/analytic%/y", "c");
  odd.metrics = {metric("lake/main.y", "measure", "n")};
  ASSERT_TRUE(store->deploy(deployment({sales, near, odd})).has_value());
  const auto by_table = *store->metrics({.environment = "prod", .table = "lake/MAIN.sales"});
  EXPECT_EQ(listed(by_table),
            "Lake/main.Sales dimension region f/analytics/sales\nLake/main.Sales measure n f/analytics/sales\n");
  EXPECT_EQ(by_table.metrics[0].filter, std::nullopt);
  EXPECT_EQ(by_table.metrics[1].filter, "not is_refund");
  EXPECT_EQ(by_table.metrics[1].unit, "EUR");
  EXPECT_EQ(by_table.metrics[1].deployed, "2026-07-05T08:00:00Z");
  for (const char* folder : {"f/analytics", "f/analytics/"})
    EXPECT_EQ(store->metrics({.environment = "prod", .folder = folder})->metrics.size(), 2u) << folder;
  EXPECT_EQ(store->metrics({.environment = "prod", .folder = "f"})->metrics.size(), 4u);
  EXPECT_EQ(store->metrics({.environment = "prod", .folder = "f/analytic%"})->metrics.size(), 1u);
  EXPECT_EQ(store->metrics({.environment = "prod", .folder = "f/analytic_"})->metrics.size(), 0u);
  EXPECT_EQ(store->metrics({.environment = "dev"})->metrics.size(), 0u);
}

TEST_P(DeploymentTest, PagesMeetWithoutGapAndAreOrderedByBytes) {
  const auto store = opened();
  std::vector<DeployedModel> models;
  for (int i = 0; i < 30; ++i) {
    DeployedModel one = model("m" + std::to_string(i), "a" + std::to_string(i));
    for (const char* name : {"B", "a", "_c", "é", "Z"}) {
      one.metrics.push_back(metric("lake/main.t" + std::to_string(i % 3), "measure", name));
      one.metrics.push_back(metric("lake/main.t" + std::to_string(i % 3), "dimension", name));
    }
    models.push_back(std::move(one));
  }
  ASSERT_TRUE(store->deploy(deployment(models)).has_value());
  std::vector<std::string> all;
  MetricQuery query{.environment = "prod", .limit = 7};
  std::size_t pages = 0;
  do {
    const auto page = *store->metrics(query);
    EXPECT_LE(page.metrics.size(), 7u);
    for (const MetricRecord& one : page.metrics)
      all.push_back(one.table + "\x01" + one.kind + "\x01" + one.name + "\x01" + one.script);
    query.after = page.next;
    ++pages;
  } while (query.after);
  EXPECT_EQ(all.size(), 300u);
  EXPECT_EQ(pages, 43u);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
  EXPECT_FALSE(store->metrics({.environment = "prod", .limit = 100000})->next);
}

TEST_P(DeploymentTest, APageHoldsAThousandAtMost) {
  const auto store = opened();
  DeployedModel many = model("many", "a");
  for (int i = 0; i < 1100; ++i) many.metrics.push_back(metric("lake/main.t", "measure", "m" + std::to_string(i)));
  ASSERT_TRUE(store->deploy(deployment({many})).has_value());
  const auto page = *store->metrics({.environment = "prod", .limit = 5000});
  EXPECT_EQ(page.metrics.size(), 1000u);
  ASSERT_TRUE(page.next);
  EXPECT_EQ(store->metrics({.environment = "prod", .limit = 5000, .after = page.next})->metrics.size(), 100u);
}

TEST_P(DeploymentTest, AFolderAndATableAreEachARangeOfAnIndex) {
  const auto store = opened();
  std::vector<DeployedModel> models;
  for (int i = 0; i < 400; ++i) {
    DeployedModel one = model("f" + std::to_string(i) + "/m", "a" + std::to_string(i));
    for (int k = 0; k < 5; ++k)
      one.metrics.push_back(metric("lake/main.t" + std::to_string(i), "measure", "m" + std::to_string(k)));
    models.push_back(std::move(one));
  }
  ASSERT_TRUE(store->deploy(deployment(models)).has_value());
  auto session = Session::open(
      {.postgres = GetParam() == Database::Postgres, .address = target_, .shown = "test", .schema = schema_});
  ASSERT_TRUE(session.has_value());
  const bool postgres = GetParam() == Database::Postgres;
  const auto plan = [&](const std::string& condition) {
    std::string text;
    EXPECT_TRUE((*session)
                    ->read([&]() -> Result<void> {
                      if (postgres) (*session)->run("ANALYZE data_metric");
                      const auto rows = (*session)->ask(
                          (postgres ? "EXPLAIN SELECT * FROM data_metric WHERE environment = 'prod' AND "
                                    : "EXPLAIN QUERY PLAN SELECT * FROM data_metric WHERE environment = 'prod' AND ") +
                              condition,
                          {}, postgres ? 1 : 4);
                      for (const Row& row : rows) text += row.back().value_or("") + "\n";
                      return {};
                    })
                    .has_value());
    return text;
  };
  const std::string by_folder = plan("script_path >= 'f7/' AND script_path < 'f70'");
  const std::string by_table = plan("table_key = 'lake/main.t7' ORDER BY table_key, kind, name, script_path");
  if (postgres) {
    EXPECT_NE(by_folder.find("data_metric_pkey"), std::string::npos) << by_folder;
    EXPECT_NE(by_folder.find("script_path >="), std::string::npos) << by_folder;
    EXPECT_EQ(by_folder.find("Seq Scan"), std::string::npos) << by_folder;
  } else {
    EXPECT_NE(by_folder.find("script_path>? AND script_path<?"), std::string::npos) << by_folder;
    EXPECT_EQ(by_table.find("TEMP B-TREE"), std::string::npos) << by_table;
  }
  EXPECT_NE(by_table.find("data_metric_list"), std::string::npos) << by_table;
}

TEST_P(DeploymentTest, AStoreOfTheFirstVersionGetsTheNewTablesAndKeepsItsOwn) {
  ASSERT_TRUE(opened()->put_run({.run = "01A", .environment = "prod", .status = "done", .started = "s"}).has_value());
  for (const char* table : {"deployment", "model", "asset", "edge", "data_metric", "macro", "library", "environment",
                            "promotion", "snapshot", "cascade_run", "dispatch_event", "join_pending_input",
                            "verified_models", "verified", "definition", "library_text", "taken_out"})
    execute_in_store(std::string("DROP TABLE ") + table);
  execute_in_store("UPDATE schema_version SET version = 1");
  const auto store = opened();
  EXPECT_EQ(*store->schema_version(), newest_schema_version());
  EXPECT_EQ(store->runs(10)->size(), 1u);
  EXPECT_EQ(store->deploy(deployment({model("orders", "o")}))->added, (Names{"orders"}));
}

INSTANTIATE_TEST_SUITE_P(Databases, DeploymentTest, testing::Values(Database::Sqlite, Database::Postgres),
                         name_of_database);

}  // namespace
}  // namespace weir::state
