#include "bound_project.h"

namespace weir::bind {
namespace {

class Remembering : public BoundProject {
 protected:
  void SetUp() override {
    BoundProject::SetUp();
    source("orders", {{"id", "INTEGER"}, {"amount", "INTEGER"}});
    model("a", "SELECT id, amount FROM orders");
    model("b", "SELECT id, amount * 2 AS twice FROM a");
    model("c", "SELECT id, sum(twice) AS total FROM b GROUP BY id");
    model("z", "SELECT id FROM orders");
  }
  /// As another process would begin.
  std::size_t asked_by_another() {
    binder_ = std::make_unique<Binder>(BinderOptions{.cache_file = cache_file()});
    bind();
    const std::size_t asked = binder_->asked();
    binder_->save();
    return asked;
  }
};

TEST_F(Remembering, AnUnchangedProjectAsksNothing) {
  EXPECT_EQ(asked_by_another(), 4U);
  const auto first = columns("c");
  EXPECT_EQ(asked_by_another(), 0U);
  EXPECT_EQ(columns("c"), first);
  EXPECT_EQ(bound("c").columns[1].from.at(0).from, (AssetColumn{"ducklake://main/main.b", "twice"}));
  EXPECT_EQ(bound("c").columns[1].from.at(0).kind, ValueKind::Aggregate);
  EXPECT_FALSE(bound("c").rows.empty());
}

TEST_F(Remembering, AnEditedModelThatReturnsTheSameColumnsCostsItselfAlone) {
  asked_by_another();
  model("a", "SELECT id, amount + 1 AS amount FROM orders WHERE id > 0");
  EXPECT_EQ(asked_by_another(), 1U);
}

TEST_F(Remembering, AnEditThatChangesColumnsReachesReadersUntilColumnsAreTheSame) {
  asked_by_another();
  model("a", "SELECT id, amount, 1 AS one FROM orders");
  EXPECT_EQ(asked_by_another(), 2U);
}

TEST_F(Remembering, AChangedSourceReachesItsReaders) {
  asked_by_another();
  source("orders", {{"id", "INTEGER"}, {"amount", "BIGINT"}});
  EXPECT_EQ(asked_by_another(), 4U);
  EXPECT_EQ(columns("b"), "id INTEGER, twice BIGINT");
}

TEST_F(Remembering, FaultsOfHeadersAreRememberedWithTheirPlaces) {
  model("z", "SELECT id FROM orders", "\n-- data_test not_null ix");
  asked_by_another();
  const Lines first = said();
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(asked_by_another(), 0U);
  EXPECT_EQ(said(), first);
  EXPECT_EQ(bound_.diagnostics[0].fix->replacement, "id");
}

TEST_F(Remembering, WhatFailsIsAskedAgain) {
  model("z", "SELECT nope FROM orders");
  asked_by_another();
  EXPECT_EQ(asked_by_another(), 1U);
}

TEST_F(Remembering, DamagedBytesCostTimeAndNothingElse) {
  asked_by_another();
  auto bytes = io::read_file(cache_file());
  ASSERT_TRUE(bytes.has_value());
  for (const std::size_t size : {bytes->size() / 3, bytes->size() - 1}) {
    ASSERT_TRUE(io::write_file(cache_file(), bytes->substr(0, size)).has_value());
    asked_by_another();
    EXPECT_EQ(columns("c"), "id INTEGER, total HUGEINT");
  }
}

TEST_F(Remembering, AFileThatChangesIsDescribedAgain) {
  put("in/x.csv", "id\n1\n");
  model("z", "SELECT * FROM read_csv('in/x.csv')");
  asked_by_another();
  EXPECT_EQ(asked_by_another(), 0U);
  put("in/x.csv", "id,more\n1,a\n");
  EXPECT_EQ(asked_by_another(), 1U);
  EXPECT_EQ(columns("z"), "id BIGINT, more VARCHAR");
}

TEST_F(Remembering, APartOfTheProjectIsBoundAloneAndForgetsNothing) {
  asked_by_another();
  binder_ = std::make_unique<Binder>(BinderOptions{.cache_file = cache_file()});
  model("z", "SELECT id + 1 AS id FROM orders");
  auto project = load_project(root_, parser_);
  auto graph = Graph::link(project->models);
  const std::set<std::string> only = {"z"};
  auto bound = binder_->bind(*project, *graph, surroundings_, nullptr, &only);
  ASSERT_TRUE(bound.has_value());
  EXPECT_EQ(binder_->asked(), 1U);
  binder_->save();
  EXPECT_EQ(asked_by_another(), 0U);
}

}  // namespace
}  // namespace weir::bind
