#include "lake/commit.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "support/test_lake.h"

namespace weir::lake {
namespace {

using duck::Sql;
using test::TestLake;

CommitRecord record(const std::string& token) {
  CommitRecord made{"0.1.0", token, "run1", "prod", {}, {}};
  CommittedStep step;
  step.asset = "ducklake://main/main.t";
  step.model = "t.sql";
  step.slice = "2026-01-01";
  step.definition = "abc";
  step.arguments_hash = "args";
  step.strategy = "merge";
  step.rows = 3;
  step.counts = {{"inserted", 2}, {"updated", 1}};
  step.content = R"({"rows":3,"sum":"170141183460469231731687303715884105727"})";
  step.tests_passed = 4;
  made.steps.push_back(step);
  made.generation = 4;
  made.views = {{"ducklake://main/main.v",
                 {"ducklake://main/interlace__main.v__1", "v", "0123456789abcdef", "fedcba9876543210"}}};
  return made;
}

TEST(CommitRecord, SurvivesItsJson) {
  const CommitRecord made = record("T1");
  const auto read = CommitRecord::from_json(made.to_json());
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, made);
}

TEST(CommitRecord, ForeignTextIsNoRecord) {
  for (const char* text : {"", "null", "[]", "{}", "{\"weir\": 1}", "{\"weir\": \"0.1", "hello"})
    EXPECT_FALSE(CommitRecord::from_json(text).has_value()) << text;
  EXPECT_TRUE(CommitRecord::from_json(R"({"weir":"9","token":5,"steps":[7,{"rows":"x"}],"new":{}})").has_value());
}

TEST(CommitRecord, NamesThatAreNotUtf8DoNotFailTheCommit) {
  CommitRecord made = record("T1");
  made.steps[0].model = "\xff.sql";
  EXPECT_TRUE(CommitRecord::from_json(made.to_json()).has_value());
}

class Committing : public testing::TestWithParam<TestLake::Catalog> {
 protected:
  void SetUp() override {
    if (GetParam() == TestLake::Catalog::Postgres && !TestLake::has_postgres()) GTEST_SKIP() << "no PostgreSQL server";
    lake_ = std::make_unique<TestLake>(GetParam());
  }
  /// Runs one statement in a transaction and commits it with the token.
  Result<std::optional<std::int64_t>> commit_with(const std::string& token, const Sql& sql) {
    auto connection = lake_->connect();
    auto transaction = duck::Transaction::begin(connection);
    const auto base = lake_->main().current_version(connection);
    (void)connection.execute(sql);
    return commit(connection, lake_->main(), std::move(*transaction), record(token), "me", "it's a \"message\"", *base);
  }
  std::unique_ptr<TestLake> lake_;
};
INSTANTIATE_TEST_SUITE_P(Catalogs, Committing, testing::Values(TestLake::Catalog::Sqlite, TestLake::Catalog::Postgres),
                         [](const auto& one) {
                           return one.param == TestLake::Catalog::Sqlite ? "Sqlite" : "Postgres";
                         });

TEST_P(Committing, ReturnsTheVersionThatCarriesTheRecord) {
  const auto version = commit_with("T'1", Sql("CREATE TABLE {} AS SELECT 1 AS a", lake_->main().writable("main", "t")));
  ASSERT_TRUE(version.has_value()) << test::messages(version.error());
  ASSERT_TRUE(version->has_value());
  auto connection = lake_->connect();
  const auto commits = lake_->main().commits_after(connection, 0);
  ASSERT_EQ(commits->size(), 1U);
  EXPECT_EQ((*commits)[0].version, **version);
  EXPECT_EQ((*commits)[0].author, "me");
  EXPECT_EQ((*commits)[0].message, "it's a \"message\"");
  EXPECT_EQ(CommitRecord::from_json((*commits)[0].extra_info), record("T'1"));
  EXPECT_EQ(*lake_->main().version_of_token(connection, "T'1", 0), *version);
  EXPECT_EQ(*lake_->main().version_of_token(connection, "T'1", **version), std::nullopt);
  EXPECT_EQ(*lake_->main().version_of_token(connection, "T", 0), std::nullopt);
}

TEST_P(Committing, NothingChangedMakesNoVersion) {
  const auto version = commit_with("T1", Sql("SELECT 1"));
  ASSERT_TRUE(version.has_value());
  EXPECT_EQ(*version, std::nullopt);
}

TEST_P(Committing, ATransactionThatFailedInsideIsNotTakenForCommitted) {
  ASSERT_TRUE(
      commit_with("T1", Sql("CREATE TABLE {} AS SELECT 1 AS a", lake_->main().writable("main", "t"))).has_value());
  const auto version = commit_with(
      "T2", Sql("INSERT INTO {} SELECT error('no')::INTEGER FROM range(1)", lake_->main().writable("main", "t")));
  EXPECT_FALSE(version.has_value() && version->has_value());
  auto connection = lake_->connect();
  EXPECT_EQ(lake_->values(connection, Sql("SELECT count(*) FROM {}", lake_->main().readable("main", "t"))), "1");
}

TEST_P(Committing, ForeignCommitMessagesAreNoRecords) {
  auto connection = lake_->connect();
  for (const char* extra : {"hello", "{\"weir\": 3, \"token\": \"T\"}", "[1]"}) {
    auto transaction = duck::Transaction::begin(connection);
    lake_->run(connection, Sql("CREATE OR REPLACE TABLE {} AS SELECT 1 AS a", lake_->main().writable("main", "t")));
    lake_->run(connection, Sql("CALL {}.set_commit_message('x', 'y', extra_info => {})",
                               duck::Identifier(lake_->main().writer()), duck::Literal(extra)));
    ASSERT_TRUE(transaction->commit().has_value());
  }
  EXPECT_TRUE(lake_->main().commits_after(connection, 0)->empty());
  EXPECT_EQ(*lake_->main().version_of_token(connection, "T", 0), std::nullopt);
}

// The failpoints are read once in a process, so these run in children.
TEST(CommitDeathTest, AnErrorBeforeTheCommitLeavesNothingAndALostReplyIsFoundByTheToken) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto run_with = [](const char* failpoint) {
    ::setenv("WEIR_FAILPOINT", failpoint, 1);
    TestLake lake;
    auto connection = lake.connect();
    auto transaction = duck::Transaction::begin(connection);
    (void)connection.execute(Sql("CREATE TABLE {} AS SELECT 1 AS a", lake.main().writable("main", "t")));
    const auto version = commit(connection, lake.main(), std::move(*transaction), record("T1"), "me", "m", 0);
    const auto found = lake.main().version_of_token(connection, "T1", 0);
    std::fprintf(stderr, "%s %s\n",
                 version.has_value() ? "committed" : std::string(name_of(version.error()[0].code)).c_str(),
                 found->has_value() ? "present" : "absent");
  };
  EXPECT_EXIT((run_with("before_commit=error"), std::exit(0)), testing::ExitedWithCode(0), "W6007 absent");
  EXPECT_EXIT((run_with("after_commit=error"), std::exit(0)), testing::ExitedWithCode(0), "committed present");
}

TEST(CommittingBlindly, ALakeThatCannotBeAskedSaysThatTheOutcomeIsUnknown) {
  TestLake lake;
  auto connection = lake.connect();
  auto other = lake.connect();
  auto transaction = duck::Transaction::begin(connection);
  const auto base = lake.main().base_version(connection);
  ASSERT_TRUE(base.has_value());
  ASSERT_TRUE(connection.execute(Sql("CREATE TABLE {} AS SELECT 1 AS a", lake.main().writable("main", "t"))));
  ASSERT_TRUE(other.execute(Sql("DETACH {}", duck::Identifier(lake.main().reader()))));
  const auto version = commit(connection, lake.main(), std::move(*transaction), record("T1"), "me", "it", *base);
  ASSERT_FALSE(version.has_value());
  EXPECT_EQ(version.error().front().code, Code::W6008);
}

}  // namespace
}  // namespace weir::lake
