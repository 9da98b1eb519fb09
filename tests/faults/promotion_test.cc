// Moving an environment: what readers see meanwhile, what a death in the middle leaves, and a long walk of edits, runs,
// promotions, rollbacks and collections against a plain list of what must be read.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "strategies.h"

namespace weir::faults {
namespace {

using namespace std::chrono_literals;

class Promotion : public testing::TestWithParam<Catalog> {
 protected:
  void SetUp() override {
    if (!Shop::can(GetParam())) GTEST_SKIP() << "no server";
    shop_ = std::make_unique<Shop>(GetParam());
  }

  void write_pair(int value) const {
    shop_->write("models/a.sql", "SELECT " + std::to_string(value) + " AS v\n");
    shop_->write("models/b.sql", "SELECT v + 1 AS v FROM a\n");
  }
  std::string pair() const { return shop_->rows("SELECT a.v, b.v FROM lake.main.a AS a, lake.main.b AS b"); }
  static std::string pair_of(int value) { return std::to_string(value) + "|" + std::to_string(value + 1); }

  std::unique_ptr<Shop> shop_;
};

TEST_P(Promotion, ReadersSeeAllOldOrAllNew) {
  constexpr int kModels = 200;
  const auto write_all = [&](int value) {
    for (int i = 0; i < kModels; ++i)
      shop_->write("models/m" + std::to_string(i) + ".sql", "SELECT " + std::to_string(value) + " AS v\n");
  };
  std::string all;
  for (int i = 0; i < kModels; ++i)
    all += (i == 0 ? "" : " UNION ALL ") + std::string("SELECT v FROM lake.main.m") + std::to_string(i);
  const std::string question = "SELECT count(DISTINCT v), min(v) FROM (" + all + ")";
  write_all(1);
  ASSERT_EQ(shop_->weir("run").code, 0);
  write_all(2);
  const auto moving = shop_->start("run --force");
  std::string seen = "1|1";
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (moving->err().find(" done: ") == std::string::npos && std::chrono::steady_clock::now() < until) {
    const std::string now = shop_->rows(question);
    ASSERT_TRUE(now == "1|1" || now == "1|2") << now;
    ASSERT_GE(now, seen) << "back to the old ones";
    seen = now;
  }
  EXPECT_EQ(moving->wait(60s), 0) << moving->err();
  EXPECT_EQ(shop_->rows(question), "1|2");
}

TEST_P(Promotion, ADeathAnywhereLeavesOldOrNewAndTheNextRunCompletes) {
  write_pair(10);
  ASSERT_EQ(shop_->weir("run").code, 0);
  int value = 10;
  for (const std::string& at :
       std::vector<std::string>{"after_stage", "before_moving", "promote_statement", "before_promotion",
                                "before_commit", "after_promotion", "promotion_recorded", "before_end"}) {
    SCOPED_TRACE(at);
    write_pair(value + 10);
    EXPECT_NE(shop_->weir("apply --force", {{"WEIR_FAILPOINT", at + "=exit"}}).code, 0);
    const std::string left = pair();
    EXPECT_TRUE(left == pair_of(value) || left == pair_of(value + 10)) << left;
    const Ended again = shop_->weir("apply --force");
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(pair(), pair_of(value + 10));
    value += 10;
  }
  EXPECT_EQ(shop_->disagreements(), "");
}

TEST_P(Promotion, TwoThatMoveOneEnvironmentKeepWhatTheOtherShows) {
  const auto write_two = [&](int value) {
    for (const std::string& model : {std::string("x"), std::string("y")})
      shop_->write("models/" + model + ".sql", "SELECT " + std::to_string(value) + " AS v\n");
  };
  const auto two = [&] { return shop_->rows("SELECT x.v, y.v FROM lake.main.x AS x, lake.main.y AS y"); };
  write_two(1);
  ASSERT_EQ(shop_->weir("run").code, 0);
  write_two(2);
  const auto first = shop_->start("run x --force", {{"WEIR_FAILPOINT", "before_moving=stop"}});
  until_stopped(*first);
  EXPECT_EQ(shop_->weir("run y --force").code, 0);
  EXPECT_EQ(two(), "1|2");
  first->signal(SIGCONT);
  EXPECT_EQ(first->wait(60s), 0) << first->err();
  EXPECT_EQ(two(), "2|2");
  const Ended again = shop_->weir("run");
  EXPECT_EQ(again.code, 0) << again.err;
  // The state knows as many generations as the lake.
  EXPECT_NE(shop_->weir("rollback --list --json").out.find("\"generation\": 3"), std::string::npos);
  EXPECT_EQ(shop_->disagreements(), "");
}

TEST_P(Promotion, EveryGenerationShowsWhatItsDefinitionsGave) {
  std::mt19937 random(20260701);
  int value = 1;
  write_pair(value);
  ASSERT_EQ(shop_->weir("run").code, 0);
  std::vector<int> generations{value};  // what each of them shows, oldest first
  for (int round = 0; round < 25; ++round) {
    SCOPED_TRACE(round);
    switch (random() % 5) {
      case 0:
      case 1: {
        value = static_cast<int>(random() % 4);
        write_pair(value);
        const Ended ended = shop_->weir(random() % 2 == 0 ? "run --force" : "apply --force");
        ASSERT_EQ(ended.code, 0) << ended.err;
        if (value != generations.back()) generations.push_back(value);
        break;
      }
      case 2: {
        // Without an answer nothing moves but what is shown already.
        const int other = static_cast<int>(random() % 4);
        write_pair(other);
        const Ended ended = shop_->weir("apply");
        ASSERT_EQ(ended.code, other == generations.back() ? 0 : 1) << ended.err;
        write_pair(value);
        break;
      }
      case 3: {
        if (generations.size() < 2) break;
        const Ended ended = shop_->weir("rollback");
        ASSERT_EQ(ended.code, 0) << ended.err;
        generations.push_back(generations[generations.size() - 2]);
        break;
      }
      default:
        ASSERT_EQ(shop_->weir("gc --grace 0 --keep 2").code, 0);
    }
    ASSERT_EQ(pair(), pair_of(generations.back()));
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogs, Promotion, testing::Values(Catalog::Sqlite, Catalog::Postgres),
                         [](const auto& info) { return info.param == Catalog::Sqlite ? "sqlite" : "postgres"; });

}  // namespace
}  // namespace weir::faults
