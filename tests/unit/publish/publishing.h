// A lake of its own for each test, stages made by hand, and one step published the way a run does it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "lake/lakes.h"
#include "publish/strategy.h"

namespace weir::publish {

class Publishing : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string form = (std::filesystem::temp_directory_path() / "weir-publish-XXXXXX").string();
    ASSERT_NE(mkdtemp(form.data()), nullptr);
    folder_ = form;
    Config config;
    config.root = folder_;
    LakeConfig lake;
    lake.name = "main";
    lake.catalog = {DatabaseLocation::Kind::Sqlite, folder_ + "/lake.sqlite", "sqlite:lake.sqlite"};
    lake.data = folder_ + "/data";
    std::filesystem::create_directories(lake.data);
    config.lakes.push_back(lake);
    auto opened = lake::Lakes::open(config, {WEIR_EXTENSION_FOLDER, true});
    ASSERT_TRUE(opened.has_value()) << opened.error().front().message;
    lakes_ = std::move(*opened);
    clean_ = std::make_unique<duck::Connection>(std::move(*lakes_->connect()));
    writer_ = std::make_unique<duck::Connection>(std::move(*lakes_->connect()));
    run("CREATE SCHEMA oracle");
    model.target = Asset{AssetKind::Lake, "main", "main", "t"};
    model.relation = *model.target;
    model.plane = Plane::Managed;
    model.path = "t";
  }
  /// The model computes this query, all that its file holds.
  void computes(const std::string& query) {
    model.source = std::make_shared<Source>(Source{.path = "models/t.sql", .text = query, .hash = {}});
    parse::Statement statement;
    statement.kind = parse::StatementKind::Result;
    statement.span = statement.query = {0, static_cast<std::uint32_t>(query.size())};
    model.script.statements = {statement};
  }
  void TearDown() override {
    clean_.reset();
    writer_.reset();
    lakes_.reset();
    std::filesystem::remove_all(folder_);
  }

  duck::Connection& clean() { return *clean_; }
  const lake::Lake& lake() const { return lakes_->lake("main"); }

  duck::Rows ask(const duck::Sql& sql) {
    auto rows = clean_->query(sql);
    EXPECT_TRUE(rows.has_value()) << rows.error().message << "\n" << sql.text();
    if (!rows) throw std::runtime_error("the statement of the test failed");
    return std::move(*rows);
  }
  /// SQL of the test's own.
  duck::Rows ask(const std::string& sql) { return ask(duck::Sql::verbatim(sql)); }
  void run(const std::string& sql) { ask(sql); }
  std::int64_t number(const std::string& sql) { return ask(sql).integer(0, 0); }
  std::string text(const std::string& sql) { return ask(sql).text(0, 0); }
  std::string table() const {
    return duck::Sql("{}", lake().readable(model.target->schema, model.target->name)).text();
  }
  std::string target() const {
    return duck::Sql("{}", lake().writable(model.target->schema, model.target->name)).text();
  }

  void partitioned() { model.partitioning = calendar::Partitioning{}; }

  /// A stage in memory with the rows of `select`.
  build::Stage stage(const std::string& select, const std::string& partition = {}) {
    build::Stage made;
    made.table = {std::string(lake::kStageDatabase), "main", "stage" + std::to_string(++stages_)};
    made.relation = duck::Sql("{}", made.table);
    made.partition = partition;
    const duck::Sql rows = partition.empty() ? duck::Sql("SELECT * FROM ({})", duck::Sql::verbatim(select))
                                             : duck::Sql("SELECT *, {} AS _wm_partition FROM ({})",
                                                         duck::Literal(partition), duck::Sql::verbatim(select));
    ask(duck::Sql("CREATE OR REPLACE TABLE {} AS {}", made.table, rows));
    auto columns = clean_->describe(duck::Sql("SELECT * FROM {}", made.table));
    for (const duck::Column& column : *columns) {
      if (!partition.empty() && column.name == lake::kPartitionColumn) continue;
      made.columns.push_back({.name = column.name, .type = column.type});
      made.content.columns[column.name].nulls =
          ask(duck::Sql("SELECT count(*) FROM {} WHERE {} IS NULL", made.relation, duck::Identifier(column.name)))
              .integer(0, 0);
    }
    made.content.rows = ask(duck::Sql("SELECT count(*) FROM {}", made.relation)).integer(0, 0);
    return made;
  }

  PrepareRequest request_for(const build::Stage& stage) {
    PrepareRequest request{.model = model,
                           .stage = stage,
                           .lake = lake(),
                           .target = {},
                           .recorded = {},
                           .prefix = "step" + std::to_string(stages_)};
    request.effective_micros = clock;
    request.rebuild = rebuild;
    request.recorded = recorded;
    request.always_commit = always_commit;
    return request;
  }

  /// Observes in a transaction of its own and prepares in another, as a run does.
  Result<Effect> prepared(PrepareRequest& request) {
    auto transaction = duck::Transaction::begin(*clean_);
    EXPECT_TRUE(transaction.has_value());
    WEIR_TRY(const std::int64_t version, lake().current_version(*clean_));
    WEIR_TRY(auto states, lake().observe(*clean_, {*model.target}, version));
    EXPECT_TRUE(transaction->commit().has_value());
    request.target = states.at(model.target->key());
    return prepare(*clean_, request);
  }

  /// Publishes the rows of `select` and checks that images, counts and the table agree. Returns the effect or nothing
  /// after an error, which `failure` then holds.
  std::optional<Effect> publish(const std::string& select, const std::string& partition = {}) {
    return publish(stage(select, partition));
  }
  std::optional<Effect> publish(const build::Stage& staged) {
    failure.clear();
    PrepareRequest request = request_for(staged);
    auto effect = prepared(request);
    if (!effect) {
      failure = std::move(effect).error();
      return std::nullopt;
    }
    run("CREATE OR REPLACE TABLE oracle.table_image AS SELECT * FROM " + effect->table_image.text());
    run("CREATE OR REPLACE TABLE oracle.slice_image AS SELECT * FROM " + effect->slice_image.text());
    const std::int64_t before = version();
    if (effect->changes) commit(request, *effect);
    EXPECT_EQ(version(), before + (effect->changes ? 1 : 0));
    if (compares_images) same_rows("oracle.table_image", table());
    EXPECT_EQ(effect->rows, number("SELECT count(*) FROM oracle.slice_image"));
    check_columns(*effect);
    discard(*clean_, *effect);
    return std::move(*effect);
  }
  void commit(const PrepareRequest& request, const Effect& effect) {
    auto transaction = duck::Transaction::begin(*writer_);
    ASSERT_TRUE(transaction.has_value());
    CommitGroup group{.alone = alone};
    auto written = write(*writer_, request, effect, group);
    ASSERT_TRUE(written.has_value()) << written.error().front().message;
    auto done = transaction->commit();
    ASSERT_TRUE(done.has_value()) << done.error().message;
  }
  void check_columns(const Effect& effect) {
    const auto held = clean_->describe(duck::Sql::verbatim("SELECT * FROM " + table()));
    ASSERT_TRUE(held.has_value());
    ASSERT_EQ(held->size(), effect.columns.size());
    for (std::size_t i = 0; i < held->size(); ++i) {
      EXPECT_EQ((*held)[i].name, effect.columns[i].name);
      EXPECT_EQ((*held)[i].type, effect.columns[i].type);
    }
  }

  /// Equal as multisets, by name, and to the spelling of every value.
  void same_rows(const std::string& a, const std::string& b) {
    const auto spelled = [](const std::string& relation) {
      return "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM " + relation;
    };
    const auto columns = clean_->describe(duck::Sql::verbatim("SELECT * FROM " + a));
    ASSERT_TRUE(columns.has_value());
    std::vector<std::string> names;
    for (const auto& column : *columns) names.push_back(column.name);
    const std::string list = duck::Sql::names(names).text();
    const auto ordered = [&](const std::string& relation) {
      return "SELECT " + list + " FROM (" + spelled(relation) + ")";
    };
    EXPECT_EQ(number("SELECT count(*) FROM (" + ordered(a) + " EXCEPT ALL " + ordered(b) + ")"), 0)
        << a << " has rows that " << b << " lacks: " << sample("(" + ordered(a) + " EXCEPT ALL " + ordered(b) + ")");
    EXPECT_EQ(number("SELECT count(*) FROM (" + ordered(b) + " EXCEPT ALL " + ordered(a) + ")"), 0)
        << b << " has rows that " << a << " lacks: " << sample("(" + ordered(b) + " EXCEPT ALL " + ordered(a) + ")");
  }
  lake::TableState state() {
    auto states = lake().observe(*clean_, {*model.target}, version());
    return states ? states->at(model.target->key()) : lake::TableState{};
  }
  std::string sample(const std::string& relation) {
    return text("SELECT coalesce(string_agg(CAST(r AS VARCHAR), '\n'), '') FROM (SELECT r FROM " + relation +
                " AS r LIMIT 3)");
  }
  std::int64_t version() { return *lake().current_version(*clean_); }
  bool failed_with(Code code) const { return !failure.empty() && failure.front().code == code; }

  Model model;
  std::int64_t clock = 1'000'000;
  bool alone = true;
  bool rebuild = false;
  bool always_commit = false;
  /// False where the lake keeps another spelling of equal values than the image.
  bool compares_images = true;
  std::optional<build::Content> recorded;
  Diagnostics failure;

 private:
  std::string folder_;
  std::unique_ptr<lake::Lakes> lakes_;
  std::unique_ptr<duck::Connection> clean_;
  std::unique_ptr<duck::Connection> writer_;
  int stages_ = 0;
};

}  // namespace weir::publish
