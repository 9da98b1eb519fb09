// A target in a database of its own kind for each test, stages made by hand, one delivery the way a run makes it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "deliver/deliver.h"
#include "support/test_lake.h"

namespace weir::deliver {

using Kind = DatabaseLocation::Kind;

/// What all tests of the program share, since opening it takes longer than a delivery: one lake, and a database of each
/// kind, emptied before each test.
class World : public ::testing::Environment {
 public:
  void SetUp() override {
    lake_.emplace();
    config_ = lake_->config();
    config_.databases["duckdb"] = {Kind::DuckDb, lake_->path("crm.duckdb"), "duckdb"};
    config_.databases["sqlite"] = {Kind::Sqlite, lake_->path("crm.db"), "sqlite"};
    std::set<std::string> outlets{"duckdb", "sqlite"};
    server_ = test::TemporaryDatabase::make();
    if (server_ != nullptr) {
      config_.databases["postgres"] = {Kind::Postgres, server_->target() + " options='-c lock_timeout=300ms'",
                                       "postgres"};
      outlets.insert("postgres");
    }
    auto opened =
        lake::Lakes::open(config_, {.extension_folder = WEIR_EXTENSION_FOLDER, .write = true, .outlets = outlets});
    ASSERT_TRUE(opened.has_value()) << test::messages(opened.error());
    lakes_ = std::move(*opened);
  }
  void TearDown() override {
    lakes_.reset();
    lake_.reset();
    server_.reset();
  }
  lake::Lakes& lakes() { return *lakes_; }
  const test::TemporaryDatabase* server() const { return server_.get(); }

