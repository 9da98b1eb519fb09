#include "store_fixture.h"

namespace weir::state {
namespace {

class PromotionTest : public StoreTest {
 protected:
  static PromotionRecord generation(const std::string& environment, std::int64_t number, const std::string& token,
                                    std::vector<ShownModel> models) {
    PromotionRecord record{.environment = environment, .generation = number};
    record.time = "2026-01-0" + std::to_string(number) + "T00:00:00.000000Z";
    record.token = token;
    record.models = std::move(models);
    return record;
  }
  static ShownModel shown(const std::string& model, const std::string& data) {
    return {model, "f", data, "ducklake://main/main." + model, "d"};
  }
  static OwnedRecord table(const std::string& asset) {
    OwnedRecord one{.asset = asset, .uri = asset, .model = "a"};
    one.environment = "prod";
    one.unreferenced = "2026-01-01T00:00:00.000000Z";
    return one;
  }
  static std::string since(Store& store, const std::string& asset) {
    const std::vector<OwnedRecord> all = *store.owned();
    for (const OwnedRecord& one : all)
      if (one.asset == asset) return one.unreferenced;
    return "gone";
  }
};

constexpr const char* kOne = "ducklake://main/interlace__main.a__1";
constexpr const char* kTwo = "ducklake://main/interlace__main.a__2";

TEST_P(PromotionTest, AGenerationIsRecordedOnceAndBelongsToOneToken) {
  const auto store = opened();
  const PromotionRecord first = generation("prod", 1, "T1", {shown("a", kOne)});
  ASSERT_TRUE(store->promote(first).has_value());
  ASSERT_TRUE(store->promote(first).has_value());
  EXPECT_EQ(store->promotions("prod", 10)->size(), 1U);
  EXPECT_EQ(store->promotions("prod", 10)->front().models, first.models);
  const auto other = store->promote(generation("prod", 1, "T2", {}));
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().front().code, Code::W5412);
}

TEST_P(PromotionTest, ATableIsMarkedFromTheMomentThatNoEnvironmentShowsIt) {
  const auto store = opened();
  ASSERT_TRUE(
      store->record({.steps = {}, .slices = {}, .schemas = {}, .tests = {}, .owned = {table(kOne), table(kTwo)}})
          .has_value());
  ASSERT_TRUE(store->promote(generation("prod", 1, "T1", {shown("a", kOne)})).has_value());
  EXPECT_EQ(since(*store, kOne), "");
  ASSERT_TRUE(store->promote(generation("dev", 1, "T2", {shown("a", kOne)})).has_value());
  ASSERT_TRUE(store->promote(generation("prod", 2, "T3", {shown("a", kTwo)})).has_value());
  EXPECT_EQ(since(*store, kOne), "") << "dev shows it";
  ASSERT_TRUE(store->promote(generation("dev", 2, "T4", {shown("a", kTwo)})).has_value());
  EXPECT_EQ(since(*store, kOne), "2026-01-02T00:00:00.000000Z");
  ASSERT_TRUE(store->promote(generation("prod", 3, "T5", {shown("a", kOne)})).has_value());
  EXPECT_EQ(since(*store, kOne), "");
  ASSERT_TRUE(store->forget_environment("dev").has_value());
  EXPECT_TRUE(store->promotions("dev", 10)->empty());
  EXPECT_NE(since(*store, kTwo), "");
  ASSERT_TRUE(store->forget_owned({kTwo}).has_value());
  EXPECT_EQ(since(*store, kTwo), "gone");
}

TEST_P(PromotionTest, TheNewestGenerationOfEveryEnvironment) {
  const auto store = opened();
  ASSERT_TRUE(store->promote(generation("prod", 1, "T1", {})).has_value());
  ASSERT_TRUE(store->promote(generation("prod", 2, "T2", {shown("a", kOne)})).has_value());
  ASSERT_TRUE(store->promote(generation("dev", 1, "T3", {})).has_value());
  const auto newest = *store->newest_promotions();
  ASSERT_EQ(newest.size(), 2U);
  EXPECT_EQ(newest[0].environment, "dev");
  EXPECT_EQ(newest[1].generation, 2);
  EXPECT_EQ((*store->promotion("prod", 1))->token, "T1");
  EXPECT_FALSE((*store->promotion("prod", 7)).has_value());
}

std::string name_of_database(const testing::TestParamInfo<Database>& info) {
  return info.param == Database::Sqlite ? "Sqlite" : "Postgres";
}

TEST_P(PromotionTest, WhatADefinitionWasMadeOfIsRememberedAsItWasFirst) {
  const auto store = opened();
  DefinitionRecord one{.model = "a", .fingerprint = "f1", .local = "l1", .file = "models/a.sql"};
  one.source = "SELECT x() -- 'quoted'";
  one.libraries = {{"models/lib.sql", "CREATE MACRO x() AS 1"}, {"models/more.sql", "CREATE MACRO y() AS 2"}};
  DefinitionRecord other = one;
  other.fingerprint = "f2";
  other.source = "SELECT 2";
  other.libraries = {{"models/lib.sql", "CREATE MACRO x() AS 3"}};
  ASSERT_TRUE(store->remember({one, other}).has_value());
  DefinitionRecord later = one;
  later.source = "SELECT x() -- with another comment";
  ASSERT_TRUE(store->remember({later}).has_value());
  const auto found = *store->definitions({{"a", "f1"}, {"b", "f1"}, {"a", "f3"}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].source, one.source);
  EXPECT_EQ(found[0].local, "l1");
  EXPECT_EQ(found[0].libraries, one.libraries);
  EXPECT_EQ(store->definitions({{"a", "f2"}})->at(0).libraries, other.libraries);
  EXPECT_TRUE(store->definitions({})->empty());
}

INSTANTIATE_TEST_SUITE_P(Databases, PromotionTest, testing::Values(Database::Sqlite, Database::Postgres),
                         name_of_database);

}  // namespace
}  // namespace weir::state
