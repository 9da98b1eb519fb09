#include "env/registry.h"

#include <gtest/gtest.h>

namespace weir::env {
namespace {

LakeConfig lake_at(const std::string& name, const std::string& catalog, const std::string& data) {
  LakeConfig lake;
  lake.name = name;
  lake.catalog.target = catalog;
  lake.catalog.shown = catalog;
  lake.data = data;
  return lake;
}

LakeConfig postgres_lake(const std::string& name) {
  LakeConfig lake = lake_at(name, "postgres://h/db", "s3://bucket/" + name);
  lake.catalog.kind = DatabaseLocation::Kind::Postgres;
  return lake;
}

Config shop() {
  Config config;
  config.lakes = {lake_at("main", "/p/lake/main.sqlite", "/p/lake/main"), lake_at("raw", "/p/raw", "/p/raw.d")};
  config.environments["dev"] = {.from = "prod", .shared = {"Raw"}};
  config.environments["try"] = {.from = "dev", .shared = {}};
  return config;
}

TEST(Names, OfEnvironmentsAreLettersDigitsAndSingleUnderscores) {
  for (const char* good : {"dev", "a", "Dev_2", "a_b_c", "abcdefghijklmnopqrstuvwxyz0123"})
    EXPECT_TRUE(judge_name(good).has_value()) << good;
  for (const char* bad :
       {"", "2dev", "_dev", "dev_", "a__b", "a-b", "a b", "dév", "a.b", "a@b", "../x",
        "abcdefghijklmnopqrstuvwxyz01234", "prod", "PROD", "interlace", "Interlace", "main", "weir"}) {
    const auto judged = judge_name(bad);
    ASSERT_FALSE(judged.has_value()) << bad;
    EXPECT_EQ(judged.error().front().code, Code::W5402) << bad;
  }
}

TEST(Registry, AChainLeadsToProd) {
  const Config config = shop();
  const auto registry = Registry::read(config, nullptr);
  ASSERT_TRUE(registry.has_value());
  const auto chain = registry->chain("try");
  ASSERT_TRUE(chain.has_value());
  ASSERT_EQ(chain->size(), 3U);
  EXPECT_EQ(chain->at(0).name, "try");
  EXPECT_EQ(chain->at(2).name, "prod");
  EXPECT_EQ(registry->chain("Try").error().front().hint, "did you mean `try`?");
  EXPECT_EQ(registry->chain("nope").error().front().code, Code::W5401);
  EXPECT_EQ(registry->children("dev"), std::vector<std::string>{"try"});
}

TEST(Registry, ACircleIsRefused) {
  Config config = shop();
  config.environments["dev"].from = "try";
  const auto registry = Registry::read(config, nullptr);
  ASSERT_TRUE(registry.has_value());
  EXPECT_EQ(registry->chain("dev").error().front().code, Code::W5427);
}

TEST(Pins, OfTheNearestEnvironmentHoldForAllThatItReads) {
  Config config = shop();
  const std::vector<Settings> chain{{.name = "try", .parent = "dev", .shared = {}, .pins = {{"main@dev", 3}}},
                                    {.name = "dev", .parent = "prod", .shared = {"raw"}, .pins = {{"main", 7}}},
                                    {.name = "prod"}};
  ASSERT_TRUE(add_forks(config, chain).has_value());
  ASSERT_NE(config.lake("main@prod"), nullptr);
  EXPECT_EQ(config.lake("main@prod")->version, 7);
  EXPECT_EQ(config.lake("main@prod")->catalog.target, config.lake("main")->catalog.target);
  EXPECT_TRUE(config.lake("main@prod")->is_read_only);
  EXPECT_EQ(config.lake("main@dev")->version, 3);
  EXPECT_FALSE(config.lake("main@try")->version.has_value());
  EXPECT_FALSE(config.lake("main")->version.has_value());
  EXPECT_EQ(config.lake("raw@prod"), nullptr);
  EXPECT_EQ(config.lakes.back().name, "main@prod");
  // What one made from it would still have to pin; not what stands still, nor what it shares.
  EXPECT_EQ(lakes_to_pin(config, {}), (std::vector<std::string>{"raw", "main@try", "raw@try"}));
  EXPECT_EQ(lakes_to_pin(config, {"raw"}), (std::vector<std::string>{"main@try"}));
}

TEST(Forks, LieBesideTheirLakeAndOutsideItsData) {
  const Config config = shop();
  const auto fork = fork_of(config, config.lakes[0], "dev");
  ASSERT_TRUE(fork.has_value());
  EXPECT_EQ(fork->name, "main@dev");
  EXPECT_EQ(fork->catalog.target, "/p/lake/main@dev.sqlite");
  EXPECT_EQ(fork->data, "/p/lake/main@dev");
  EXPECT_EQ(fork_of(config, config.lakes[1], "dev")->catalog.target, "/p/raw@dev");
}

TEST(Forks, TakeNoPlaceOfAnotherLakeAndNoWholeBucket) {
  Config config = shop();
  config.lakes.push_back(lake_at("other", "/p/x", "/p/lake/main@dev"));
  EXPECT_EQ(fork_of(config, config.lakes[0], "dev").error().front().code, Code::W5422);
  LakeConfig bucket = lake_at("all", "/p/all.sqlite", "s3://bucket");
  EXPECT_EQ(fork_of(config, bucket, "dev").error().front().code, Code::W5422);
  bucket.data = "s3://bucket/all";
  EXPECT_TRUE(fork_of(config, bucket, "dev").has_value());
}

TEST(Forks, OnPostgresHaveASchemaOfTheirOwnThatFits) {
  const Config config;
  std::set<std::string> schemas;
  const std::string prefix(60, 'a');
  for (const std::string& lake : {std::string("main"), std::string("main_a"), prefix + "x", prefix + "y"})
    for (const char* environment : {"dev", "a_dev", "dev2"}) {
      const auto fork = fork_of(config, postgres_lake(lake), environment);
      ASSERT_TRUE(fork.has_value());
      EXPECT_LE(fork->metadata_schema.size(), 63U);
      EXPECT_TRUE(fork->metadata_schema.starts_with("weir_fork_"));
      EXPECT_TRUE(schemas.insert(fork->metadata_schema).second) << fork->metadata_schema;
    }
}

TEST(Forks, OnlyTheEnvironmentsOwnLakesAreWritten) {
  Config config = shop();
  const auto chain = Registry::read(config, nullptr)->chain("try");
  ASSERT_TRUE(add_forks(config, *chain).has_value());
  std::map<std::string, bool> written;
  for (const LakeConfig& lake : config.lakes) written[lake.name] = !lake.is_read_only;
  // dev shares raw, try does not; the default lake holds the tables that weir owns.
  EXPECT_EQ(written, (std::map<std::string, bool>{
                         {"main", true}, {"raw", false}, {"main@dev", false}, {"main@try", true}, {"raw@try", true}}));
}

TEST(Forks, OfASharedLakeAreTheParents) {
  Config config = shop();
  config.environments["try"].shared = {"main", "raw"};
  const auto chain = Registry::read(config, nullptr)->chain("try");
  ASSERT_TRUE(add_forks(config, *chain).has_value());
  std::map<std::string, bool> written;
  for (const LakeConfig& lake : config.lakes) written[lake.name] = !lake.is_read_only;
  EXPECT_EQ(written, (std::map<std::string, bool>{{"main", true}, {"raw", true}, {"main@dev", true}}));
}

}  // namespace
}  // namespace weir::env