 private:
  std::optional<test::TestLake> lake_;
  Config config_;
  std::unique_ptr<test::TemporaryDatabase> server_;
  std::unique_ptr<lake::Lakes> lakes_;
};

inline World& world = *static_cast<World*>(::testing::AddGlobalTestEnvironment(new World));

inline std::string name_of_kind(const ::testing::TestParamInfo<Kind>& info) {
  switch (info.param) {
    case Kind::Postgres:
      return "postgres";
    case Kind::Sqlite:
      return "sqlite";
    case Kind::DuckDb:
      break;
  }
  return "duckdb";
}

class Delivering : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (GetParam() == Kind::Postgres && !test::TestLake::has_postgres()) GTEST_SKIP() << "no server";
    clean_.emplace(std::move(*lakes().connect()));
    auto outlet = lakes().outlet(name_of_kind({GetParam(), 0}));
    ASSERT_TRUE(outlet.has_value()) << test::messages(outlet.error());
    outlet_ = *outlet;
    schema_ = GetParam() == Kind::Postgres ? "public" : "main";
    make_empty();
    model.plane = Plane::Table;
    model.path = "scores";
    model.key = {"id"};
    model.duplicates = Duplicates::Fail;
    into("scores");
  }

  static lake::Lakes& lakes() { return world.lakes(); }
  const std::string& server() const { return world.server()->target(); }

  void make_empty() {
    if (GetParam() == Kind::Postgres) return on_server("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    const duck::Rows tables = ask(
        duck::Sql("SELECT table_name FROM duckdb_tables() WHERE database_name = {}", duck::Literal(outlet_.attachment))
            .text());
    for (std::size_t i = 0; i < tables.size(); ++i) ask("DROP TABLE " + name_of(tables.text(i, 0)));
  }

  void into(const std::string& table) {
    model.target = Asset{AssetKind::Datatable, name_of_kind({GetParam(), 0}), schema_, table};
  }
  /// The name of a table of the target's database.
  std::string name_of(const std::string& table) const { return duck::Sql("{}", outlet_.table(schema_, table)).text(); }
  std::string table() const { return name_of(model.target->name); }

  duck::Rows ask(const std::string& sql) {
    auto rows = clean_->query(duck::Sql::verbatim(sql));
    EXPECT_TRUE(rows.has_value()) << rows.error().message << "\n" << sql;
    if (!rows) throw std::runtime_error("the statement of the test failed");
    return std::move(*rows);
  }
  /// Columns joined by '|', rows by ' '.
  std::string values(const std::string& sql) {
    const duck::Rows rows = ask("SELECT COLUMNS(*)::VARCHAR FROM (" + sql + ")");
    std::string text;
    for (std::size_t row = 0; row < rows.size(); ++row)
      for (std::size_t column = 0; column < rows.columns().size(); ++column)
        text += (column > 0 ? "|" : row > 0 ? " " : "") + rows.maybe_text(row, column).value_or("NULL");
    return text;
  }
  std::string held(const std::string& order = "ALL") {
    return values("SELECT * FROM " + table() + " ORDER BY " + order);
  }
  /// Statements of PostgreSQL's own.
  void on_server(const std::string& sql) {
    ask(duck::Sql("CALL postgres_execute({}, {})", duck::Literal(outlet_.attachment), duck::Literal(sql)).text());
    ask("CALL pg_clear_cache()");
  }

  build::Stage stage(const std::string& select) {
    build::Stage made;
    made.table = {std::string(lake::kStageDatabase), "main", "stage" + std::to_string(++stages_)};
    made.relation = duck::Sql("{}", made.table);
    ask(duck::Sql("CREATE OR REPLACE TABLE {} AS {}", made.table, duck::Sql::verbatim(select)).text());
    const auto columns = clean_->describe(duck::Sql("FROM {}", made.table));
    for (const duck::Column& column : *columns) {
      made.columns.push_back({.name = column.name, .type = column.type});
      made.content.columns[column.name].nulls = 0;
    }
    made.windows = windows;
    made.content.rows = ask(duck::Sql("SELECT count(*) FROM {}", made.table).text()).integer(0, 0);
    return made;
  }

  /// Delivers the rows of `select`, and checks that the after-image that the audit saw is what the table holds then.
  std::optional<publish::Effect> deliver(const std::string& select) {
    failure.clear();
    const auto target = Target::of(outlet_, model, true);
    auto before = target->observe(*clean_);
    if (!before) return failed(std::move(before).error());
    const build::Stage staged = stage(select);
    publish::PrepareRequest prepare{.model = model, .stage = staged, .lake = lakes().lake("main"), .target = *before};
    prepare.effective_micros = clock;
    prepare.prefix = "step" + std::to_string(stages_);
    prepare.attached = target->table();
    const DeliveryRequest request{
        .prepare = prepare,
        .audit = [&](const publish::Effect& effect) -> Result<void> {
          ask("CREATE OR REPLACE TABLE _weir_stage.main.image AS SELECT * FROM " + effect.table_image.text());
          if (during) during();
          if (refuses) return fail(Diagnostic{.code = Code::W5001, .message = "refused"});
          return {};
        },
        .check_fence = []() -> Result<void> { return {}; },
        .note =
            [&](const publish::Effect&) {
              return DeliveryRow{"t" + std::to_string(++tokens_), "scores", "r", "prod", std::to_string(tokens_), "{}"};
            }};
    auto writer = lakes().connect();
    auto effect = deliver::deliver(*clean_, *writer, *target, request);
    if (!effect) return failed(std::move(effect).error());
    const std::string known = "SELECT * " + (filled.empty() ? "" : "EXCLUDE (" + filled + ") ") + "FROM ";
    EXPECT_EQ(values(known + "_weir_stage.main.image ORDER BY ALL"), values(known + table() + " ORDER BY ALL"));
    const bool counts_all = model.strategy != Strategy::History && model.strategy != Strategy::Append &&
                            model.strategy != Strategy::IncrementalByTime;
    if (counts_all) {
      EXPECT_EQ(effect->rows, ask("SELECT count(*) FROM " + table()).integer(0, 0));
    }
    publish::discard(*clean_, *effect);
    return std::move(*effect);
  }

  /// Why the last delivery failed.
  std::string message() const { return test::messages(failure); }
  std::optional<Code> code() const { return failure.empty() ? std::nullopt : std::optional(failure.front().code); }
  std::nullopt_t failed(Diagnostics problems) {
    failure = std::move(problems);
    return std::nullopt;
  }

  Model model;
  std::int64_t clock = 1'700'000'000'000'000;
  bool refuses = false;
  /// Of the slice, for a model written by windows.
  std::string windows;
  /// A column that the database fills in itself: the image has no value for it.
  std::string filled;
  /// Happens between the comparison and the first write.
  std::function<void()> during;
  Diagnostics failure;

 protected:
  std::optional<duck::Connection> clean_;
  lake::Outlet outlet_;
  std::string schema_;
  int stages_ = 0;
  int tokens_ = 0;
};

}  // namespace weir::deliver
